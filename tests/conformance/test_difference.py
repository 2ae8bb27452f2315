"""Generated pairs of JSON values: whatever differs is found at its place, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import cast

from pytest_agentcontract.conformance.difference import differences
from pytest_agentcontract.jsonvalue import JSON, JSONObject, equal

PAIRS = 10_000
KEYS = ("a", "b", "__x", "a/b", "m~n", "", "\u2198")
LEAVES: tuple[Callable[[random.Random], JSON], ...] = (
    lambda draw: draw.choice([None, True, False]),
    lambda draw: draw.choice([0, 1, -1, 2**53, 2**53 + 1, 10**30]),
    lambda draw: draw.choice([0.0, 1.0, 0.1, 1.5, -2.0, 1e300]),
    lambda draw: draw.choice(["", "1", "true", "null", "{}", "[1]", " a", "a"]),
)


def generated(draw: random.Random, depth: int = 3) -> JSON:
    """Draw any JSON value."""
    kind = draw.randrange(4) if depth else 3
    if kind == 0:
        return {key: generated(draw, depth - 1) for key in draw.sample(KEYS, draw.randrange(4))}
    if kind == 1:
        return [generated(draw, depth - 1) for _ in range(draw.randrange(4))]
    return draw.choice(LEAVES)(draw)


def rewritten(value: JSON, draw: random.Random) -> JSON:
    """Write the same value in another way: other key order, 1.0 for 1 wherever that is exact."""
    if isinstance(value, dict):
        return {key: rewritten(value[key], draw) for key in draw.sample([*value], len(value))}
    if isinstance(value, list):
        return [rewritten(item, draw) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and int(float(value)) == value:
        return float(value)
    return value


def changed(value: JSON, draw: random.Random) -> tuple[JSON, str]:
    """Put another value at one place; return the whole, and the place."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key = draw.choice([*value])
        inner, place = changed(value[key], draw)
        return {**value, key: inner}, f"/{key.replace('~', '~0').replace('/', '~1')}{place}"
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        inner, place = changed(value[at], draw)
        return [*value[:at], inner, *value[at + 1 :]], f"/{at}{place}"
    while equal(other := generated(draw, 1), value) or type(other) is type(value) is dict or type(other) is list:
        pass
    return other, ""


def test_a_difference_is_found_at_its_place() -> None:
    """Each of ten thousand pairs that differ in one place is told apart there, and nowhere else."""
    draw = random.Random(20260101)  # noqa: S311 - the same pairs each time
    for _ in range(PAIRS):
        value = generated(draw)
        other, place = changed(value, draw)
        found = list(differences(value, rewritten(other, draw)))
        assert [one.place for one in found] == [place], (value, other)


def test_the_same_written_otherwise_is_no_difference() -> None:
    """Key order says nothing, and 1.0 is 1."""
    draw = random.Random(20260102)  # noqa: S311 - the same values each time
    for _ in range(PAIRS):
        value = generated(draw)
        assert list(differences(value, rewritten(value, draw))) == []


def test_what_deepdiff_takes_for_equal_is_told_apart() -> None:
    """Numbers and booleans, and keys that begin with two underscores."""
    pairs: list[tuple[JSONObject, JSONObject, str]] = [
        ({"a": [1]}, {"a": [True]}, "/a/0"),
        ({"__x": 1}, {"__x": 2}, "/__x"),
        ({"a": 2**53}, {"a": 2**53 + 1}, "/a"),
        ({"a": "1"}, {"a": 1}, "/a"),
    ]
    for left, right, place in pairs:
        assert [found.place for found in differences(cast("JSON", left), cast("JSON", right))] == [place]
