"""The words of a script in Python: turns, calls, gates, paces. What can't be meant raises ScriptError at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Literal, TypeAlias, get_args

from pytest_agentcontract.errors import ScriptError
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, dumps
from pytest_agentcontract.scenario.case import Hold, ScriptedCall, ScriptedTurn
from pytest_agentcontract.scenario.load_script import ALL_ASCII
from pytest_agentcontract.scenario.profile import SideCall
from pytest_agentcontract.scripted import demands
from pytest_agentcontract.scripted.demands import demand
from pytest_agentcontract.wire.faults import UNPACED, CutFault, Fault, Pace
from pytest_agentcontract.wire.turn import DELTAS, TYPICAL_USAGE, Stop, Usage

Part: TypeAlias = str | ScriptedCall

STOPS: Final[tuple[str, ...]] = get_args(Stop)


def turn(  # noqa: PLR0913 - each is one thing that a script can say of a turn
    *parts: Part,
    thinking: str | None = None,
    refusal: str | None = None,
    stop: Stop | None = None,
    usage: Usage | Mapping[str, int] = TYPICAL_USAGE,
    fault: Fault | None = None,
    final: bool = False,
    hold: Hold | None = None,
    pace: Pace = UNPACED,
    deltas: int = DELTAS,
    asked: str = "",
    repeat: Literal["forever"] | None = None,
) -> ScriptedTurn:
    """Say what the model answers to one request: at most one text, then any number of calls.

    `asked` is a text that the request must bring along. A `fault` strikes the first delivery, and the retry gets the
    turn whole; a `final` one, and one with nothing beside it, uses the turn up. `deltas` is into how many pieces a
    stream cuts a text at most. A `refusal` may stand behind a text; `usage` may be a mapping of its figures.
    """
    texts = [part for part in parts if isinstance(part, str)]
    calls = tuple(part for part in parts if isinstance(part, ScriptedCall))
    for name, value in (("thinking", thinking or ""), ("refusal", refusal or ""), ("asked", asked)):
        demands.text(name, value)
    said = (*texts, thinking or "", refusal or "", *(_content(call) for call in calls))
    demand(len(texts) + len(calls) == len(parts), "a turn is made of texts and calls", _odd(parts))
    demand(len(texts) <= 1, f"a turn has one text, and this one has {len(texts)}", "Join them, or play two turns.")
    demand(texts == [*parts[: len(texts)]], "a turn's text comes before its calls", "No wire sends it after them.")
    demand(stop is None or stop in STOPS, f"{stop!r} is no reason to stop", f"Known: {', '.join(STOPS)}.")
    demand(fault is None or isinstance(fault, Fault), f"{fault!r} is no fault", "Use status, cut, malformed, ...")
    demand(not final or fault is not None, "`final` is said of a fault, and there is none")
    demand(hold is None or isinstance(hold, Hold), f"{hold!r} is no gate", "Use gate(name) or delivered(agent, turn).")
    demand(isinstance(pace, Pace), f"{pace!r} is no pace", "Use pace(first=..., between=...).")
    demand(demands.whole("deltas", deltas) >= 1, f"deltas={deltas}: a text has at least one piece")
    demand(repeat in (None, "forever"), f"repeat={repeat!r}: a turn is repeated 'forever' or not at all")
    demand(not (isinstance(fault, CutFault) and fault.inside == "character" and "".join(said).isascii()), ALL_ASCII)
    return ScriptedTurn(
        text=texts[0] if texts else None,
        thinking=thinking,
        calls=calls,
        stop=stop,
        usage=demands.usage(usage),
        fault=fault,
        hold=hold,
        repeat=repeat is not None,
        refusal=refusal,
        pace=pace,
        deltas=deltas,
        asked=asked,
        final=final,
    )


def call(tool: str, given: JSON | Missing = MISSING, /, **arguments: JSON) -> ScriptedCall:
    """Call a tool of the runtime's, by the name under which its request advertises it.

    Arguments are written as keywords, or `given` as one JSON value.
    """
    demand(demands.text("tool", tool), "a call names its tool")
    demand(given is MISSING or not arguments, f"the arguments of {tool!r} are given twice", "Give them one way.")
    whole = arguments if isinstance(given, Missing) else given
    try:
        dumps(whole)
    except (TypeError, ValueError) as wrong:
        raise ScriptError(f"the arguments of {tool!r} are no JSON: {wrong}") from wrong
    return ScriptedCall(tool, arguments=whole)


def raw_call(tool: str, text: str, /) -> ScriptedCall:
    """Call a tool with this text in place of its arguments' JSON, however broken."""
    return replace(call(tool), arguments=MISSING, raw_arguments=demands.text("text", text))


def special(of: ScriptedCall, *, id: str = "", unadvertised: bool = False) -> ScriptedCall:  # noqa: A002 - wire's word
    """Return a call under an id of its own, or one that need not be advertised: a tool that the model made up."""
    demand(isinstance(of, ScriptedCall), f"{of!r} is no call", "Use special(call(...)).")
    return replace(of, id=demands.text("id", id) or of.id, unadvertised=unadvertised or of.unadvertised)


def reply(value: JSON, tool: str = "reply", argument: str = "value", *, text: str | None = None) -> ScriptedTurn:
    """Hand a result over: a turn that calls the return tool with `value` as this argument."""
    handed = call(tool, {argument: value})
    return turn(handed) if text is None else turn(text, handed)


def gate(name: str, after: int = 0) -> Hold:
    """Stand still after so many pieces until the test calls `release(name)`, 30 seconds at most."""
    demand(demands.text("name", name), "a gate has a name")
    demand(demands.whole("after", after) >= 0, f"after={after}: pieces are counted from 0")
    return Hold(after, "released", name)


def delivered(agent: str, number: int, after: int = 0) -> Hold:
    """Stand still after so many pieces until this turn of that agent, counted from 1, was handed over whole."""
    demand(demands.text("agent", agent), "a turn is some agent's")
    demand(demands.whole("number", number) >= 1, f"turn {number}: turns are counted from 1")
    demand(demands.whole("after", after) >= 0, f"after={after}: pieces are counted from 0")
    return Hold(after, "delivered", agent=agent, turn=number)


def pace(first: float = 0.0, between: float = 0.0, *, tokens_per_second: float | None = None) -> Pace:
    """Answer slowly: seconds before the first byte, and between two events (or so many events each second)."""
    begin, gap = demands.seconds("first", first), demands.seconds("between", between)
    if tokens_per_second is None:
        return Pace(begin, gap)
    demand(not between, "`between` and `tokens_per_second` say the same twice: give one")
    rate = demands.number("tokens_per_second", tokens_per_second)
    slowest = 1 / demands.LONGEST
    demand(
        slowest < rate < float("inf"), f"tokens_per_second={rate!r}: it has to be finite, and more than {slowest:.6f}"
    )
    return Pace(begin, 1 / rate)


def side_call(answer: str, *, system_contains: str = "", model: str = "", no_tools: bool = False) -> SideCall:
    """Answer requests that belong to no agent, such as a title for the conversation: all that is said must hold.

    `model` may be a pattern (`*-mini`).
    """
    for name, value in (("answer", answer), ("system_contains", system_contains), ("model", model)):
        demands.text(name, value)
    demand(system_contains or model or no_tools, "a side call without a condition would take every request")
    return SideCall(answer, "none" if no_tools else "any", system_contains, model)


def _content(call: ScriptedCall) -> str:
    if call.raw_arguments is not None:
        return call.raw_arguments
    return dumps(call.arguments) if isinstance(call.arguments, dict) else ""


def _odd(parts: Iterable[object]) -> str:
    return f"Not of {', '.join(repr(part) for part in parts if not isinstance(part, Part))}."
