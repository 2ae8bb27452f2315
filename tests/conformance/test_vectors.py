"""Vectors: each row is asked through a runtime's adapter, and its answer is held to the row field by field."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest

from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario import load_vectors
from pytest_agentcontract.scenario.case import Case, Cover, Expect, Given, Vector
from pytest_agentcontract.scenario.schemas import complaints

MUST_NEXT = {"level": "MUST", "covers": ["HND-303"], "is": "issue"}
SHOULD_STEP = {"level": "SHOULD", "covers": ["HND-303"], "is": "plan"}
MAY_NOTICE = {"level": "MAY", "covers": ["HND-703"], "any_of": [True, False]}
RIGHT = {
    "next": "issue",
    "step": "plan",
    "status": "running",
    "dispatch": "advance",
    "origin": "agent",
    "reason": None,
    "callback": None,
    "called_by": None,
    "notice": False,
}


class Answers:
    """An adapter that gives what a test tells it to."""

    given: ClassVar[object] = MISSING


def answer(_op, _given, _settings):
    """Give it."""
    if isinstance(Answers.given, Exception):
        raise Answers.given
    return Answers.given


@pytest.fixture
def judged(full, provider_unused):
    """Judge an answer to a row; return the verdicts by requirement."""
    profile = replace(full, capabilities=full.capabilities | {"handoff"}, adapter=(f"{__name__}:answer",))

    def judge(given, op="route", **expect):
        Answers.given = given
        given_in = next(row.vector.given for row in load_vectors.shipped() if row.vector.op == op)
        vector = Vector(op, given_in, {name: tuple(rows) for name, rows in expect.items()})
        covers = {one for rows in expect.values() for row in rows for one in row["covers"]}
        case = Case(
            "handoff/vectors/t/row", "t", "w", tuple(map(Cover, sorted(covers))), Given("handoff"), {}, Expect(),
            vector=vector,
        )  # fmt: skip
        return {verdict.requirement: verdict for verdict in run_case(case, profile, "", provider_unused).verdicts}

    return judge


@pytest.fixture
def provider_unused():
    """Stand in for the provider: a vector asks no model."""


def test_a_right_answer_passes_at_the_level_of_what_speaks_for_it(judged):
    """The strongest judgement gives the level."""
    found = judged(RIGHT, next=[MUST_NEXT], step=[SHOULD_STEP])
    assert [(one.status, one.level) for one in found.values()] == [("pass", "MUST")], found


def test_an_unmet_must_fails_and_an_unmet_should_only_should(judged):
    """The strongest unmet judgement gives the level of the failure."""
    assert judged({**RIGHT, "next": None}, next=[MUST_NEXT], step=[SHOULD_STEP])["HND-303"].level == "MUST"
    found = judged({**RIGHT, "step": None}, next=[MUST_NEXT], step=[SHOULD_STEP])["HND-303"]
    assert (found.status, found.level, found.observed.startswith("step: it is null")) == ("fail", "SHOULD", True)


def test_a_may_is_recorded_and_never_judged(judged):
    """Where the source is silent there is nothing to fail."""
    assert [(one.status, one.level) for one in judged(RIGHT, notice=[MAY_NOTICE]).values()] == [("pass", "MAY")]


def test_one_field_is_blamed_on_its_requirement_alone(judged):
    """Another requirement of the row is judged by its own fields."""
    callback = {"level": "MUST", "covers": ["HND-406"], "is": None}
    found = judged({**RIGHT, "callback": "issue"}, next=[MUST_NEXT], callback=[callback])
    assert {name: one.status for name, one in found.items()} == {"HND-303": "pass", "HND-406": "fail"}


def test_an_error_of_the_adapters_is_a_failure(judged):
    """It was asked a valid question, and its words are the evidence."""
    found = judged(ValueError("no such step"), next=[MUST_NEXT])["HND-303"]
    assert (found.status, found.observed) == ("fail", "an error: ValueError: no such step")


def test_what_is_not_supported_does_not_apply(judged):
    """An honest no is no failure."""
    assert judged(MISSING, next=[MUST_NEXT])["HND-303"].status == "not-applicable"


def test_a_broken_answer_is_an_error(judged):
    """It says nothing about the contract."""
    assert judged({"next": 1}, next=[MUST_NEXT])["HND-303"].status == "error"
    assert issubclass(DriverError, Exception)


def test_what_comes_back_is_read_by_other_eyes(judged):
    """Live mentions and a line's payload are the judge's to find."""
    live = {"level": "MUST", "covers": ["HND-704"], "is": []}
    assert judged({"body": "@alice"}, "inert", mentions=[live])["HND-704"].status == "fail"
    whole = {"level": "MUST", "covers": ["HND-101"], "is": {"task": "a"}}
    line = '<!-- AGENT_RUN_CONFIG {"task": "a"} -->'
    assert judged({"line": line}, "render", payload=[whole])["HND-101"].status == "pass"
    assert judged({"line": f"{line} -->"}, "render", payload=[whole])["HND-101"].status == "fail"


def test_without_an_adapter_no_vector_applies(full):
    """The profile names whom to ask."""
    row = load_vectors.shipped()[0]
    able = replace(full, capabilities=full.capabilities | {"handoff"})
    assert applicable(row, able) == "the profile names no adapter to ask"
    assert applicable(row, replace(full, adapter=("x:y",))) == "the profile does not declare handoff"


def test_the_rows_are_cases_with_ids_of_their_own():
    """Table and row make the id, and each covers something that a judgement speaks for."""
    rows = load_vectors.shipped()
    assert len(rows) > 1000
    assert len({row.id for row in rows}) == len(rows)
    assert all(row.id.startswith("handoff/vectors/") and row.covers for row in rows)


def test_each_question_is_one_that_the_protocol_knows():
    """What is sent is held to the schema of requests."""
    for row in load_vectors.shipped()[::7]:
        request = {"seq": 2, "cmd": row.vector.op, "input": row.vector.given}
        assert list(complaints("stdio-request", request)) == []
