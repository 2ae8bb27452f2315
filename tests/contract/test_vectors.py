"""The contract answers every row of the shipped vectors as it should."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from referencing import Registry, Resource

from pytest_agentcontract.contract import notice, team
from pytest_agentcontract.contract.checker import Diagnostic, document
from pytest_agentcontract.contract.handoff import AgentRunConfig, Phase, Stop, WorkflowState
from pytest_agentcontract.contract.routing import Facts, decide
from pytest_agentcontract.contract.sentinel import parse, payload_of, render
from pytest_agentcontract.contract.thread import Kind, decision_in
from pytest_agentcontract.contract.workflow import Workflow
from pytest_agentcontract.jsonvalue import loads
from pytest_agentcontract.resources import schema

LIVE = re.compile(r"(?<![\w@/.+`])@[A-Za-z0-9]")
LONGEST_FOR_MARKDOWN = 10_000
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


vectors = _load("vectors")


def _reading(found):
    kind = "none" if found is None else "diagnostic" if isinstance(found, Diagnostic) else "config"
    config = found.to_json() if kind == "config" else None
    return {"reading": kind, "config": config, "diagnostic": str(found) if kind == "diagnostic" else None}


def _parse(given):
    author, body = given.get("author", "agent"), vectors.text(given["text"])
    return _reading(parse(body) if author == "agent" else decision_in(body, Kind(author)))


def _render(given):
    line = render(AgentRunConfig.from_json(given["config"]))
    payload = loads(payload_of("AGENT_RUN_CONFIG", line))
    return {"line": line, "payload": payload, "config": parse(line).to_json()}


def _model(given):
    value = document(given["json"])
    found = value if isinstance(value, Diagnostic) else AgentRunConfig.from_json(value)
    return {"valid": isinstance(found, AgentRunConfig), "diagnostic": str(found)}


def _route(given):
    facts = Facts(
        workflow=Workflow.from_json(vectors.table("routing")["workflows"][given["workflow"]]),
        agent=given["agent"],
        decision=parse(given["text"]),
        step=given["step"],
        callback=given["callback"],
        called_by=given["called_by"],
        failed=given.get("failed", False),
    )
    found = decide(facts)
    return {
        "next": found.next if found.status is Phase.RUNNING else None,
        "step": found.step,
        "status": found.status.value,
        "dispatch": found.dispatch.status.value,
        "reason": found.dispatch.reason,
        "origin": found.dispatch.origin.value,
        "callback": found.callback,
        "called_by": found.called_by,
        "notice": found.stop is not None,
    }


def _inert(given):
    body = notice.inert(vectors.text(given["text"]))
    return {"body": body, "mentions": _live(body)}


def _live(body):
    """Find live mentions as a reader of the rendered comment does."""
    if len(body) > LONGEST_FOR_MARKDOWN:
        return LIVE.findall(body)
    tokens = MARKDOWN.parse(body)
    shown = [
        "".join("`" if child.type == "code_inline" else child.content for child in token.children or ())
        for token in tokens
    ]
    raw = [token.content for token in tokens if token.type == "html_block"]
    return [mention for piece in [*shown, *raw] for mention in LIVE.findall(piece)]


def _notice(given):
    state = WorkflowState(
        workflow="feature",
        step="plan",
        status=Phase(given["status"]),
        stop=Stop(given["stop"]) if given["stop"] else None,
        started_by=given["started_by"],
    )
    found = notice.notice_for(state, issue_author=given["issue_author"], trigger_author=given["trigger_author"])
    return {"mentions": found.mention if found else None}


def _team(given):
    roles = {name: agent["role"] for name, agent in given["agents"].items()}
    return {"section": team.section(roles, given["agent"], given["called_by"], given["callback"])}


ANSWERS = {
    "sentinel-parse": _parse,
    "sentinel-render": _render,
    "model": _model,
    "routing": _route,
    "inert": _inert,
    "notice": _notice,
    "team": _team,
}


@pytest.mark.parametrize(
    ("name", "row"),
    [pytest.param(name, row, id=f"{name}:{row['id']}") for name in ANSWERS for row in vectors.table(name)["rows"]],
)
def test_the_contract_meets_a_row(name, row):
    """What the contract answers is what the row demands, at every level."""
    assert [*vectors.unmet(row["expect"], ANSWERS[name](row["input"]))] == []


def test_every_table_has_its_operation():
    """No table is left out."""
    assert set(vectors.names()) == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_table_is_well_formed(name):
    """Each table meets the schema of vectors, with the workflows in it, and no id stands twice."""
    workflow = loads(schema("workflow").read_bytes())
    registry = Registry().with_resource("workflow.schema.json", Resource.from_contents(workflow))
    validator = Draft202012Validator(loads(schema("vector").read_bytes()), registry=registry)
    assert [error.message for error in validator.iter_errors(vectors.table(name))] == []
    ids = Counter(row["id"] for row in vectors.table(name)["rows"])
    assert [twice for twice, number in ids.items() if number > 1] == []


def test_the_routing_table_is_complete():
    """Each decision meets each place in the workflow and each kind of callback, and no situation stands twice."""
    rows = [row["id"].split("/") for row in vectors.table("routing")["rows"]]
    grid = [parts for parts in rows if len(parts) == 3]
    whole = Counter(parts[0] for parts in grid if parts[0] != "call-the-caller")
    assert set(whole.values()) == {5 * 3}
    assert len(whole) > 40
    situations = Counter(json.dumps(row["input"], sort_keys=True) for row in vectors.table("routing")["rows"])
    assert [text for text, number in situations.items() if number > 1] == []


def test_there_are_enough_ways_to_write_a_sentinel():
    """The two sentinel tables hold at least 120 rows."""
    assert sum(len(vectors.table(name)["rows"]) for name in ("sentinel-parse", "sentinel-render")) >= 120
