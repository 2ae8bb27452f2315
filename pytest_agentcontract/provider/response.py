"""From an answer to its response: a tuple of steps, known whole before the first byte is written."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_agentcontract.provider.body import Body, rendered
from pytest_agentcontract.provider.faulted import struck
from pytest_agentcontract.provider.plan import FINAL, Cut, Step, document, merged, paced
from pytest_agentcontract.provider.rendering import Renderings
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.wire.faults import UNPACED, Pace, StatusFault
from pytest_agentcontract.wire.formats import WireFormat


def steps(answer: Answer, wire: WireFormat, renderings: Renderings, *, chunked: bool = True) -> tuple[Step, ...]:
    """Plan the response to one model request. Not `chunked` (HTTP/1.0), a stream ends with the connection."""
    if answer.turn is None:
        return (_error(answer, wire),)
    if answer.fault is None and answer.hold is None and answer.pace == UNPACED:
        return (renderings.whole(answer, answer.turn, wire, chunked=chunked),)
    body = rendered(answer.turn, answer.exchange.request, wire, answer.exchange.serial, chunked=chunked)
    return tuple(merged(_with_trouble(answer, body, wire)))


def _with_trouble(answer: Answer, body: Body, wire: WireFormat) -> Iterator[Step]:
    if answer.fault is not None:
        yield from struck(answer.fault, body, wire, answer.pace)
    elif answer.hold is not None:
        yield from _held(answer.hold, body, answer.pace)
    else:
        yield from paced(body, body.parts, answer.pace, opened=True)
        yield body.ending


def _error(answer: Answer, wire: WireFormat) -> bytes:
    scripted = answer.fault.headers if isinstance(answer.fault, StatusFault) else FINAL
    name = f"req_{answer.exchange.serial:08d}"
    body = wire.encode_error(answer.status, answer.message)
    return document(answer.status, body, {"request-id": name, "x-request-id": name} | dict(scripted))


def _held(hold: Hold, body: Body, pace: Pace) -> Iterator[Step]:
    """Stand at the gate after its deltas: a document that is sent whole waits as a whole.

    Where an answer is held until the run is over, there is nobody left to hear the rest.
    """
    at = body.after(hold.after_deltas) if body.streamed else 0
    if at:
        yield from paced(body, body.parts[:at], pace, opened=True)
    yield hold
    if hold.until == "end":
        yield Cut("fin")
        return
    yield from paced(body, body.parts[at:], pace, opened=not at)
    yield body.ending
