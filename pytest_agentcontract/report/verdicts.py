"""From the judge's verdicts to a record: what became of the case as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_agentcontract.conformance.verdict import Verdict
from pytest_agentcontract.report.records import CaseStatus, Check
from pytest_agentcontract.report.text import harmless


def check(verdict: Verdict, known: str) -> Check:
    """Return a verdict as plain data; `known` is the baseline's reason for it."""
    return Check(
        requirement=verdict.requirement,
        level=verdict.level,
        status=verdict.status,
        expected=harmless(verdict.expected),
        observed=harmless(verdict.observed),
        why=harmless(verdict.why),
        known=known,
    )


def unmet(verdicts: Sequence[Verdict], *, strict: bool) -> tuple[Verdict, ...]:
    """Return the verdicts that turn a case red."""
    return tuple(verdict for verdict in verdicts if verdict.breaks(strict=strict))


def warnings(verdicts: Sequence[Verdict], *, strict: bool) -> list[str]:
    """Return what is not as it should be and turns nothing red, one line each."""
    red = unmet(verdicts, strict=strict)
    return [
        f"{verdict.requirement} ({verdict.level}) {verdict.status}: {harmless(verdict.observed or verdict.why)}"
        for verdict in verdicts
        if verdict.status in ("fail", "not-verified") and verdict.level != "MAY" and verdict not in red
    ]


def case_status(verdicts: Sequence[Verdict], red: Sequence[Verdict], known: Sequence[str]) -> CaseStatus:
    """Return what became of a case; `known` holds the baseline's reason for each red verdict, or an empty text."""
    statuses = {verdict.status for verdict in red}
    if red and all(known) and "error" not in statuses:
        return "known"
    worst: tuple[CaseStatus, ...] = ("error", "fail", "not-verified")
    if statuses:
        return next(status for status in worst if status in statuses)
    rest = {verdict.status for verdict in verdicts} - {"not-applicable"}
    if not rest:
        return "not-applicable"
    return "pass" if "pass" in rest else "should-not-met"
