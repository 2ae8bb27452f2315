"""JSON as values: read strictly, compared strictly."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.jsonvalue import DEEPEST, MISSING, as_list, dumps, equal, is_empty, loads, place, point

SAME = [
    (1, 1.0),
    (0.1, 0.1),
    ({"a": 1, "b": [None]}, {"b": [None], "a": 1}),
    ([], []),
    (MISSING, MISSING),
    ("é", "\u00e9"),
]
DIFFERENT = [
    (1, True),
    (0, False),
    (1, "1"),
    (None, False),
    (None, MISSING),
    ("", None),
    ([], {}),
    (2**53 + 1, float(2**53)),
    ([1, 2], [2, 1]),
    ({"a": 1}, {"a": 1, "__a": 2}),
    ({"a": [1]}, {"a": [True]}),
    ("é", "e\u0301"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_same_values_are_equal(left, right):
    """Numbers compare by exact value and objects by their keys, whatever their order."""
    assert equal(left, right)
    assert equal(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different_values_are_not_equal(left, right):
    """Types, presence, list order, private-looking keys and code points all count."""
    assert not equal(left, right)
    assert not equal(right, left)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "'a' stands twice"),
        ('{"deep": [{"x": 1, "x": 1}]}', "'x' stands twice"),
        ("NaN", "NaN is no JSON number"),
        ("[Infinity]", "Infinity is no JSON number"),
        ("[-1e999]", "-1e999 is beyond any number"),
        ("{} {}", "Extra data"),
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested too deeply"),
        ('{"a": ' * 300 + "1" + "}" * 300, "nested too deeply"),
    ],
)
def test_loads_refuses_what_two_readers_would_read_differently(text, complaint):
    """Duplicate keys, constants outside JSON, a second document and bottomless nesting are errors with a reason."""
    with pytest.raises(ValueError, match=complaint):
        loads(text)


def test_what_is_read_is_never_too_deep_to_walk():
    """Brackets in strings and beside each other don't count; at the deepest that is read, nobody runs out of stack."""
    text = "[" * DEEPEST + '"' + "[" * 1000 + '"' + "]" * DEEPEST
    assert dumps(loads(text)) == text
    assert equal(loads(text), loads(text))
    assert len(as_list(loads("[" + "[]," * 1000 + "{}]"))) == 1001


def test_a_lone_surrogate_can_be_written():
    """A string that no encoding can hold is rendered as an escape and read back as it was."""
    text = dumps({"result": "half \ud800 pair"})
    assert json.loads(text.encode("utf-8")) == {"result": "half \ud800 pair"}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("", {"a/b": {"~": [10, None]}}),
        ("/a~1b/~0/0", 10),
        ("/a~1b/~0/1", None),
        ("/a~1b/~0/2", MISSING),
        ("/a~1b/~0/-1", MISSING),
        ("/a~1b/~0/x", MISSING),
        ("/nowhere/at/all", MISSING),
    ],
)
def test_a_pointer_leads_to_a_value_or_to_nothing(pointer, found):
    """Escapes are undone, and a null that is there is not the same as a value that is absent."""
    assert point({"a/b": {"~": [10, None]}}, pointer) == found


@pytest.mark.parametrize("pointer", ["", "/value", "/a~1b/c"])
def test_place_is_the_inverse_of_point(pointer):
    """What is placed at a pointer is found there."""
    assert point(place(pointer, [1]), pointer) == [1]


@pytest.mark.parametrize(
    ("value", "empty"), [(MISSING, True), (None, True), ("", True), ([], False), ({}, False), (0, False), (" ", False)]
)
def test_emptiness_is_absence_null_or_an_empty_string(value, empty):
    """An empty container is a value, and so is zero."""
    assert is_empty(value) is empty
