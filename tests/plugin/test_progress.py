"""What a long run says of itself while it goes on, where nobody sees pytest's dots."""

from __future__ import annotations

import re

import pytest

from pytest_agentcontract.plugin import progress

LINE = re.compile(r"agent contract: (\d+) of (\d+) cases after \d+:\d\d, (\d+) red")


def _told(result):
    return [tuple(map(int, match.groups())) for line in result.outlines if (match := LINE.fullmatch(line))]


@pytest.fixture
def hasty(monkeypatch):
    """Let no time be too short."""
    monkeypatch.setattr(progress, "EVERY", 0.0)


def test_a_short_run_says_nothing(judge):
    """Nor does one whose items have lines of their own."""
    assert _told(judge("-q")) == []


def test_it_counts_what_was_judged_and_what_is_red(hasty, judge, verdicts):
    """The last case needs no line: the totals follow."""
    verdicts["return/no-reply/empty-finish"] = ("fail",)
    result = judge("-q")
    told = _told(result)
    assert [(judged, planned) for judged, planned, _ in told] == [(at, told[0][1]) for at in range(1, told[0][1])]
    assert told[-1][2] > 0


def test_items_of_the_users_are_not_counted(hasty, judge, pytester):
    """They are no cases."""
    pytester.makepyfile("def test_mine_is_an_empty_finish(): pass")
    told = _told(judge("-q", str(pytester.path), "agent-contract"))
    assert {planned for _, planned, _ in told} == {2}


def test_nothing_is_added_where_each_item_has_a_line(hasty, judge):
    """Under -v."""
    assert _told(judge("-v")) == []


def test_workers_are_counted_together(hasty, pytester):
    """The controller knows how many cases there are from what a worker has collected."""
    cases = [f"agent-contract::return::no-reply/{name}" for name in ("empty-finish", "nudged-then-replies")]
    result = pytester.runpytest_inprocess("--agent-contract", "-p", "xdist", "-n", "2", "-q", *cases)
    assert [(judged, planned) for judged, planned, _ in _told(result)] == [(at, 8) for at in range(1, 8)]
