"""Words of a check: where two values first differ, exactly."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.wording import difference, shown
from pytest_agentcontract.jsonvalue import MISSING


@pytest.mark.parametrize(
    ("expected", "observed", "words"),
    [
        ("abc", "abd", 'from character 2: "d" instead of "c"; 3 of 3 characters'),
        ({"a": 1}, '{"a": 1}', "a string instead of an object"),
        ({"a": 1}, MISSING, "nothing instead of an object"),
        ({"a": 2**53 + 1}, {"a": 2**53}, "9007199254740992"),
        ({"a": 1, "b": 2}, {"a": 1.0, "b": 3}, "/b: 3 instead of 2"),
        ({"a": [1]}, {"a": [True]}, "/a/0: true instead of 1"),
        ({"a": [1, 2]}, {"a": [1, 2, 3]}, "/a: 3 items instead of 2 (Item root[2] added to iterable.)"),
    ],
)
def test_a_difference_is_named(expected, observed, words):
    """Text differs at a character, values by kind, structures at a path; no neighbour of 2^53 is overlooked."""
    assert words in difference(expected, observed)


def test_the_same_number_written_otherwise_is_no_difference():
    """Only what differs is named: 1.0 is 1."""
    assert "/a" not in difference({"a": 1, "b": 2}, {"a": 1.0, "b": 3})


def test_a_long_value_is_cut():
    """A value is shown to a readable length, with its size."""
    assert shown("x" * 1000).endswith("... (1002 characters)")
