"""The words of Chat Completions: why the model stopped, and the kinds of error."""

from __future__ import annotations

from typing import Final

from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.wire.turn import Stop

HEADER: Final = "authorization"
"""A header by which the clients of this format are known."""

ECHOED: Final[tuple[str, ...]] = ("/stream_options/include_usage",)
"""Where a request says, beside the model's name, what its answers look like."""

NAME: Final = "openai-chat"

FINISH_REASONS: Final[dict[Stop, str | None]] = {
    "end": "stop",
    "tool-use": "tool_calls",
    "length": "length",
    "stop-sequence": "stop",
    "context": "length",
    "pause": "stop",
    "refusal": "content_filter",
    "malformed-call": "tool_calls",
    "absent": None,
}

ERRORS: Final[dict[int, tuple[str, str | None]]] = {
    4: ("invalid_request_error", None),
    5: ("server_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("insufficient_permissions", None),
    429: ("requests", "rate_limit_exceeded"),
}
"""Error type and code by status; 4 and 5 stand for the other statuses of their hundred."""


def error_body(status: int, message: str) -> JSONObject:
    """Return the error body that goes with a status: all of OpenAI's formats have the same."""
    kind, code = ERRORS.get(status) or ERRORS[status // 100]
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
