"""From a run to verdicts: covered requirements, broken invariants, levels, what does not apply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.conformance.judge import applicable, judge
from pytest_agentcontract.conformance.verdict import Verdict
from pytest_agentcontract.errors import CaseError
from pytest_agentcontract.wire.request import ToolChoice

ROOT = [{"calls": [{"tool": "$work", "mark": "w"}]}, {"calls": [{"tool": "$return", "value": "R"}]}]
SUCCESS = {"result": {"status": "success", "value": "R"}}
CASE = {"covers": ["RET-401"], "script": {"root": ROOT}, "expect": SUCCESS}


def _seen(run):
    return [(verdict.requirement, verdict.status) for verdict in judge(run)]


def test_a_run_gets_a_verdict_for_each_requirement_that_its_case_covers(scene):
    """One requirement, one verdict, in the case's order; what is kept to beside them is not recorded."""
    run = scene(CASE | {"covers": ["RET-203", "RET-401"]}).root(2).success("R")
    assert _seen(run) == [("RET-203", "pass"), ("RET-401", "pass")]


def test_an_invariant_that_is_broken_is_reported_by_any_case(scene):
    """A forced tool choice is a failure wherever it is seen."""
    run = scene(CASE).root().root(choice=ToolChoice("any")).success("R")
    assert _seen(run) == [("RET-401", "pass"), ("RET-204", "fail")]


def test_an_invariant_that_can_not_be_told_is_not_reported(scene):
    """Where nothing was asked the covered requirements are not verified, and that says it all."""
    assert _seen(scene(CASE).success("R")) == [("RET-401", "not-verified")]


@pytest.mark.parametrize(
    ("play", "broken"),
    [
        (lambda s: s.root(2, tools=("touch",)).success("R"), {"RET-101", "RET-106"}),
        (lambda s: s.root(2).root(kind="beyond").success("R"), {"RET-201"}),
        (lambda s: s.root(2).failure("R"), {"RET-203"}),
        (lambda s: s.root(2).end(exit_ok=True, problem="no JSON"), {"RET-406"}),
    ],
)
def test_each_invariant_speaks_up(scene, play, broken):
    """What holds in every run is judged in every run."""
    verdicts = judge(play(scene(CASE)))
    assert {verdict.requirement for verdict in verdicts if verdict.status == "fail"} - {"RET-401"} == broken


def test_a_case_can_lower_a_level_and_never_raise_one(scene):
    """An interpretation inside a MUST is a SHOULD in the case that needs it; a SHOULD stays one."""
    lowered = {"id": "RET-401", "level": "SHOULD", "why": "a reading"}
    run = scene(CASE | {"covers": [lowered, "RET-408"]}).root(2).success("R")
    assert [verdict.level for verdict in judge(run)] == ["SHOULD", "SHOULD"]


def test_a_finding_below_the_level_lowers_its_verdict(scene):
    """The part of a sentence that only SHOULD hold can't fail a MUST."""
    run = scene(CASE | {"covers": ["RET-406"]}).root(2).success("R")
    assert [(verdict.level, verdict.status) for verdict in judge(run)] == [("SHOULD", "fail")]


def test_a_requirement_of_other_runtimes_is_not_applicable(scene, tool_less):
    """Without a return tool the return contract's own requirements have nothing to speak of."""
    run = scene(CASE | {"covers": ["RET-401", "INT-110"]}, profile=tool_less).root().success("R")
    assert [verdict.status for verdict in judge(run)] == ["not-applicable", "pass"]


def test_a_requirement_without_a_check_is_not_verified(scene):
    """What can't be observed yet is never green."""
    run = scene(CASE | {"covers": ["FLT-104"]}).root(2).success("R")
    assert [(verdict.status, bool(verdict.why)) for verdict in judge(run)] == [("not-verified", True)]


def test_an_unknown_requirement_is_an_error_of_the_case(scene):
    """A misspelt id is told, not passed over."""
    with pytest.raises(CaseError, match="RET-999"):
        judge(scene(CASE | {"covers": ["RET-999"]}).root(2).success("R"))


@pytest.mark.parametrize(
    ("data", "lost", "reason"),
    [
        ({}, (), None),
        ({}, ("root-return",), "does not declare root-return"),
        ({"without": ["async"]}, (), "declares async"),
        ({"given": {"mode": "text", "prompt": "Go."}}, ("text",), "does not declare text"),
        ({"covers": ["INT-104"]}, (), "declares a return tool"),
    ],
)
def test_what_applies_follows_from_the_case_and_the_declared_capabilities(scene, full, data, lost, reason):
    """Applicability never depends on what a run shows."""
    profile = replace(full, capabilities=full.capabilities - set(lost))
    found = applicable(scene(CASE | data).case, profile)
    assert found is None if reason is None else reason in found


def test_a_tool_that_a_profile_does_not_bind_makes_a_case_not_applicable(scene, full):
    """Without a tool for $work no case can be played."""
    assert "$work" in applicable(scene(CASE).case, replace(full, tools={"return": full.tools["return"]}))


@pytest.mark.parametrize(
    ("status", "level", "strict", "red"),
    [
        ("fail", "MUST", False, True),
        ("not-verified", "MUST", False, True),
        ("fail", "SHOULD", False, False),
        ("fail", "SHOULD", True, True),
        ("error", "SHOULD", False, True),
        ("not-applicable", "MUST", True, False),
        ("pass", "MUST", True, False),
    ],
)
def test_what_turns_an_item_red(status, level, strict, red):
    """A MUST that is not met, an error of the bench, and under strict a SHOULD that is not met."""
    assert Verdict("RET-101", level, status).breaks(strict=strict) is red
