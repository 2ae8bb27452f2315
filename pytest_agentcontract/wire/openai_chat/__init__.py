"""OpenAI Chat Completions: one message both ways, chunks without names, arguments that are text."""

from pytest_agentcontract.wire.openai_chat.answers import encode_error, encode_failure, encode_stream, encode_whole
from pytest_agentcontract.wire.openai_chat.endpoints import owns, side_answer
from pytest_agentcontract.wire.openai_chat.reading import decode_stream, decode_whole
from pytest_agentcontract.wire.openai_chat.requests import decode_request
from pytest_agentcontract.wire.openai_chat.words import ECHOED, HEADER, NAME

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
