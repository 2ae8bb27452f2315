"""The quick test of a schema says what the jsonschema package says, for whatever becomes of a message."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, loads
from pytest_agentcontract.scenario import load_vectors
from pytest_agentcontract.scenario.quick import test_of as quick_test_of

OTHERS: list[JSON] = [
    None, True, False, 0, 1, 1.0, 2, -1, 1.5, "", "x", "parse", "handoff", [], [1], [1, 1.0], ["parse", "parse"],
    ["parse", "run"], {}, {"x": 1}, {"x": "y"}, {"message": ""}, {"message": "m"},
]  # fmt: skip
HANDOFF = {"workflow": "w", "thread": "t", "event": None}
RUN: JSONObject = {
    "mode": "json", "wire": "w", "prompt": "", "schema": None, "max_turns": 3, "env": {"A": "b"}, "workdir": "w",
    "home": "h", "seconds": 1.5,
}  # fmt: skip
ROUTE: JSONObject = {
    "next": "a", "step": None, "status": "running", "dispatch": "advance", "origin": "agent", "reason": None,
    "callback": None, "called_by": None, "notice": False,
}  # fmt: skip
REQUESTS: list[JSONObject] = [
    {"seq": 1, "cmd": "start", "protocols": [1], "suite": "1", "settings": {"a": "b"}},
    {"seq": 2, "cmd": "run", "run": RUN},
    {"seq": 2, "cmd": "run", "run": {**RUN, "mode": "handoff", "handoff": HANDOFF}},
    {"seq": 2, "cmd": "say", "line": None},
    {"seq": 3, "cmd": "stop"},
    {"seq": 3, "cmd": "no-such-operation", "input": {}},
]
ANSWERS: dict[str, list[JSON]] = {
    "message": [
        {"seq": 1, "ok": True},
        {"seq": None, "ok": False, "error": {"message": "m"}},
        {"seq": 1, "ok": False, "unsupported": True},
        {"seq": 1, "event": "printed", "text": "t"},
    ],
    "start": [{"protocol": 1, "name": "n", "version": "", "language": "", "capabilities": ["parse", "run"]}],
    "parse": [{"output": {"reading": "none", "config": None, "diagnostic": None}}],
    "render": [{"output": {"line": ""}}],
    "model": [{"output": {"valid": True, "diagnostic": None}}],
    "route": [{"output": ROUTE}],
    "inert": [{"output": {"body": ""}}],
    "notice": [{"output": {"mentions": None}}],
    "team": [{"output": {"section": ""}}],
    "no-such-operation": [{"output": {}}],
    "run": [{"result": {"exit_code": 0, "document": {}}}],
}


def schema(name: str) -> JSONObject:
    """Return a shipped schema."""
    return as_object(loads(resources.schema(name).read_bytes()))


def places(value: JSON) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value inside a document."""
    yield ()
    inside = enumerate(value) if isinstance(value, list) else as_object(value).items()
    for key, item in inside:
        yield from ((key, *path) for path in places(item))


def changed(document: JSON) -> Iterator[JSON]:
    """Yield a document as it is, and with each of its values gone, another one, or one more beside it."""
    yield document
    for path in places(document):
        for other in OTHERS if path else ():
            yield put(document, path, other)
        if path:
            yield put(document, path, ..., gone=True)
        yield put(document, (*path, "unknown"), 1)


def put(document: JSON, path: tuple[str | int, ...], value: object, *, gone: bool = False) -> JSON:
    """Return a copy with one value changed; where nothing can be put, the copy alone."""
    result = copy.deepcopy(document)
    inner: object = result
    for key in path[:-1]:
        inner = inner[key]  # type: ignore[index]
    if isinstance(inner, dict | list) and not (isinstance(inner, list) and isinstance(path[-1], str)):
        if gone:
            del inner[path[-1]]  # type: ignore[arg-type]
        else:
            inner[path[-1]] = value  # type: ignore[index,assignment]
    return result


def vectors() -> list[JSONObject]:
    """Return one request for each operation that vectors ask."""
    found = {case.vector.op: case.vector.given for case in load_vectors.shipped() if case.vector}
    return [{"seq": 2, "cmd": op, "input": given} for op, given in found.items()]


def verdicts(whole: JSONObject, documents: list[JSON]) -> set[bool]:
    """Hold documents to both readers of a schema, and return what they agree on."""
    quick, judge = quick_test_of(whole), Draft202012Validator(whole)
    assert quick is not None
    said: set[bool] = set()
    for original in documents:
        for document in changed(original):
            assert quick(document) == judge.is_valid(document), document
            said.add(quick(document))
    return said


def test_requests_are_told_alike() -> None:
    """A request is valid to both or to neither, whatever part of it is another."""
    assert verdicts(schema("stdio-request"), [*REQUESTS, *vectors()]) == {True, False}


@pytest.mark.parametrize("part", ANSWERS)
def test_answers_are_told_alike(part: str) -> None:
    """An answer is valid to both or to neither under each definition that answers are held to."""
    whole = schema("stdio-response")
    documents = [
        answer if part == "message" else {"seq": 1, "ok": True, **as_object(answer)} for answer in ANSWERS[part]
    ]
    assert verdicts({"$defs": whole["$defs"], "$ref": f"#/$defs/{part}"}, documents) == {True, False}


@pytest.mark.parametrize(
    "unknown",
    [
        {"pattern": "a"},
        {"type": "object", "properties": {"a": {"maxLength": 3}}},
        {"uniqueItems": False},
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
    ],
)
def test_a_keyword_that_is_not_known_is_left_to_the_package(unknown: JSONObject) -> None:
    """Nothing is passed over: a schema with another keyword, however deep, has no quick test."""
    assert quick_test_of(unknown) is None
