"""OpenAI Responses: items both ways, numbered events, everything told in pieces and once more whole."""

from pytest_agentcontract.wire.openai_chat.answers import encode_error
from pytest_agentcontract.wire.openai_responses.answers import encode_failure, encode_stream, encode_whole
from pytest_agentcontract.wire.openai_responses.endpoints import owns, side_answer
from pytest_agentcontract.wire.openai_responses.reading import decode_stream, decode_whole
from pytest_agentcontract.wire.openai_responses.requests import decode_request
from pytest_agentcontract.wire.openai_responses.words import ECHOED, HEADER, NAME

__all__ = [
    "ECHOED",
    "HEADER",
    "NAME",
    "decode_request",
    "decode_stream",
    "decode_whole",
    "encode_error",
    "encode_failure",
    "encode_stream",
    "encode_whole",
    "owns",
    "side_answer",
]
