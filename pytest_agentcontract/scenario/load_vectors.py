"""A table of vectors -> cases: each row is one question, put to a runtime's adapter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, loads
from pytest_agentcontract.scenario.case import Case, Cover, Expect, Given, Vector

GROUP = "handoff/vectors"

_OPERATIONS = {"sentinel-parse": "parse", "sentinel-render": "render", "routing": "route"}
"""The tables that are not called like the operation they ask."""

_DEFAULTS: Mapping[str, JSONObject] = {"parse": {"author": "agent"}, "route": {"failed": False}}


@cache
def shipped() -> tuple[Case, ...]:
    """Return every row of the shipped tables as a case, table by table in the order of the rows."""
    paths = sorted((resources.fixtures() / "vectors").glob("*.json"))
    return tuple(case for path in paths for case in _table(path))


def _table(path: Path) -> tuple[Case, ...]:
    table = as_object(loads(path.read_bytes()))
    op = _OPERATIONS.get(path.stem, path.stem)
    return tuple(_case(f"{GROUP}/{path.stem}", op, table, as_object(row)) for row in as_list(table["rows"]))


def _case(folder: str, op: str, table: JSONObject, row: JSONObject) -> Case:
    name, expect = as_text(row["id"]), _expected(as_object(row["expect"]))
    every = [as_text(requirement) for requirement in as_list(row["covers"])]
    spoken = {
        one for judgements in expect.values() for each in judgements for one in as_list(each.get("covers", [*every]))
    }
    return Case(
        id=f"{folder}/{name}",
        title=f"{as_text(table['title'])}: {name}",
        why=as_text(row.get("note")) or as_text(table["why"]),
        covers=tuple(Cover(requirement) for requirement in every if requirement in spoken),
        given=Given("handoff"),
        script={},
        expect=Expect(),
        needs=frozenset({"handoff"}),
        vector=Vector(op, _input(op, table, as_object(row["input"])), expect),
    )


def _input(op: str, table: JSONObject, given: JSONObject) -> JSONObject:
    """Complete a row's input: texts are spelled out, a workflow is put in for its name."""
    whole = {**_DEFAULTS.get(op, {}), **given}
    if isinstance(whole.get("workflow"), str):
        whole["workflow"] = as_object(table["workflows"])[as_text(whole["workflow"])]
    return {key: _text(value) if key == "text" else value for key, value in whole.items()}


def _text(value: JSON) -> str:
    return as_text(value) or "".join(map(_part, as_list(value)))


def _part(value: JSON) -> str:
    repetition = as_object(value)
    times = repetition.get("times")
    return as_text(repetition.get("repeat")) * times if isinstance(times, int) else as_text(value)


def _expected(data: JSONObject) -> dict[str, tuple[JSONObject, ...]]:
    return {name: tuple(map(as_object, as_list(judgements))) for name, judgements in data.items()}
