"""Hand-offs without a sentinel, whole: a small team of agents passes its cases, and each of its faults is found out."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.scenario.load_case import shipped
from tests import team

CASES = {case.name: case for case in shipped() if case.group in ("handoff/transfer", "handoff/agents-as-tools")}
STACK = {"one-return-address": {"HND-409": "fail"}}
"""What a stack of callers does not keep, faultless as it is otherwise."""


def verdicts(name, provider, fault=""):
    """Let the team play a case, and return what becomes of each requirement."""
    report = run_case(CASES[name], team.dressed(find("reference", {}), fault), "openai-chat", provider)
    assert report.observation.delivery.ended == "exited"
    return {verdict.requirement: verdict.status for verdict in report.verdicts}


@pytest.mark.parametrize("name", CASES)
def test_a_faultless_team_passes(name, provider):
    """It keeps every requirement but the single return address, of which a stack is the opposite."""
    expected = {cover.requirement: "pass" for cover in CASES[name].covers} | STACK.get(name, {})
    assert verdicts(name, provider) == expected


@pytest.mark.parametrize(
    ("fault", "name", "requirement"),
    [
        (team.DEAF, "runs-the-named-agent", "HND-301"),
        (team.DEAF, "goes-on-to-a-third", "HND-301"),
        (team.DEAF, "back-to-the-first", "HND-301"),
        (team.COMES_BACK, "does-not-come-back", "HND-406"),
        (team.LAST, "first-of-two", "HND-301"),
        (team.NEAR, "unknown-agent", "HND-308"),
        (team.KEEPS, "returns-to-its-caller", "HND-303"),
        (team.SKIPS, "third-returns-to-the-second", "HND-303"),
        (team.HASTY, "callee-calls-on", "HND-403"),
        (team.HASTY, "callee-hands-over", "HND-403"),
        (team.IMPATIENT, "keeps-control-while-it-works", "HND-404"),
        (team.STALE, "no-stale-return-address", "HND-406"),
    ],
)
def test_a_fault_is_named_by_its_requirement(fault, name, requirement, provider):
    """Each fault fails the requirement that it breaks, in the case that is about it."""
    assert verdicts(name, provider, fault)[requirement] == "fail"


def test_one_return_address_can_be_kept(provider):
    """A team whose later call replaces the caller passes where a stack does not."""
    assert verdicts("one-return-address", provider, team.FLAT) == {"HND-409": "pass"}


def test_each_case_has_a_fault():
    """No case here is one that nothing fails."""
    marks = [mark for mark in test_a_fault_is_named_by_its_requirement.pytestmark if mark.name == "parametrize"]
    found_out = {name for _, name, _ in marks[0].args[1]}
    assert set(CASES) == found_out | set(STACK)


@pytest.mark.parametrize(
    ("fault", "name"), [(team.COMES_BACK, "runs-the-named-agent"), (team.STALE, "returns-to-its-caller")]
)
def test_what_comes_after_is_no_must(fault, name, provider):
    """Where control goes after the agent that was named has its own case, and no other case is failed by it."""
    assert "fail" not in verdicts(name, provider, fault).values()
