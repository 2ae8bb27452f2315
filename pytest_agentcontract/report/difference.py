"""How one outcome differs from another, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_agentcontract.conformance.difference import differences
from pytest_agentcontract.jsonvalue import JSON, Missing, dumps
from pytest_agentcontract.report.text import shortened

_WIDTH = 40


def worded(expected: JSON | Missing, observed: JSON | Missing) -> Iterator[str]:
    """Yield where `observed` is not as expected: the innermost places, as JSON pointers, with both values."""
    for found in differences(expected, observed):
        place = found.place or "the whole"
        yield f"{place}: expected {_said(found.expected)}, observed {_said(found.observed)}"


def _said(value: JSON | Missing) -> str:
    return "nothing" if isinstance(value, Missing) else shortened(dumps(value), _WIDTH)
