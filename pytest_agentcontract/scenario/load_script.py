"""The script part of a case, or a script that stands alone: what the model says, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import TypeVar, cast

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, as_list, as_object, as_text, dumps
from pytest_agentcontract.scenario.case import WORK, Hold, ScriptedCall, ScriptedTurn, When
from pytest_agentcontract.scenario.load_handoff import long_text
from pytest_agentcontract.wire.faults import (
    UNPACED,
    ContentTypeFault,
    CutFault,
    Ending,
    ErrorFault,
    Fault,
    Inside,
    MalformedFault,
    Pace,
    SilenceFault,
    StatusFault,
)
from pytest_agentcontract.wire.turn import DELTAS, TYPICAL_USAGE, Stop, Usage

EARLY_REPEAT = "only the last turn can be repeated"
ALL_ASCII = "nothing in this turn is a character of several bytes"

_T = TypeVar("_T")
_FAULT = "scripted fault"
_OVERLOADED = 529


def script_of(data: JSONObject) -> dict[str, tuple[ScriptedTurn, ...]]:
    """Read the turns of every agent; `data` has passed the schema."""
    counter = iter(range(1, 1_000_000))
    return {agent: tuple(_turn(as_object(turn), counter) for turn in as_list(turns)) for agent, turns in data.items()}


def loose_turns(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield what the schema can't say of the turns of every agent: a JSON pointer into `data`, and what is wrong."""
    for agent, turns in data.items():
        for at, turn in enumerate(map(as_object, as_list(turns))):
            place, last = f"/{agent}/{at}", at == len(as_list(turns)) - 1
            if "repeat" in turn and not last:
                yield f"{place}/repeat", EARLY_REPEAT
            if isinstance(turn.get("fault"), dict):
                yield from ((f"{place}/fault", wrong) for wrong in _wrong_fault(as_object(turn["fault"]), turn))


def calls_of(data: JSONObject) -> Iterator[tuple[str, JSONObject]]:
    """Yield every call of the turns of every agent, after a JSON pointer into `data`, whatever its shape."""
    for agent, turns in data.items():
        for at, turn in enumerate(as_list(turns)):
            for nth, call in enumerate(as_list(as_object(turn).get("calls"))):
                yield f"/{agent}/{at}/calls/{nth}", as_object(call)


def _turn(data: JSONObject, counter: Iterator[int]) -> ScriptedTurn:
    return ScriptedTurn(
        text=long_text(data.get("text")),
        thinking=long_text(data.get("thinking")),
        calls=tuple(_call(as_object(call), counter) for call in as_list(data.get("calls"))),
        stop=cast("Stop | None", data.get("stop")),
        usage=maybe(data, "usage", usage) or TYPICAL_USAGE,
        fault=maybe(data, "fault", _fault),
        when=maybe(data, "when", _when),
        hold=maybe(data, "hold", _hold),
        repeat=data.get("repeat") == "forever",
        refusal=long_text(data.get("refusal")),
        pace=maybe(data, "pace", _pace) or UNPACED,
        deltas=number(data.get("deltas", DELTAS)),
        asked=as_text(data.get("asked")),
        final=data.get("final") is True,
    )


def _call(data: JSONObject, counter: Iterator[int]) -> ScriptedCall:
    mark = as_text(data.get("mark")) or (f"w{next(counter)}" if data["tool"] == WORK else "")
    return ScriptedCall(
        tool=as_text(data["tool"]),
        value=payload(data["value"]) if "value" in data else MISSING,
        mark=mark,
        agent=as_text(data.get("agent")),
        arguments=data.get("arguments", MISSING),
        raw_arguments=long_text(data.get("raw_arguments")),
        truncate=number(data.get("truncate", 0)),
        unadvertised=data.get("unadvertised") is True,
        id=as_text(data.get("id")),
    )


# -- faults, waits and paces ------------------------------------------------------------------------------------------


def _fault(data: JSONObject) -> Fault:
    return next(build(data) for key, build in _FAULTS.items() if key in data)


def _status(data: JSONObject) -> Fault:
    headers = {name: as_text(value) for name, value in as_object(data.get("headers")).items()}
    return StatusFault(number(data["status"]), headers, as_text(data.get("message")) or _FAULT)


def _cut(data: JSONObject) -> Fault:
    ending, inside = cast("Ending", data.get("with", "fin")), cast("Inside | None", data.get("inside"))
    return CutFault(number(data["cut_after_deltas"]), ending, inside)


def _error(data: JSONObject) -> Fault:
    status, message = number(data.get("error_status", _OVERLOADED)), as_text(data.get("message")) or _FAULT
    return ErrorFault(number(data["error_after_deltas"]), status, message)


_FAULTS: Mapping[str, Callable[[JSONObject], Fault]] = {
    "status": _status,
    "cut_after_deltas": _cut,
    "error_after_deltas": _error,
    "malformed_after_deltas": lambda data: MalformedFault(number(data["malformed_after_deltas"])),
    "silent_after_deltas": lambda data: SilenceFault(number(data["silent_after_deltas"])),
    "content_type": lambda data: ContentTypeFault(as_text(data["content_type"])),
}
"""The key that tells a kind of fault from the others, and how the rest is read."""


def _wrong_fault(data: JSONObject, turn: JSONObject) -> Iterator[str]:
    kinds = [key for key in _FAULTS if key in data]
    if len(kinds) != 1:
        yield f"exactly one of {', '.join(_FAULTS)} says which fault it is"
    if "message" in data and not {"status", "error_after_deltas"} & set(kinds):
        yield "only an error has a message"
    if data.get("inside") == "character" and dumps(turn).isascii():
        yield ALL_ASCII


def _when(data: JSONObject) -> When:
    return next(When(event, as_text(data[event])) for event in ("sees", "started", "failed") if event in data)


def _hold(data: JSONObject) -> Hold:
    after, until = number(data["after_deltas"]), data["until"]
    gate = as_object(until)
    if until == "end":
        return Hold(after, "end")
    if "delivered" in gate:
        return Hold(after, "delivered", agent=as_text(gate["delivered"]), turn=number(gate["turn"]))
    return next(Hold(after, event, as_text(gate[event])) for event in ("printed", "released") if event in gate)


def _pace(data: JSONObject) -> Pace:
    per_second = _seconds(data.get("tokens_per_second"))
    return Pace(_seconds(data.get("first")), 1 / per_second if per_second else _seconds(data.get("between")))


# -- parts that the rest of a case has too ----------------------------------------------------------------------------


def payload(value: JSON) -> JSON:
    """Return a payload; `{"lines": [...]}` is a long string, `{"large": {...}}` one too long to be written down."""
    data = as_object(value)
    if set(data) == {"lines"}:
        return long_text(value)
    if set(data) == {"large"}:
        return _large(as_object(data["large"]))
    return value


def _large(data: JSONObject) -> JSON:
    if "string" in data:
        return "agent contract \u2713\n" * (number(data["string"]) // 17 + 1)
    if "keys" in data:
        return {f"key-{count}": count for count in range(number(data["keys"]))}
    nest: JSON = "the bottom"
    for _ in range(number(data["depth"])):
        nest = {"next": nest}
    return nest


def usage(data: JSONObject) -> Usage:
    """Read what an answer costs."""
    return Usage(**{figure.name: number(data.get(figure.name, 0)) for figure in fields(Usage)})


def number(value: JSON) -> int:
    """Read a whole number that the schema has seen."""
    return value if isinstance(value, int) else 0


def maybe(data: JSONObject, key: str, build: Callable[..., _T]) -> _T | None:
    """Build a part if it is there."""
    return build(data[key]) if key in data else None


def _seconds(value: JSON | None) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
