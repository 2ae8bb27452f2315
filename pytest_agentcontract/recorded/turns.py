"""A recorded answer -> a turn of a script: what was said, what it cost, how slowly it came, and what struck it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.recorded.played import deltas, played
from pytest_agentcontract.recorded.reading import Reading
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.scenario.load_script import script_of
from pytest_agentcontract.scenario.nearest import uncallable
from pytest_agentcontract.wire.faults import (
    ContentTypeFault,
    CutFault,
    ErrorFault,
    MalformedFault,
    SilenceFault,
    StatusFault,
)
from pytest_agentcontract.wire.turn import Call, Turn

_LONGEST_PACE = 3599.0
_SHORTEST_PACE = 0.001


def entry_of(turn: JSONObject) -> ScriptedTurn:
    """Read a turn as it stands in a script."""
    return script_of({"": [turn]})[""][0]


def content(turn: Turn | None) -> str:
    """Return all that a turn says, one text after the other."""
    if turn is None:
        return ""
    return "".join((turn.thinking or "", turn.prose or "", *(call.name + call.arguments_text for call in turn.calls)))


def said(reading: Reading, *, ended: bool = True) -> JSONObject:
    """Return the keys of what an answer said; where it has not `ended`, it says no reason to stop."""
    turn = reading.turn or Turn()
    texts = {"thinking": turn.thinking, "text": turn.text, "refusal": turn.refusal}
    told: JSONObject = {key: text for key, text in texts.items() if text is not None}
    if turn.calls:
        told["calls"] = [_call(call, reading) for call in turn.calls]
    if ended and turn.stop not in (None, replace(turn, stop=None).natural_stop):
        told["stop"] = turn.stop
    usual = played(entry_of(told), reading).turn
    if usual is None or (usual.usage != turn.usage and ended):
        told["usage"] = usage(turn)
    return told


def usage(turn: Turn) -> JSONObject:
    """Return what a turn cost, without figures that are 0."""
    figures = {figure.name: getattr(turn.usage, figure.name) for figure in fields(turn.usage)}
    return {name: figure for name, figure in figures.items() if figure}


def _call(call: Call, reading: Reading) -> JSONObject:
    asked: JSONObject = {"tool": call.name, **({"id": call.id} if call.id else {})}
    if call.raw_arguments is not None or not isinstance(call.arguments, dict):
        asked["raw_arguments"] = call.arguments_text
    elif call.arguments:
        asked["arguments"] = call.arguments
    return asked | ({"unadvertised": True} if uncallable([call.name], reading.asked) else {})


def pace(reading: Reading) -> JSONObject:
    """Return how slowly an answer came, as a key of its turn: before its first piece, and on average between events."""
    gaps = [piece.gap for piece in reading.recorded.pieces]
    events = reading.recorded.body.count(b"data:")
    told = {"first": sum(gaps[:1]), "between": sum(gaps[1:]) / (events - 1) if events > 1 else 0.0}
    slow: JSONObject = {
        key: round(min(seconds, _LONGEST_PACE), 3) for key, seconds in told.items() if seconds >= _SHORTEST_PACE
    }
    return {"pace": slow} if slow else {}


# -- what struck it ---------------------------------------------------------------------------------------------------


def struck(turn: JSONObject, reading: Reading) -> JSONObject:
    """Return a turn that is struck as a recorded answer was, at the place where most nearly as much of it is said."""
    places = (turn | {"fault": fault} for fault in _faults(turn, reading))
    return min(places, key=lambda placed: _distance(placed, reading))


def _faults(turn: JSONObject, reading: Reading) -> Iterator[JSONObject]:
    """Yield a fault at every place where it may strike."""
    word = _WORDS[type(reading.fault)]
    begun = reading.recorded.status != 0 and not isinstance(reading.fault, StatusFault | ContentTypeFault)
    for place in range(deltas(entry_of(turn), reading) + 1 if begun else 1):
        yield word(reading.fault, place)
    if isinstance(reading.fault, CutFault) and begun:  # without anything said the head comes with a piece of an event
        yield word(replace(reading.fault, inside="event"), 0)


def _distance(turn: JSONObject, reading: Reading) -> tuple[int, bool]:
    """Measure by how much more or less is said, and then whether the head of the answer came as it had come."""
    back = played(entry_of(turn), reading)
    heard, wanted = content(back.turn), content(reading.turn)
    apart = 0 if heard == wanted else abs(len(heard) - len(wanted)) + 1
    return apart, bool(back.recorded.status) != bool(reading.recorded.status)


def _status(fault: StatusFault, _place: int) -> JSONObject:
    headers: JSONObject = {**fault.headers}
    told: JSONObject = {"headers": headers} if headers else {}
    return {"status": fault.status, **told, **_message(fault.message)}


def _cut(fault: CutFault, place: int) -> JSONObject:
    inside: JSONObject = {"inside": fault.inside} if fault.inside else {}
    return {"cut_after_deltas": place, "with": fault.ending, **inside}


def _error(fault: ErrorFault, place: int) -> JSONObject:
    return {"error_after_deltas": place, "error_status": fault.status, **_message(fault.message)}


def _message(text: str) -> JSONObject:
    return {"message": text} if text else {}


_WORDS: Final[Mapping[type, Callable[[Any, int], JSONObject]]] = {
    StatusFault: _status,
    CutFault: _cut,
    ErrorFault: _error,
    MalformedFault: lambda _, place: {"malformed_after_deltas": place},
    SilenceFault: lambda _, place: {"silent_after_deltas": place},
    ContentTypeFault: lambda fault, _: {"content_type": fault.content_type},
}
"""A fault as a script writes it, struck after so many pieces of content."""
