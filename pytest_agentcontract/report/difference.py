"""How one JSON value differs from another, place by place."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, dumps, equal
from pytest_agentcontract.report.text import shortened

_WIDTH = 40


def differences(expected: JSON | Missing, observed: JSON | Missing, place: str = "") -> Iterator[str]:
    """Yield where `observed` is not as expected: the innermost places, as JSON pointers, with both values."""
    if isinstance(expected, dict) and isinstance(observed, dict):
        for key in dict.fromkeys([*expected, *observed]):
            yield from differences(expected.get(key, MISSING), observed.get(key, MISSING), f"{place}/{key}")
    elif isinstance(expected, Missing) or isinstance(observed, Missing) or not equal(expected, observed):
        yield f"{place or 'the whole'}: expected {_said(expected)}, observed {_said(observed)}"


def _said(value: JSON | Missing) -> str:
    return "nothing" if isinstance(value, Missing) else shortened(dumps(value), _WIDTH)
