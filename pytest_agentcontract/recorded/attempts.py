"""The attempts at one answer -> turns of a script, each played and compared: what does not come back is named.

The last attempt's answer is the turn, and the failure before it is that turn's fault. Failures before those are turns
of their own that are nothing but a fault, and so is the last one that nobody got over, but for what had come of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.jsonvalue import JSONObject, as_object
from pytest_agentcontract.recorded.beyond import beyond
from pytest_agentcontract.recorded.played import played
from pytest_agentcontract.recorded.reading import Reading, content_type, reported
from pytest_agentcontract.recorded.turns import content, entry_of, pace, said, struck
from pytest_agentcontract.wire.faults import ContentTypeFault, MalformedFault
from pytest_agentcontract.wire.turn import Turn

_OK, _ANSWERS = 200, range(200, 300)
_PARTS: Final = {
    "text": "its text as it was",
    "thinking": "its thinking as it was",
    "refusal": "its refusal as it was",
    "usage": "its usage as it was",
    "stop": "why it stopped",
    "signature": "what its thinking is signed with",
}
_VARYING = ("request_id", "sequence_number")


@dataclass(frozen=True, slots=True)
class Note:
    """What of an exchange a script does not say; `dropped` if that is all of it, and `what` is the reason."""

    number: int
    what: str
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """Turns as they stand in a script, and what they leave out."""

    turns: tuple[JSONObject, ...] = ()
    notes: tuple[Note, ...] = ()


def written(attempts: Sequence[Reading], *, paced: bool = False) -> Written:
    """Write the attempts at one answer as turns of a script; with a pace if that is asked for."""
    dropped = tuple(Note(reading.number, why, dropped=True) for reading in attempts if (why := _unplayable(reading)))
    playable = [reading for reading in attempts if not _unplayable(reading)]
    if not playable:
        return Written((), dropped)
    *failed, last = playable
    if last.fault is not None:
        turns = [*(struck({}, reading) for reading in failed), _given_up(last)]
    else:
        whole = said(last) | (pace(last) if paced else {})
        turns = [*(struck({}, reading) for reading in failed[:-1]), struck(whole, failed[-1]) if failed else whole]
    notes = (
        Note(reading.number, f"not said: {what}")
        for reading, turn in _compared(playable, turns)
        for what in _lost(turn, reading)
    )
    return Written(tuple(turns), (*dropped, *notes))


def _compared(readings: Sequence[Reading], turns: Sequence[JSONObject]) -> Iterator[tuple[Reading, JSONObject]]:
    """Yield each attempt with what is played for it: the last turn stands for a failure and for the answer after it."""
    for reading, turn in zip(readings, [*turns, turns[-1]], strict=False):
        whole = reading.fault is None
        yield reading, {key: value for key, value in turn.items() if key != "fault"} if whole else turn


def _given_up(reading: Reading) -> JSONObject:
    """Return the turn of an attempt that nobody asked for again: what had come of it, struck for good."""
    whole = isinstance(reading.fault, ContentTypeFault)
    told = said(reading, ended=whole) if whole or content(reading.turn) else {}
    return struck(told, reading) | ({"final": True} if told else {})


def _unplayable(reading: Reading) -> str:
    """Say why no turn of a script can stand for an exchange; "" if one can."""
    if reading.problem:
        return reading.problem
    names = [call.name for call in reading.turn.calls] if reading.turn else []
    return next((f"no script can call a tool {name!r}" for name in names if not name or name.startswith("$")), "")


# -- what does not come back ------------------------------------------------------------------------------------------


def _lost(turn: JSONObject, reading: Reading) -> Iterator[str]:
    """Yield what a client would not be told if the script were played in the place of the recording."""
    back, recorded = played(entry_of(turn), reading), reading.recorded
    if bool(back.recorded.status) != bool(recorded.status):
        yield "that its head had come"
    elif recorded.status in _ANSWERS and recorded.status != _OK:
        yield f"its status {recorded.status}, where a script has {_OK}"
    if type(back.fault) is not type(reading.fault):
        yield "how it broke off"
    elif _error_of(back) != _error_of(reading):
        yield "the error in the provider's own words"
    yield from beyond(reading)
    if reading.fault is None:
        yield from _unlike(back.turn or Turn(), reading.turn or Turn())
        if content_type(recorded) not in ("", content_type(back.recorded)):
            yield f"that it came as {content_type(recorded)}"
        if recorded.ending in ("reset", "closed"):
            yield "that its connection broke after its end"
    elif content(back.turn) != content(reading.turn):
        yield "what it had said when it broke off"
    elif isinstance(reading.fault, MalformedFault):
        yield "what came with its malformed event, and after it"


def _error_of(reading: Reading) -> JSONObject:
    return {key: value for key, value in as_object(reported(reading)).items() if key not in _VARYING}


def _unlike(played_turn: Turn, recorded: Turn) -> Iterator[str]:
    for part, words in _PARTS.items():
        if getattr(played_turn, part) != getattr(recorded, part):
            yield words
    if played_turn.calls != recorded.calls:
        named = [(call.name, call.arguments_text) for call in recorded.calls]
        same = named == [(call.name, call.arguments_text) for call in played_turn.calls]
        yield "that its calls bear no ids" if same else "its calls as they were"
