"""What pytest shows of a verdict: words, exit status, first and last line."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.verdict import CaseReport, Verdict
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.plugin import bench
from pytest_agentcontract.plugin.account import NOTHING_VERIFIED, SILENT

EMPTY, NUDGED = "return/no-reply/empty-finish", "return/no-reply/nudged-then-replies"


def test_a_failing_must_fails_its_case(judge, verdicts):
    """The failure shows the sentence that is broken, what was expected and observed, and how to see it again."""
    verdicts[EMPTY] = ("pass", "fail")
    result = judge()
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "RET-302 (MUST): fail",
            "*expected: a nudge",
            "*observed: none",
            "reproduce: pytest 'agent-contract::return::no-reply/empty-finish[[]reference-openai-chat]' --*",
        ]
    )


def test_not_verified_is_red_and_says_so(judge, verdicts):
    """A MUST without evidence fails its item, under its own word."""
    verdicts[EMPTY] = ("not-verified",)
    result = judge("-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*empty-finish*NOT VERIFIED*"])


def test_not_applicable_is_no_failure_and_says_so(judge, verdicts):
    """A case that doesn't speak of the runtime is shown as such, and the rest decides."""
    verdicts[EMPTY] = ("not-applicable",)
    result = judge("-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*empty-finish*N/A*", "*1 passed*1 not applicable*"])


def test_all_not_applicable_is_no_pass(judge, verdicts):
    """A run in which no case applied has an exit status of its own."""
    verdicts[EMPTY] = verdicts[NUDGED] = ("not-applicable",)
    result = judge()
    assert result.ret == NOTHING_VERIFIED
    result.stdout.fnmatch_lines(["no case that applies to this runtime passed: nothing is verified, which is no pass"])


def test_a_failing_should_is_a_warning(judge, verdicts):
    """A SHOULD that isn't met is shown and fails nothing, also where warnings are errors."""
    verdicts[EMPTY] = ("pass", "fail?")
    result = judge("-W", "error")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warnings (they fail nothing*", "*RET-302 (SHOULD) fail: none *empty-finish*"])


def test_a_case_of_nothing_but_an_unmet_should_is_no_pass(judge, verdicts):
    """What nobody earned is not green: the case has its own word, and a run of nothing else its own exit status."""
    verdicts[EMPTY] = ("not-verified?",)
    result = judge("-v")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*empty-finish*SHOULD NOT MET*", "*1 passed*1 should not met*"])
    assert judge(select="empty-finish").ret == NOTHING_VERIFIED


def test_strict_fails_a_should(judge, verdicts):
    """Under --agent-contract-strict a failing SHOULD is a failure."""
    verdicts[EMPTY] = ("pass", "fail?")
    judge("--agent-contract-strict").assert_outcomes(passed=1, failed=1)


def test_the_first_and_the_last_line_name_the_runtime(judge):
    """On the embedded reference both say plainly that nothing of the user's was judged."""
    result = judge()
    result.stdout.fnmatch_lines(["agent contract: judging reference (*) by requirements *: nothing of yours is judged"])
    assert result.outlines[-1] == (
        "agent contract: judged reference: 2 pass; a part of the suite: 2 of 1588; "
        "the suite's own runtime: nothing of yours was judged"
    )


def test_quiet_keeps_the_last_line(judge):
    """Under -q there is no header, and the last line still says what was judged."""
    result = judge("-q")
    result.stdout.no_fnmatch_line("agent contract: judging*")
    assert result.outlines[-1].startswith("agent contract: judged reference: 2 pass")


def test_the_summary_counts_by_group(judge, verdicts):
    """Each requirement group has one aligned line."""
    verdicts[EMPTY] = ("pass", "fail")
    judge().stdout.fnmatch_lines(
        ["reference, by requirement:", "  no-reply *1 pass *1 fail *0 not-verified *0 not-app*"]
    )


def test_an_error_of_the_bench_is_no_traceback(run, monkeypatch):
    """A runtime that can't be started is one clear text."""

    def refuse(*_, **__):
        raise DriverError("not found", where="my-agent", remedy="Install it.")

    monkeypatch.setattr(bench, "run_case", refuse)
    result = run("agent-contract::return::no-reply/empty-finish[reference-openai-chat]")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["my-agent: not found", "  Install it."])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_case_that_says_nothing_of_what_it_judges_is_no_pass(run, monkeypatch):
    """A check that never spoke is a hole in the suite: it has a status of its own."""

    def judge(case, profile, wire, *_, **__):
        return CaseReport(case, profile.name, wire, (Verdict("RET-303", "MUST", "pass"),), None, {}, 0.001)

    monkeypatch.setattr(bench, "run_case", judge)
    result = run("agent-contract::return::no-reply/nudged-then-replies[reference-openai-chat]")
    result.assert_outcomes(passed=1)
    assert result.ret == SILENT
    result.stdout.fnmatch_lines(["return/no-reply/nudged-then-replies on reference says nothing of RET-*judge"])
