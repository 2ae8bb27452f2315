"""Verdicts counted by requirement group."""

from __future__ import annotations

import pytest

from pytest_agentcontract.report.matrix import lines, matrix
from pytest_agentcontract.report.records import together

GROUPS = {"RET-101": "who returns", "RET-301": "no reply", "RET-302": "no reply"}


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "not-applicable"], "pass"),
        (["pass", "not-verified"], "not-verified"),
        (["pass", "not-verified", "fail"], "fail"),
        (["fail", "error"], "error"),
        (["not-applicable"], "not-applicable"),
        ([], "not-applicable"),
    ],
)
def test_a_requirement_passes_only_if_nothing_speaks_against_it(statuses, expected):
    """One pass is needed, and no fail, not-verified or error beside it."""
    assert together(statuses) == expected


def test_requirements_are_counted_once_whatever_the_number_of_cases(check, record):
    """Two cases of one requirement count as one, by the worse of them, in the ledger's order of groups."""
    records = [
        record(check("RET-301"), check("RET-302")),
        record(check("RET-301", "fail"), check("RET-101", "not-verified"), case="return/y"),
    ]
    rows = matrix(records, GROUPS)
    assert [(row.group, dict(row.counts)) for row in rows] == [
        ("who returns", {"not-verified": 1}),
        ("no reply", {"fail": 1, "pass": 1}),
    ]


def test_known_failures_and_shoulds_are_told_apart(check, record):
    """A failure that is no MUST, or that stands in the baseline, is counted as such beside."""
    rows = matrix(
        [record(check("RET-301", "fail", level="SHOULD"), check("RET-302", "fail", known="slow model"))], GROUPS
    )
    assert [(row.should, row.known) for row in rows] == [(1, 1)]
    assert list(lines(rows))[1].endswith("(1 of them no MUST, 1 known)")


def test_lines_are_aligned_under_each_runtime(check, record):
    """The counts of all groups stand below one another; a requirement of no group is not lost."""
    records = [record(check("RET-101"), check("RET-301")), record(check("XYZ-1"), runtime="theirs")]
    assert list(lines(matrix(records, GROUPS))) == [
        "mine, by requirement:",
        "  who returns    1 pass    0 fail    0 not-verified    0 not-applicable",
        "  no reply       1 pass    0 fail    0 not-verified    0 not-applicable",
        "theirs, by requirement:",
        "  other          1 pass    0 fail    0 not-verified    0 not-applicable",
    ]


def test_a_group_that_does_not_apply_is_only_named(check, record):
    """What speaks of nothing that a runtime does takes no line of zeros."""
    records = [record(check("RET-101"), check("RET-301", "not-applicable"))]
    assert list(lines(matrix(records, GROUPS)))[1:] == [
        "  who returns    1 pass    0 fail    0 not-verified    0 not-applicable",
        "  not applicable: no reply",
    ]
