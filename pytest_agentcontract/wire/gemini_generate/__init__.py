"""Gemini generateContent: parts both ways, chunks that are responses, arguments that are an object."""

from pytest_agentcontract.wire.gemini_generate.answers import encode_error, encode_failure, encode_stream, encode_whole
from pytest_agentcontract.wire.gemini_generate.endpoints import owns, side_answer
from pytest_agentcontract.wire.gemini_generate.reading import decode_stream, decode_whole
from pytest_agentcontract.wire.gemini_generate.requests import decode_request
from pytest_agentcontract.wire.gemini_generate.words import ECHOED, HEADER, NAME

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
