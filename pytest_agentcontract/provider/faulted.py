"""What a scripted fault makes of a response: one function a kind of fault, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_agentcontract.provider.body import Body
from pytest_agentcontract.provider.plan import Cut, Step, document, paced
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.wire.faults import (
    ContentTypeFault,
    CutFault,
    ErrorFault,
    Fault,
    MalformedFault,
    Pace,
    SilenceFault,
)
from pytest_agentcontract.wire.formats import WireFormat
from pytest_agentcontract.wire.sse import Event

_LONG = 0xC0
"""The first byte of a UTF-8 character that takes several is at least this."""


def struck(fault: Fault, body: Body, wire: WireFormat, pace: Pace) -> Iterator[Step]:
    """Plan a response that is struck by a fault."""
    return _STRIKES[type(fault)](fault, body, wire, pace)


def _cut(fault: CutFault, body: Body, _wire: WireFormat, pace: Pace) -> Iterator[Step]:
    at = body.after(fault.after_deltas) if fault.after_deltas or fault.inside else 0
    kept = body.of(body.parts[:at] + (_piece(body.parts[at:], fault) if fault.inside else ()))
    if fault.ending == "clean":
        yield from _instead(kept, pace)
    elif kept.parts:
        yield from paced(body, kept.parts, pace, opened=True)
    yield Cut(fault.ending)


def _malformed(fault: MalformedFault, body: Body, _wire: WireFormat, pace: Pace) -> Iterator[Step]:
    if body.streamed:
        at = _delta_at(body, fault.after_deltas)
        yield from _instead(body.of((*body.parts[:at], _spoiled(body.parts[at]), *body.parts[at + 1 :])), pace)
    else:
        yield from _instead(body.of(body.parts[:1]), pace)
    yield Cut("clean")


def _error(fault: ErrorFault, body: Body, wire: WireFormat, pace: Pace) -> Iterator[Step]:
    if body.streamed:
        at = body.after(fault.after_deltas)
        yield from _instead(body.of((*body.parts[:at], wire.encode_failure(fault.status, fault.message, at))), pace)
    else:
        yield document(fault.status, wire.encode_error(fault.status, fault.message))
    yield Cut("clean")


def _silence(fault: SilenceFault, body: Body, _wire: WireFormat, pace: Pace) -> Iterator[Step]:
    if fault.after_deltas:
        yield from paced(body, body.parts[: body.after(fault.after_deltas)], pace, opened=True)
    yield Hold(fault.after_deltas, "end")
    yield Cut("fin")


def _mislabelled(fault: ContentTypeFault, body: Body, _wire: WireFormat, pace: Pace) -> Iterator[Step]:
    yield from _instead(replace(body, headers={**body.headers, "content-type": fault.content_type}), pace)
    yield Cut("clean")


def _instead(body: Body, pace: Pace) -> Iterator[Step]:
    """Send a body that HTTP finds nothing wrong with."""
    yield from paced(body, body.parts, pace, opened=True)
    yield body.ending


_STRIKES: Mapping[type, Callable[[Any, Body, WireFormat, Pace], Iterator[Step]]] = {
    CutFault: _cut,
    MalformedFault: _malformed,
    ErrorFault: _error,
    SilenceFault: _silence,
    ContentTypeFault: _mislabelled,
}


def _delta_at(body: Body, deltas: int) -> int:
    """Return the place of the delta after the first `deltas`; of the last one where there are no more."""
    places = [at for at, part in enumerate(body.parts) if part.delta] or [0]
    return places[min(deltas, len(places) - 1)]


def _piece(following: tuple[Event, ...], fault: CutFault) -> tuple[Event, ...]:
    """Return the piece of the next delta's event that is still sent, after what stands before that event."""
    at = next((at for at, part in enumerate(following) if part.delta), 0)
    data = following[at].data if following else b""
    long = next((place for place, byte in enumerate(data) if byte >= _LONG), None)
    end = long + 1 if fault.inside == "character" and long is not None else len(data) // 2
    return (*following[:at], Event(data[:end]))


def _spoiled(part: Event) -> Event:
    """Leave out the second half of an event's JSON, and keep its framing."""
    data = part.data.rstrip(b"\n")
    begin = data.index(b"data: ")
    return Event(data[: (begin + len(data)) // 2] + b"\n\n")
