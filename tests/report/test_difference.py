"""What differs between two outcomes."""

from __future__ import annotations

import pytest

from pytest_agentcontract.report.difference import worded
from pytest_agentcontract.report.text import shortened


@pytest.mark.parametrize(
    ("expected", "observed", "said"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 2}, ["/a/b: expected 1, observed 3"]),
        ({"a": 1}, {"b": None}, ["/a: expected 1, observed nothing", "/b: expected nothing, observed null"]),
        ([1], [1, 2], ["the whole: expected [1], observed [1, 2]"]),
    ],
)
def test_the_innermost_places_are_named(expected, observed, said):
    """Each with what was expected and what was observed."""
    assert list(worded(expected, observed)) == said


def test_a_remedy_on_a_line_of_its_own_begins_a_sentence():
    """What stood on two lines reads as two sentences on one."""
    assert shortened("my-agent was not found\n  Install it.", 80) == "my-agent was not found. Install it."
