"""The smoke tier: a first look at a slow runtime, never taken for the whole suite."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.run import applicable
from pytest_agentcontract.plugin.smoke import MARK, SMOKE
from pytest_agentcontract.scenario import load_case, load_profile

CASES = {case.id: case for case in load_case.shipped()}


def test_every_case_of_it_is_there():
    """A renamed case would silently leave it."""
    assert SMOKE.keys() <= CASES.keys()


@pytest.mark.parametrize("name", ["reference", "reference-tool-less", "claude-code", "claude-code-schema"])
def test_it_is_about_fifteen_cases_of_a_runtime(name):
    """Few enough for a runtime that takes ten seconds a case, with or without a return tool."""
    profile = load_profile.shipped()[name]
    assert 12 <= sum(applicable(CASES[case], profile) is None for case in SMOKE) <= 18


def test_the_mark_selects_it_and_the_last_line_says_so(run, verdicts):
    """All of it and nothing else is run, and the account says that this is a part."""
    result = run("--agent-contract", "-m", MARK, "--agent-contract-wire=openai-chat", "-p", "no:cacheprovider")
    assert result.ret == 0
    counts = result.parseoutcomes()
    assert counts["passed"] + counts.get("not", 0) == len(SMOKE)
    assert f"; a part of the suite: {len(SMOKE)} of " in result.outlines[-1]


def test_a_whole_run_is_no_part(run, verdicts):
    """Cases named one by one are all that was asked for."""
    result = run("agent-contract::return::no-reply/empty-finish", "--agent-contract-wire=openai-chat")
    assert "a part of" not in result.outlines[-1]
