"""Silence: a case that leaves out what it is to judge, and a whole run that never speaks of a requirement."""

from __future__ import annotations

from typing import Any

from pytest_agentcontract.report.coverage import Declared, silent
from pytest_agentcontract.report.records import Record

BY_CASE = {"a": frozenset({"RET-1", "RET-2"}), "b": frozenset({"RET-3"})}
DECLARED = Declared(BY_CASE, frozenset({"RET-1", "RET-2", "RET-3"}))
WIDER = Declared(BY_CASE, frozenset({"RET-3", "RET-9"}))


def record(case: str, *spoken: str, status: str = "pass") -> Record:
    """Build the record of a case that speaks of some requirements."""
    checks = [{"requirement": requirement} for requirement in spoken]
    parts: Any = {"case": case, "runtime": "mine", "status": status, "checks": checks}
    return Record(**parts)


def test_a_run_that_says_everything_is_not_silent() -> None:
    """Whatever was said: not applicable is an answer, too."""
    records = [record("a", "RET-1", "RET-2"), record("b", "RET-3", status="not-applicable")]
    assert list(silent(records, DECLARED)) == []


def test_a_case_that_leaves_something_out_is_named() -> None:
    """In a partial run as well."""
    (words,) = silent([record("a", "RET-2")], DECLARED)
    assert words == "a on mine says nothing of RET-1, which it is to judge"


def test_a_case_that_broke_down_is_red_anyway() -> None:
    """It is an error already, and its silence no news."""
    assert list(silent([record("a", status="error")], DECLARED)) == []


def test_a_whole_run_speaks_of_every_requirement() -> None:
    """Only then: a selection of cases leaves things out on purpose."""
    whole = [record("a", "RET-1", "RET-2"), record("b", "RET-3")]
    assert list(silent(whole, WIDER)) == ["no case has said anything of RET-9"]
    assert list(silent(whole[:1], WIDER)) == []
