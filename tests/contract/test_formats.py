"""The checker and the JSON Schemas of the hand-off formats agree on what is valid."""

from __future__ import annotations

from copy import deepcopy

import pytest
from jsonschema import Draft202012Validator

from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import AgentRunConfig, WorkflowState
from pytest_agentcontract.contract.thread import Comment, Event
from pytest_agentcontract.contract.workflow import Workflow
from pytest_agentcontract.jsonvalue import loads
from pytest_agentcontract.resources import fixtures, schema

CONFIG = {
    "dispatch": {"status": "advance", "reason": "r", "task_hint": "a", "workflow": "w", "step": "s"},
    "function_call": {"function": "call_agent", "agent_name": "context", "callback": "architect"},
}
WORKFLOW = {
    "name": "feature",
    "agents": {"architect": {"role": "plans"}, "context": {"role": ""}},
    "steps": [
        {"id": "analyze", "agent": "architect", "next": "explain"},
        {"id": "explain", "agent": "context", "next": None, "human_gate": True, "terminal": True},
    ],
}
COMMENT = {
    "id": "1",
    "author": {"name": "alice", "kind": "human"},
    "agent": None,
    "body": "",
    "created": "2026-01-01T00:00:00Z",
}
EVENT = {"id": "e1", "comment": "1", "action": "created"}
STATE = {
    "workflow": "feature",
    "step": "explain",
    "agent": "context",
    "next": None,
    "called_by": None,
    "status": "awaiting-human",
    "stop": "hold",
    "dispatch": {"status": "hold", "reason": "", "origin": "engine_fallback"},
    "started_by": "alice",
    "CONFIG_CALLBACK": "issue",
    "consumed": {"events": ["e1"], "comments": ["1", "2"]},
}
FORMATS = {
    "agent-run-config": (
        AgentRunConfig.from_json,
        [CONFIG, {"task": "context"}, {"task": "context", "dispatch": {"status": "hold"}}],
    ),
    "workflow": (Workflow.from_json, [WORKFLOW]),
    "thread-comment": (Comment.from_json, [COMMENT, {**COMMENT, "agent": "context"}]),
    "event": (Event.from_json, [EVENT]),
    "workflow-state": (WorkflowState.from_json, [STATE, {**STATE, "dispatch": None, "stop": None}]),
}
STRANGE = [
    None,
    True,
    False,
    0,
    1,
    -1.5,
    "",
    "x",
    "advance",
    "hold",
    "running",
    "human",
    "created",
    "call_agent",
    "agent",
    [],
    ["x"],
    {},
    {"x": 1},
]


def _places(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*at, key))


def _changed(document, at, change):
    if not at:
        return change
    whole = deepcopy(document)
    parent = whole
    for key in at[:-1]:
        parent = parent[key]
    if change is _changed:
        del parent[at[-1]]
    else:
        parent[at[-1]] = change
    return whole


def _corpus(samples):
    """Yield the samples, and each of them with every value replaced, every key taken away and keys added."""
    for sample in samples:
        yield sample
        for at in _places(sample):
            yield from (_changed(sample, at, strange) for strange in STRANGE)
            if at:
                yield _changed(sample, at, _changed)
            part = sample
            for key in at:
                part = part[key]
            if isinstance(part, dict):
                yield _changed(sample, at, {**part, "unknown": 1})
                yield _changed(sample, at, {**part, "task": "context"})


def _payloads():
    return [loads(row["input"]["json"]) for row in _rows() if _is_json(row["input"]["json"])]


def _rows():
    return loads((fixtures() / "vectors" / "model.json").read_bytes())["rows"]


def _is_json(text):
    try:
        loads(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", FORMATS)
def test_checker_and_schema_agree(name):
    """Each document of a corpus is valid to both or to neither; names that lead nowhere are the checker's alone."""
    check, samples = FORMATS[name]
    validator = Draft202012Validator(loads(schema(name).read_bytes()))
    corpus = [*_corpus(samples), *(_payloads() if name == "agent-run-config" else [])]
    disagreed = []
    for document in corpus:
        found = check(document)
        only_names = isinstance(found, Diagnostic) and name == "workflow" and " is " in found.message and found.pointer
        if not only_names and isinstance(found, Diagnostic) is validator.is_valid(document):
            disagreed.append((document, str(found)))
    assert disagreed == []
    assert len(corpus) > 50


@pytest.mark.parametrize("name", FORMATS)
def test_a_valid_document_survives_its_value(name):
    """What is read is written back as it was."""
    check, samples = FORMATS[name]
    values = [check(sample) for sample in samples]
    assert [value.to_json() for value in values if hasattr(value, "to_json")] == (samples if name != "workflow" else [])


@pytest.mark.parametrize(
    ("change", "pointer", "words"),
    [
        ({"next": "nowhere"}, "/steps/0/next", "'nowhere' is the id of no step"),
        ({"agent": "nobody"}, "/steps/0/agent", "'nobody' is none of the agents"),
        ({"id": "explain"}, "/steps/1/id", "'explain' is the id of an earlier step"),
        ({"terminal": True}, "/steps/0", "a terminal step has no next"),
    ],
)
def test_a_workflow_s_names_lead_somewhere(change, pointer, words):
    """A name that leads nowhere, or twice, is pointed at before anything runs."""
    document = deepcopy(WORKFLOW)
    document["steps"][0] |= change
    found = Workflow.from_json(document)
    assert isinstance(found, Diagnostic)
    assert found.pointer.startswith(pointer)
    assert words in found.message


def test_a_diagnostic_is_short_whatever_it_is_about():
    """A message quotes no more than a line of what it was given."""
    found = AgentRunConfig.from_json({"dispatch": {"status": "x" * 100_000}})
    assert isinstance(found, Diagnostic)
    assert len(str(found)) < 300
