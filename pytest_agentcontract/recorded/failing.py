"""What a provider reports in the place of an answer: its words, and the fault that has them."""

from __future__ import annotations

from pytest_agentcontract.jsonvalue import JSON, as_object, as_text, equal, loads
from pytest_agentcontract.wire.faults import ErrorFault
from pytest_agentcontract.wire.formats import WireFormat
from pytest_agentcontract.wire.sse import Reader

_OVERLOADED = 529


def message_of(body: JSON) -> str:
    """Return the words of an error, wherever a provider puts them."""
    response = as_object(as_object(body).get("response"))
    for holder in (as_object(body), response):
        error = holder.get("error")
        if words := as_text(error) or as_text(as_object(error).get("message")) or as_text(holder.get("message")):
            return words
    return ""


def reports(body: JSON) -> bool:
    """Tell whether a document, or the body of an event, reports an error."""
    told = as_object(body)
    return told.get("type") in ("error", "response.failed") or told.get("error") is not None


def error_of(wire: WireFormat, body: JSON, *, streamed: bool) -> ErrorFault:
    """Return the fault that reports this error: under the status whose words it has, else as an overload."""
    message = message_of(body)
    statuses = (_OVERLOADED, *range(400, 600))
    worded = (status for status in statuses if equal(_told_as(wire, status, message, body, streamed=streamed), body))
    return ErrorFault(0, next(worded, _OVERLOADED), message)


def _told_as(wire: WireFormat, status: int, message: str, body: JSON, *, streamed: bool) -> JSON:
    """Return the error body that the scripted provider sends where `body` was recorded."""
    if not streamed:
        return wire.encode_error(status, message)
    sent = as_object(body).get("sequence_number")
    frames = Reader().feed(wire.encode_failure(status, message, sent if isinstance(sent, int) else 0).data)
    return loads(frames[0].data)
