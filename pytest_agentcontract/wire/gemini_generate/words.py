"""The words of generateContent: why the model stopped, the kinds of error, and both spellings of a name."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.turn import Stop

HEADER: Final = "x-goog-api-key"
"""A header by which the clients of this format are known."""

ECHOED: Final[tuple[str, ...]] = ()
"""Where a request says, beside the model's name, what its answers look like."""

NAME: Final = "gemini-generate"

FINISH_REASONS: Final[dict[Stop, str | None]] = {
    "end": "STOP",
    "tool-use": "STOP",
    "length": "MAX_TOKENS",
    "stop-sequence": "STOP",
    "context": "MAX_TOKENS",
    "pause": "TOO_MANY_TOOL_CALLS",
    "refusal": "SAFETY",
    "malformed-call": "MALFORMED_FUNCTION_CALL",
    "absent": None,
}

READ_ALONE: Final[dict[str, Stop]] = {
    "RECITATION": "refusal",
    "LANGUAGE": "refusal",
    "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "SPII": "refusal",
    "MODEL_ARMOR": "refusal",
    "UNEXPECTED_TOOL_CALL": "malformed-call",
    "FINISH_REASON_UNSPECIFIED": "absent",
}
"""Labels that providers send and we never do."""

STATUSES: Final[dict[int, str]] = {
    4: "INVALID_ARGUMENT",
    5: "INTERNAL",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""The name of an error by its HTTP status; 4 and 5 stand for the other statuses of their hundred."""


def error_body(status: int, message: str) -> JSON:
    """Return the error body that goes with a status."""
    name = STATUSES.get(status) or STATUSES[status // 100]
    return {"error": {"code": status, "message": message, "status": name}}


def either(node: Node, name: str) -> Node:
    """Return the member of this name: all of them may also be spelled with underscores."""
    found = node[name]
    other = node[_underscored(name)] if found.absent else found
    return found if other.absent else other


def many(node: Node, *, optional: bool = True) -> tuple[Node, ...]:
    """Return the elements of an array; the API takes a lone object for an array of one."""
    if isinstance(node.value, dict):
        return (node,)
    return node.optional_items() if optional else node.items()


@cache
def _underscored(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
