"""Case file -> Case: JSON read strictly, checked against the case schema, made into a value."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

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
    Level,
    Say,
    ScriptedTurn,
    Status,
)
from pytest_agentcontract.scenario.load_handoff import handoff, invocation, long_text, loose_ends, loose_order, words
from pytest_agentcontract.scenario.load_script import calls_of, loose_turns, maybe, number, payload, script_of, usage
from pytest_agentcontract.scenario.start import Mode

OWN = "own"
"""The contract under which a user's own cases are collected."""

REMEDY = "The page `write-a-case` of the documentation describes the format."
_TOOLS = (RETURN, WORK, SPAWN, HANDOFF)
_MODE_NEEDS = {"json": "headless", "text": "text", "interactive": "interactive", "handoff": "handoff"}
_PAYLOAD_NEEDS: dict[type, str] = {str: "payload-string", dict: "payload-object", list: "payload-array"}


@cache
def shipped() -> tuple[Case, ...]:
    """Return every shipped case, sorted by id; the project's own tests hold them to the schema."""
    folder = resources.cases()
    return tuple(_built(_document(path), _id(folder, path)) for path in sorted(folder.rglob("*.json")))


def load_folder(folder: Path) -> tuple[Case, ...]:
    """Read every case file below a folder of the user's, ids under `own/`; raise CaseError for whatever is wrong."""
    found = tuple(load_case(path, f"{OWN}/{_id(folder, path)}") for path in sorted(folder.rglob("*.json")))
    if not found:
        raise CaseError("holds no case file", where=str(folder), remedy="Name a folder with .json case files below it.")
    return found


def load_case(path: Path, case_id: str = "") -> Case:
    """Read one case file of the user's (its id defaults to its name); raise CaseError for whatever is wrong with it."""
    document = _document(path)
    for place, complaint in faults(document):
        raise CaseError(complaint, where=f"{path}: {place}" if place else str(path), remedy=REMEDY)
    return _built(document, case_id or path.stem)


def faults(document: JSON) -> Iterator[tuple[str, str]]:
    """Yield everything that is wrong with a case file's document: a JSON pointer, and a complaint."""
    from pytest_agentcontract.scenario import schemas  # noqa: PLC0415 - only foreign files pay for jsonschema

    data = as_object(document)
    yield from schemas.faults("case", document)
    for place, complaint in loose_turns(as_object(data.get("script"))):
        yield f"/script{place}", complaint
    yield from _contradictions(data)


def _id(folder: Path, path: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _document(path: Path) -> JSON:
    try:
        return loads(path.read_bytes())
    except OSError as error:
        raise CaseError(error.strerror or str(error), where=str(path), remedy="Name an existing case file.") from error
    except ValueError as error:
        raise CaseError(f"not JSON: {error}", where=str(path), remedy="A case is one JSON object.") from error


def _built(document: JSON, case_id: str) -> Case:
    data = as_object(document)
    script = script_of(as_object(data["script"]))
    given = _given(as_object(data["given"]))
    return Case(
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


def _contradictions(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield what the schema can't say, whatever the shape of the rest."""
    given, script = as_object(data.get("given")), as_object(data.get("script"))
    if "handoff" in given:
        yield from loose_ends(data)
    elif "script" in data and "root" not in script:
        yield "/script", "the script names no agent `root`"
    else:
        yield from loose_order(data)
    for pointer, call in calls_of(script):
        place = f"/script{pointer}"
        agent, known = as_text(call.get("agent")), as_text(call.get("agent")) in script
        yield from ((f"{place}/tool", wrong) for wrong in _strange_tool(as_text(call.get("tool"))))
        if call.get("tool") == SPAWN and not known:
            yield place, f"spawns {agent!r}, which has no script"
        if call.get("tool") == HANDOFF and not known and call.get("unadvertised") is not True:
            yield place, f"hands over to {agent!r}, which has no script and is not `unadvertised`"
    if (given.get("mode") == "interactive") != bool(given.get("conversation")):
        yield "/given", "an interactive root has a conversation, and only an interactive root has one"
    if "open_stdin" in given and given.get("mode", "json") not in ("json", "text"):
        yield "/given/open_stdin", "only a headless root has a standard input that can be left open"


def _strange_tool(name: str) -> Iterator[str]:
    if name.startswith("$") and name not in _TOOLS:
        close = difflib.get_close_matches(name, _TOOLS, n=1)
        yield f"no tool of cases is called {name!r}; " + (
            f"did you mean {close[0]!r}?" if close else f"known: {', '.join(_TOOLS)}"
        )


# -- given ------------------------------------------------------------------------------------------------------------


def _given(data: JSONObject) -> Given:
    return Given(
        mode=cast("Mode", data.get("mode", "json")),
        prompt=long_text(data.get("prompt")) or "",
        schema=maybe(data, "schema", as_object),
        max_turns=maybe(data, "max_turns", number),
        patience=maybe(data, "patience", number),
        open_stdin="open_stdin" in data,
        conversation=tuple(map(_say, as_list(data.get("conversation")))),
        handoff=maybe(data, "handoff", handoff),
    )


def _say(value: JSON) -> Say:
    data = as_object(value)
    return Say(as_text(data["say"]), number(data.get("turns", 1)))


# -- expect -----------------------------------------------------------------------------------------------------------


def _expect(data: JSONObject, script: dict[str, tuple[ScriptedTurn, ...]]) -> Expect:
    agents = {name: _agent(as_object(agent)) for name, agent in as_object(data.get("agents")).items()}
    return Expect(
        result=maybe(data, "result", _result),
        agents=agents,
        work=tuple(map(as_text, as_list(data["work"]))) if "work" in data else tuple(_marks(script)),
        stray=tuple(map(as_text, as_list(data.get("stray")))),
        usage=maybe(data, "usage", usage),
        route=tuple(invocation(as_object(one)) for one in as_list(data.get("route"))),
    )


def _marks(script: dict[str, tuple[ScriptedTurn, ...]]) -> Iterator[str]:
    for call in (call for turns in script.values() for turn in turns for call in turn.calls):
        if call.tool == WORK and call.arguments is MISSING and call.raw_arguments is None and not call.truncate:
            yield call.mark


def _result(data: JSONObject) -> ExpectedResult:
    return ExpectedResult(cast("Status", data["status"]), payload(data["value"]) if "value" in data else MISSING)


def _agent(data: JSONObject) -> ExpectedAgent:
    return ExpectedAgent(
        status=cast("Status | None", data.get("status")),
        value=payload(data["value"]) if "value" in data else MISSING,
        requests=maybe(data, "requests", number),
        nudges=maybe(data, "nudges", number),
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
