"""The words of Anthropic Messages: why the model stopped, and the kinds of error."""

from __future__ import annotations

from typing import Final

from pytest_agentcontract.wire.turn import Stop

HEADER: Final = "anthropic-version"
"""A header by which the clients of this format are known."""

ECHOED: Final[tuple[str, ...]] = ()
"""Where a request says, beside the model's name, what its answers look like."""

NAME: Final = "anthropic-messages"

STOP_REASONS: Final[dict[Stop, str | None]] = {
    "end": "end_turn",
    "tool-use": "tool_use",
    "length": "max_tokens",
    "stop-sequence": "stop_sequence",
    "context": "model_context_window_exceeded",
    "pause": "pause_turn",
    "refusal": "refusal",
    "malformed-call": "tool_use",
    "absent": None,
}

ERROR_TYPES: Final[dict[int, str]] = {
    4: "invalid_request_error",
    5: "api_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The error type by status; 4 and 5 stand for the other statuses of their hundred."""


def error_type(status: int) -> str:
    """Return the type of the error body that goes with a status."""
    return ERROR_TYPES.get(status) or ERROR_TYPES[status // 100]
