"""Case file -> Case: JSON read strictly, checked against the case schema, made into a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from pytest_agentcontract import resources
from pytest_agentcontract.errors import CaseError
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, as_list, as_object, as_text, loads
from pytest_agentcontract.scenario.case import (
    HANDOFF,
    RETURN,
    SPAWN,
    WORK,
    Case,
    Cover,
    Expect,
    ExpectedAgent,
    ExpectedResult,
    Given,
    Hold,
    Level,
    Say,
    ScriptedCall,
    ScriptedTurn,
    Status,
    When,
)
from pytest_agentcontract.scenario.load_handoff import handoff, invocation, long_text, loose_ends, loose_order, words
from pytest_agentcontract.scenario.start import Mode
from pytest_agentcontract.wire.faults import CutFault, Fault, StatusFault
from pytest_agentcontract.wire.turn import TYPICAL_USAGE, Stop, Usage

_T = TypeVar("_T")
OWN = "own"
"""The contract under which a user's own cases are collected."""

_REMEDY = "The page `write-a-case` of the documentation describes the format."
_MODE_NEEDS = {"json": "headless", "text": "text", "interactive": "interactive", "handoff": "handoff"}
_PAYLOAD_NEEDS: dict[type, str] = {str: "payload-string", dict: "payload-object", list: "payload-array"}


@cache
def shipped() -> tuple[Case, ...]:
    """Return every shipped case, sorted by id; the project's own tests hold them to the schema."""
    folder = resources.cases()
    return tuple(_built(path, _document(path), _id(folder, path)) for path in sorted(folder.rglob("*.json")))


def load_folder(folder: Path) -> tuple[Case, ...]:
    """Read every case file below a folder of the user's, ids under `own/`; raise CaseError for whatever is wrong."""
    found = tuple(load_case(path, f"{OWN}/{_id(folder, path)}") for path in sorted(folder.rglob("*.json")))
    if not found:
        raise CaseError("holds no case file", where=str(folder), remedy="Name a folder with .json case files below it.")
    return found


def load_case(path: Path, case_id: str = "") -> Case:
    """Read one case file of the user's (its id defaults to its name); raise CaseError for whatever is wrong with it."""
    from pytest_agentcontract.scenario.schemas import complaints  # noqa: PLC0415 - only foreign files pay for jsonschema

    document = _document(path)
    for place, complaint in complaints("case", document):
        raise CaseError(complaint, where=f"{path}: {place}", remedy=_REMEDY)
    return _built(path, document, case_id or path.stem)


def _id(folder: Path, path: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _document(path: Path) -> JSON:
    try:
        return loads(path.read_bytes())
    except OSError as error:
        raise CaseError(error.strerror or str(error), where=str(path), remedy="Name an existing case file.") from error
    except ValueError as error:
        raise CaseError(f"not JSON: {error}", where=str(path), remedy="A case is one JSON object.") from error


def _built(path: Path, document: JSON, case_id: str) -> Case:
    data = as_object(document)
    script = _script(as_object(data["script"]))
    given = _given(as_object(data["given"]))
    case = Case(
        id=case_id,
        title=as_text(data["title"]),
        why=as_text(data["why"]),
        covers=tuple(map(_cover, as_list(data["covers"]))),
        given=given,
        script=script,
        expect=_expect(as_object(data.get("expect", {})), script),
        needs=words(data.get("needs")) | frozenset(_derived_needs(given, script)),
        without=words(data.get("without")),
    )
    for problem in _contradictions(case):
        raise CaseError(problem, where=str(path), remedy=_REMEDY)
    return case


def _contradictions(case: Case) -> Iterator[str]:
    """Yield what the schema can't say."""
    if case.given.handoff is not None:
        yield from loose_ends(case, case.given.handoff)
    elif "root" not in case.script:
        yield "the script names no agent `root`"
    else:
        yield from loose_order(case)
    for agent, turns in case.script.items():
        if any(turn.repeat for turn in turns[:-1]):
            yield f"/script/{agent}: only the last turn can be repeated"
        for call in (call for turn in turns for call in turn.calls):
            if call.tool == SPAWN and call.agent not in case.script:
                yield f"/script/{agent}: spawns {call.agent!r}, which has no script"
            if call.tool == HANDOFF and call.agent not in case.script and not call.unadvertised:
                yield f"/script/{agent}: hands over to {call.agent!r}, which has no script and is not `unadvertised`"
    if (case.given.mode == "interactive") != bool(case.given.conversation):
        yield "/given: an interactive root has a conversation, and only an interactive root has one"


# -- given ------------------------------------------------------------------------------------------------------------


def _given(data: JSONObject) -> Given:
    return Given(
        mode=cast("Mode", data.get("mode", "json")),
        prompt=long_text(data.get("prompt")) or "",
        schema=_maybe(data, "schema", as_object),
        max_turns=_maybe(data, "max_turns", _number),
        conversation=tuple(map(_say, as_list(data.get("conversation")))),
        handoff=_maybe(data, "handoff", handoff),
    )


def _say(value: JSON) -> Say:
    data = as_object(value)
    return Say(as_text(data["say"]), _number(data.get("turns", 1)))


# -- script -----------------------------------------------------------------------------------------------------------


def _script(data: JSONObject) -> dict[str, tuple[ScriptedTurn, ...]]:
    counter = iter(range(1, 1_000_000))
    return {agent: tuple(_turn(as_object(turn), counter) for turn in as_list(turns)) for agent, turns in data.items()}


def _turn(data: JSONObject, counter: Iterator[int]) -> ScriptedTurn:
    return ScriptedTurn(
        text=long_text(data.get("text")),
        thinking=long_text(data.get("thinking")),
        calls=tuple(_call(as_object(call), counter) for call in as_list(data.get("calls"))),
        stop=cast("Stop | None", data.get("stop")),
        usage=_maybe(data, "usage", _usage) or TYPICAL_USAGE,
        fault=_maybe(data, "fault", _fault),
        when=_maybe(data, "when", _when),
        hold=_maybe(data, "hold", _hold),
        repeat=data.get("repeat") == "forever",
    )


def _call(data: JSONObject, counter: Iterator[int]) -> ScriptedCall:
    mark = as_text(data.get("mark")) or (f"w{next(counter)}" if data["tool"] == WORK else "")
    return ScriptedCall(
        tool=as_text(data["tool"]),
        value=_payload(data["value"]) if "value" in data else MISSING,
        mark=mark,
        agent=as_text(data.get("agent")),
        arguments=data.get("arguments", MISSING),
        raw_arguments=long_text(data.get("raw_arguments")),
        truncate=_number(data.get("truncate", 0)),
        unadvertised=data.get("unadvertised") is True,
    )


def _fault(data: JSONObject) -> Fault:
    if "status" in data:
        headers = {name: as_text(value) for name, value in as_object(data.get("headers")).items()}
        return StatusFault(_number(data["status"]), headers, as_text(data.get("message")) or "scripted fault")
    return CutFault(_number(data["cut_after_deltas"]), "rst" if data.get("with") == "rst" else "fin")


def _when(data: JSONObject) -> When:
    return next(When(event, as_text(data[event])) for event in ("sees", "started", "failed") if event in data)


def _hold(data: JSONObject) -> Hold:
    after, until = _number(data["after_deltas"]), data["until"]
    gate = as_object(until)
    if until == "end":
        return Hold(after, "end")
    if "printed" in gate:
        return Hold(after, "printed", text=as_text(gate["printed"]))
    return Hold(after, "delivered", agent=as_text(gate["delivered"]), turn=_number(gate["turn"]))


# -- expect -----------------------------------------------------------------------------------------------------------


def _expect(data: JSONObject, script: dict[str, tuple[ScriptedTurn, ...]]) -> Expect:
    agents = {name: _agent(as_object(agent)) for name, agent in as_object(data.get("agents")).items()}
    return Expect(
        result=_maybe(data, "result", _result),
        agents=agents,
        work=tuple(map(as_text, as_list(data["work"]))) if "work" in data else tuple(_marks(script)),
        stray=tuple(map(as_text, as_list(data.get("stray")))),
        usage=_maybe(data, "usage", _usage),
        route=tuple(invocation(as_object(one)) for one in as_list(data.get("route"))),
    )


def _marks(script: dict[str, tuple[ScriptedTurn, ...]]) -> Iterator[str]:
    for call in (call for turns in script.values() for turn in turns for call in turn.calls):
        if call.tool == WORK and call.arguments is MISSING and call.raw_arguments is None and not call.truncate:
            yield call.mark


def _result(data: JSONObject) -> ExpectedResult:
    return ExpectedResult(cast("Status", data["status"]), _payload(data["value"]) if "value" in data else MISSING)


def _agent(data: JSONObject) -> ExpectedAgent:
    return ExpectedAgent(
        status=cast("Status | None", data.get("status")),
        value=_payload(data["value"]) if "value" in data else MISSING,
        requests=_maybe(data, "requests", _number),
        nudges=_maybe(data, "nudges", _number),
    )


# -- parts ------------------------------------------------------------------------------------------------------------


def _cover(value: JSON) -> Cover:
    if isinstance(value, str):
        return Cover(value)
    data = as_object(value)
    return Cover(as_text(data["id"]), cast("Level", data["level"]), as_text(data["why"]))


def _derived_needs(given: Given, script: dict[str, tuple[ScriptedTurn, ...]]) -> Iterator[str]:
    yield _MODE_NEEDS[given.mode]
    if given.schema is not None:
        yield "schema"
    if given.max_turns is not None:
        yield "step-cap"
    for agent, call in ((agent, call) for agent, turns in script.items() for turn in turns for call in turn.calls):
        if call.tool == SPAWN:
            yield "sub-agents"
        if call.tool == HANDOFF:
            yield "transfer"
        if call.tool == RETURN:
            # Whoever runs in a workflow runs for itself: it is nobody's child.
            yield "root-return" if agent == "root" or given.handoff else "child-return"
            yield _PAYLOAD_NEEDS.get(type(call.value), "payload-string")


def _payload(value: JSON) -> JSON:
    """Return a payload; `{"lines": [...]}` is a long string, `{"large": {...}}` one too long to be written down."""
    data = as_object(value)
    if set(data) == {"lines"}:
        return long_text(value)
    if set(data) == {"large"}:
        return _large(as_object(data["large"]))
    return value


def _large(data: JSONObject) -> JSON:
    if "string" in data:
        return "agent contract \u2713\n" * (_number(data["string"]) // 17 + 1)
    if "keys" in data:
        return {f"key-{number}": number for number in range(_number(data["keys"]))}
    nest: JSON = "the bottom"
    for _ in range(_number(data["depth"])):
        nest = {"next": nest}
    return nest


def _usage(data: JSONObject) -> Usage:
    return Usage(_number(data.get("input_tokens", 0)), _number(data.get("output_tokens", 0)))


def _number(value: JSON) -> int:
    return value if isinstance(value, int) else 0


def _maybe(data: JSONObject, key: str, build: Callable[..., _T]) -> _T | None:
    return build(data[key]) if key in data else None
