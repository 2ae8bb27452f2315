"""From verdicts to what became of a case."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.verdict import Verdict
from pytest_agentcontract.report.verdicts import case_status, check, unmet, warnings

MUST_PASS, MUST_FAIL = Verdict("RET-301", "MUST", "pass"), Verdict("RET-301", "MUST", "fail")
UNVERIFIED, ERROR = Verdict("RET-302", "MUST", "not-verified", why="no request"), Verdict("RET-303", "MUST", "error")
SHOULD_FAIL, NONE = Verdict("RET-304", "SHOULD", "fail", observed="x"), Verdict("RET-305", "MUST", "not-applicable")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([MUST_PASS, NONE], "pass"),
        ([MUST_PASS, SHOULD_FAIL], "pass"),
        ([SHOULD_FAIL, NONE], "should-not-met"),
        ([MUST_PASS, UNVERIFIED], "not-verified"),
        ([MUST_FAIL, UNVERIFIED], "fail"),
        ([MUST_FAIL, ERROR], "error"),
        ([NONE], "not-applicable"),
        ([], "not-applicable"),
    ],
)
def test_the_worst_verdict_is_that_of_the_case(verdicts, expected):
    """A MUST that is not met decides; a SHOULD does not, but without any pass it is no pass either."""
    red = unmet(verdicts, strict=False)
    assert case_status(verdicts, red, [""] * len(red)) == expected


def test_strict_lets_a_should_decide():
    """Under strict a failing SHOULD is unmet like a MUST, and no longer a warning."""
    assert unmet([SHOULD_FAIL], strict=True) == (SHOULD_FAIL,)
    assert warnings([SHOULD_FAIL], strict=False) == ["RET-304 (SHOULD) fail: x"]
    assert warnings([SHOULD_FAIL], strict=True) == []


def test_known_failures_excuse_only_if_all_are_known():
    """One failure beyond the baseline fails the case; the bench's own error is never excused."""
    red = (MUST_FAIL, UNVERIFIED)
    assert case_status(red, red, ["slow", "slow"]) == "known"
    assert case_status(red, red, ["slow", ""]) == "fail"
    assert case_status((ERROR,), (ERROR,), ["slow"]) == "error"


def test_texts_of_strangers_are_made_harmless():
    """Escape sequences and lone surrogates of a runtime's reach neither a terminal nor a pipe as such."""
    made = check(Verdict("RET-301", "MUST", "fail", observed="\x1b[2J\ud800 ok\n"), "")
    assert made["observed"] == "\\u001b[2J\\ud800 ok\n"
