"""What is asked of a value: literally, or in the words of a demand."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.demands import in_words, unmet
from pytest_agentcontract.jsonvalue import MISSING

MET = [
    (1, 1.0),
    (None, None),
    ({"dispatch": {}}, {"dispatch": {}}),
    ({"is": {"is": 1}}, {"is": 1}),
    ({"any_of": [None, "a"]}, None),
    ({"begins": "a", "ends": "c", "contains": ["b"], "lacks": ["x"]}, "abc"),
    ({"count": {"a": 2, "b": 0}}, "aa"),
]
UNMET = [
    (1, True),
    (None, MISSING),
    ({"any_of": [None, "a"]}, MISSING),
    ({"any_of": [1]}, True),
    ({"begins": "b"}, "abc"),
    ({"ends": "b"}, None),
    ({"contains": ["a", "x"]}, "abc"),
    ({"contains": ["a"]}, MISSING),
    ({"lacks": ["a"]}, "abc"),
    ({"lacks": ["a"]}, MISSING),
    ({"count": {"a": 1}}, "aa"),
    ({"begins": "a", "ends": "x"}, "abc"),
]


@pytest.mark.parametrize(("expected", "observed"), MET)
def test_a_value_that_is_as_asked(expected, observed):
    """Every test of a demand holds."""
    assert unmet(expected, observed) == ""


@pytest.mark.parametrize(("expected", "observed"), UNMET)
def test_a_value_that_is_not(expected, observed):
    """One test that does not hold is enough, and is put into words."""
    assert unmet(expected, observed)


def test_a_demand_is_told_in_words():
    """A reader sees what was asked for."""
    assert in_words({"begins": "a", "lacks": ["x"]}) == 'one that begins with "a" and a text that holds none of ["x"]'
    assert in_words(None) == "null"


def test_a_list_that_asks_for_nothing_is_not_put_into_words():
    """An empty one says that it is a text, which goes without saying beside other words."""
    assert in_words({"lacks": []}) == "a text"
    assert in_words({"begins": "a", "contains": [], "lacks": ["x"]}) == (
        'one that begins with "a" and a text that holds none of ["x"]'
    )
