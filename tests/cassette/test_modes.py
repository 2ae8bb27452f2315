"""Record modes: what each of them plays, records, and makes of the entries that were there."""

from __future__ import annotations

import pytest

from pytest_agentcontract.cassette.modes import RecordMode, compiled, conduct

PLAY, BOTH, RECORD = (True, False), (True, True), (False, True)


@pytest.mark.parametrize(
    ("mode", "exists", "expected"),
    [
        ("none", True, PLAY),
        ("none", False, PLAY),
        ("once", True, PLAY),
        ("once", False, RECORD),
        ("new_episodes", True, BOTH),
        ("new_episodes", False, BOTH),
        ("all", True, RECORD),
        ("all", False, RECORD),
        ("rewrite", True, RECORD),
        ("rewrite", False, RECORD),
    ],
)
def test_what_a_mode_does(mode, exists, expected):
    """The modes that vcrpy has mean what they mean there."""
    does = conduct(RecordMode(mode), exists=exists)
    assert (does.plays, does.records) == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("new_episodes", ["a1", "b1", "a2", "c2"]), ("all", ["b1", "a2", "c2"]), ("rewrite", ["a2", "c2"])],
)
def test_what_becomes_of_old_entries(mode, expected):
    """They stay, or go where the same was asked anew, or all go; the new ones come last."""
    fate = conduct(RecordMode(mode), exists=True).old
    assert list(compiled(["a1", "b1"], ["a2", "c2"], fate, lambda entry: entry[0])) == expected


def test_an_old_entry_stays_where_nothing_was_recorded():
    """Nothing recorded anew replaces nothing."""
    assert compiled(["a1"], [], "stay unless recorded anew", lambda entry: entry[0]) == ("a1",)
