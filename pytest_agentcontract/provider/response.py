"""From an answer to what happens on the connection: a tuple of steps, known whole before the first byte is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.provider.http import head
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.wire.faults import CutFault, Ending, StatusFault
from pytest_agentcontract.wire.formats import WireFormat
from pytest_agentcontract.wire.sse import Event
from pytest_agentcontract.wire.turn import Turn


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks off here."""

    ending: Ending


Step: TypeAlias = bytes | Hold | Cut
"""Bytes to write, a gate to wait at, or the end of the connection."""

FINAL: Mapping[str, str] = {"x-should-retry": "false"}
"""What tells the providers' own clients that asking again is of no use."""


def document(status: int, body: JSON, headers: Mapping[str, str] | None = None, *, bodiless: bool = False) -> bytes:
    """Render a whole response with a JSON body, or with its headers alone (HEAD)."""
    content = dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
    return head(status, lines) + (b"" if bodiless else content)


def steps(answer: Answer, wire: WireFormat, *, chunked: bool = True) -> tuple[Step, ...]:
    """Plan the response to one model request. Not `chunked` (HTTP/1.0), a stream ends with the connection."""
    if answer.turn is None:
        scripted = answer.fault.headers if isinstance(answer.fault, StatusFault) else FINAL
        named = _named(answer) | dict(scripted)
        return (document(answer.status, wire.encode_error(answer.status, answer.message), named),)
    if answer.exchange.request.stream:
        return _streamed(answer, answer.turn, wire, chunked=chunked)
    return _whole(answer, answer.turn, wire)


def _whole(answer: Answer, turn: Turn, wire: WireFormat) -> tuple[Step, ...]:
    body = wire.encode_whole(turn, answer.exchange.request, answer.exchange.serial)
    data = document(200, body, _named(answer))
    if isinstance(answer.fault, CutFault):
        half = data[: -(len(dumps(body).encode()) // 2)]
        return (half, Cut(answer.fault.ending)) if answer.fault.after_deltas else (Cut(answer.fault.ending),)
    if answer.hold is None:
        return (data,)
    return (answer.hold, Cut("fin") if _endless(answer.hold) else data)


def _streamed(answer: Answer, turn: Turn, wire: WireFormat, *, chunked: bool) -> tuple[Step, ...]:
    framing = {"transfer-encoding": "chunked"} if chunked else {"connection": "close"}
    lines = {"content-type": "text/event-stream", "cache-control": "no-cache", **framing, **_named(answer)}
    opening, last = head(200, lines), b"0\r\n\r\n" if chunked else b""
    events = wire.encode_stream(turn, answer.exchange.request, answer.exchange.serial)
    if isinstance(answer.fault, CutFault):
        sent = opening + _framed(events[: _after(events, answer.fault.after_deltas)], chunked=chunked)
        return (sent, Cut(answer.fault.ending)) if answer.fault.after_deltas else (Cut(answer.fault.ending),)
    if answer.hold is None:
        return (opening + _framed(events, chunked=chunked) + last,)
    at = _after(events, answer.hold.after_deltas)
    rest = _framed(events[at:], chunked=chunked) + last
    return opening + _framed(events[:at], chunked=chunked), answer.hold, Cut("fin") if _endless(answer.hold) else rest


def _endless(hold: Hold) -> bool:
    """Tell whether an answer is held until the run is over: then there is nobody left to hear the rest."""
    return hold.until == "end"


def _after(events: tuple[Event, ...], deltas: int) -> int:
    """Return how many events are sent with the first `deltas` deltas; with none, all that stands before the first."""
    places = [at for at, event in enumerate(events) if event.delta]
    if not places:
        return 1
    return places[min(deltas, len(places)) - 1] + 1 if deltas else places[0]


def _framed(events: Iterable[Event], *, chunked: bool) -> bytes:
    if not chunked:
        return b"".join(event.data for event in events)
    return b"".join(b"%x\r\n%b\r\n" % (len(event.data), event.data) for event in events)


def _named(answer: Answer) -> dict[str, str]:
    name = f"req_{answer.exchange.serial}"
    return {"request-id": name, "x-request-id": name}
