"""Anthropic Messages: content blocks both ways, named events, thinking that is signed."""

from pytest_agentcontract.wire.anthropic_messages.answers import (
    encode_error,
    encode_failure,
    encode_stream,
    encode_whole,
)
from pytest_agentcontract.wire.anthropic_messages.endpoints import owns, side_answer
from pytest_agentcontract.wire.anthropic_messages.reading import decode_stream, decode_whole
from pytest_agentcontract.wire.anthropic_messages.requests import decode_request
from pytest_agentcontract.wire.anthropic_messages.words import ECHOED, HEADER, NAME

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
