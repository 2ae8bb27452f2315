"""Hand-off, the record: the sentinel that an engine posts, those that it reads, and the rules of the model."""

from __future__ import annotations

from collections.abc import Callable

from pytest_agentcontract.conformance.checks.along import EARNED, along, walk
from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.handoff_reading import Posted, openers
from pytest_agentcontract.conformance.route import deviations, seen
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.jsonvalue import JSON, Missing

_READ = ("config", "next", "dispatch", "origin", "reason")
"""What shows how a text was read: the record of the decision, and what came of it."""


@check("HND-101", earned=EARNED)
def sentinel_is_one_line(run: Run) -> Finding:
    """Read the sentinel line of each posted report: a JSON object on one line, with nothing in it that is null."""
    expected = "above the state one line with a compact JSON object, without absent fields"
    return _each_report(run, expected, lambda report: _loose_form(report.config))


@check("HND-103", earned=EARNED)
def report_holds_one_sentinel(run: Run) -> Finding:
    """Count what would be read as a line of the engine's in each report, and compare the decisions on the way."""
    expected = "one sentinel and one state line at the end of each report, and no other outside code"
    found = _each_report(run, expected, _surplus)
    if found.status != "pass":
        return found
    decided = any("HND-103" in one.covers for one in run.expect.route)
    return walk(run, "HND-103", frozenset(_READ), deviations) if decided else found


RENDERED_READS_BACK = along("HND-102", "config")
STRINGS_CANNOT_END_IT = along("HND-104", "config", "reason")
BRACES_MISLEAD_NOBODY = along("HND-105", *_READ)
OLD_COMMENTS_ARE_READ = along("HND-106", *_READ)
NO_MARKER_NO_DIAGNOSTIC = along("HND-107", *_READ)
SPACING_MAKES_NO_DIFFERENCE = along("HND-108", *_READ)
QUOTED_IS_TEXT = along("HND-109", *_READ)
LAST_ONE_COUNTS = along("HND-110", *_READ)
CALLS_ARE_RECORDED = along("HND-112", "config")
LATER_UNREADABLE_COUNTS = along("HND-113", *_READ)
HUMANS_ARE_NOT_READ = along("HND-114", "agent", "next", "status", "callback", "notice")
READS_BACK_ITS_OWN = along("HND-115", "agent", "config", "status", "callback")

NEEDS_AN_ACTION = along("HND-201", *_READ)
ONE_WAY_TO_NAME_A_TARGET = along("HND-202", *_READ)
DISPATCH_ALONE_IS_VALID = along("HND-203", *_READ)
FOUR_STATUSES = along("HND-204", *_READ)
FUNCTION_CALL_IS_WHOLE = along("HND-205", *_READ)
ONE_OBJECT = along("HND-206", *_READ)
DISPATCH_BESIDE_A_TARGET = along("HND-207", *_READ)
BROKEN_RULE_IS_UNREADABLE = along("HND-208", *_READ)


def _each_report(run: Run, expected: str, look: Callable[[Posted], str]) -> Finding:
    """Look at every report of the run; it takes one to pass."""
    reports = [(one.number, report) for one in seen(run) for report in one.reports]
    wrong = [f"invocation {number}: {words}" for number, report in reports if (words := look(report))]
    if wrong:
        return failed(expected, "; ".join(wrong))
    return passed(expected, f"so it is, in {len(reports)}") if reports else unverified("no agent's report was posted")


def _loose_form(config: JSON | Missing) -> str:
    if not isinstance(config, dict):
        return "no such line"
    return "null in it" if _holds_null(config) else ""


def _surplus(report: Posted) -> str:
    """Say what is wrong about the engine's lines in a report."""
    if isinstance(report.config, Missing) or isinstance(report.state, Missing):
        return "the two lines are not there"
    return f"{openers(report.text)} more above them" if openers(report.text) else ""


def _holds_null(value: JSON) -> bool:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(member is None or _holds_null(member) for member in members)
