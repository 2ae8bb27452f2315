"""What a case tells the model to say, step by step, and what must come of it: drawn where no run was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, dumps
from pytest_agentcontract.report.page.pool import shown, shown_value
from pytest_agentcontract.scenario.case import RETURN, SPAWN, WORK, Case, ScriptedCall, ScriptedTurn

_LONG: Final = 300
_ROOT: Final = "root"


def told(case: Case) -> JSONObject:
    """Return a case as it is explained to a reader; what is not said is not there."""
    parts: JSONObject = {
        "title": shown(case.title),
        "why": shown(case.why),
        "prompt": shown(case.given.prompt, _LONG),
        "steps": [*_steps(case)],
        "expects": _expected(case),
    }
    if case.vector is not None:
        parts["asked"] = shown(f"{case.vector.op} {dumps(case.vector.given)}", _LONG)
    return {name: value for name, value in parts.items() if value}


def _steps(case: Case) -> Iterator[JSON]:
    """Yield the turns in the order in which they are likely to be asked for.

    Those of a child follow the call that starts it; those of a workflow follow its invocations.
    """
    left = {agent: list(enumerate(turns, 1)) for agent, turns in case.script.items()}
    for invocation in case.expect.route:
        yield from _invocation(str(invocation.fields.get("agent")), left)
    for agent in (_ROOT, *left):
        yield from _family(agent, left)


def _invocation(agent: str, left: Mapping[str, list[tuple[int, ScriptedTurn]]]) -> Iterator[JSON]:
    turns = left.get(agent, [])
    while turns:
        number, turn = turns.pop(0)
        yield _step(agent, number, turn)
        if not turn.calls or any(call.tool == RETURN for call in turn.calls):
            return


def _family(agent: str, left: Mapping[str, list[tuple[int, ScriptedTurn]]]) -> Iterator[JSON]:
    turns = left.get(agent, [])
    while turns:
        number, turn = turns.pop(0)
        yield _step(agent, number, turn)
        for call in turn.calls:
            if call.agent:
                yield from _family(call.agent, left)


def _step(agent: str, number: int, turn: ScriptedTurn) -> JSONObject:
    parts: JSONObject = {
        "agent": shown(agent),
        "kind": "fault" if turn.only_fault else "turn",
        "turn": number,
        "thinks": shown(turn.thinking or "", _LONG),
        "says": shown(f"{turn.text or ''}{turn.refusal or ''}", _LONG),
        "calls": [[shown(call.tool, _LONG), shown(_call(call), _LONG)] for call in turn.calls],
        "fault": str(turn.fault) if turn.fault else "",
        "repeat": turn.repeat,
    }
    return {name: value for name, value in parts.items() if value}


def _call(call: ScriptedCall) -> str:
    """Return what stands between the parentheses of a call."""
    if call.raw_arguments is not None:
        return call.raw_arguments
    said = {RETURN: call.value, WORK: call.mark, SPAWN: call.agent}.get(call.tool, call.arguments)
    if isinstance(said, Missing):
        return call.agent
    text = said if call.tool in (WORK, SPAWN) and isinstance(said, str) else dumps(said)
    return f"{text[: -call.truncate]} (cut off)" if call.truncate else text


def _expected(case: Case) -> JSONObject:
    """Return what must come of a case, in the shape of an outcome, as far as it says."""
    expect = case.expect
    if case.vector is not None:
        return {name: shown_value([*asked], _LONG) for name, asked in case.vector.expect.items()}
    found: JSONObject = {}
    if expect.result:
        found = {name: shown_value(value) for name, value in asdict(expect.result).items() if _says(value)}
    agents: JSONObject = {
        agent: {name: value for name, value in asdict(asked).items() if _says(value) and name in ("requests", "nudges")}
        for agent, asked in expect.agents.items()
    }
    route: Sequence[JSON] = [shown_value(dict(asked.fields)) for asked in expect.route]
    return found | ({"agents": agents} if any(agents.values()) else {}) | ({"route": [*route]} if route else {})


def _says(value: object) -> bool:
    return value is not None and not isinstance(value, Missing)
