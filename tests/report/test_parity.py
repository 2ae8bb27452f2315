"""Outcomes over wire formats: what agrees, what differs, what can't be compared."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.report.parity import parity
from pytest_agentcontract.report.records import Record


def record(case: str, wire: str, outcome: JSON, runtime: str = "mine") -> Record:
    """Build the record of one case on one wire format."""
    parts: Any = {"case": case, "runtime": runtime, "wire": wire, "outcome": outcome}
    return Record(**parts)


def test_the_same_outcome_on_each_wire_agrees() -> None:
    """Only cases that came to an outcome on two wires or more are compared."""
    found = parity([record("a", "x", {"value": 1}), record("a", "y", {"value": 1}), record("b", "x", {"value": 2})])
    assert (found.cases, found.disagreements) == (1, ())


def test_a_difference_is_told_with_its_wires() -> None:
    """Those that agree stand together."""
    rows = [record("a", wire, {"value": value}) for wire, value in (("x", 1), ("y", 2), ("z", 1))]
    (words,) = parity(rows).disagreements
    assert words == 'a on mine comes out differently by wire format: x, z: {"value": 1}; y: {"value": 2}'


@pytest.mark.parametrize("other", [None, {"value": 2}])
def test_what_can_not_be_compared_is_not(other: JSON) -> None:
    """A case without an outcome says nothing, and two runtimes may differ."""
    rows = [record("a", "x", {"value": 1}), record("a", "y", other, runtime="mine" if other is None else "theirs")]
    assert parity(rows) == parity([])
