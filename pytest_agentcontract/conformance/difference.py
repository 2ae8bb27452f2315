"""Where two JSON values differ: strictly, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, equal


@dataclass(frozen=True, slots=True)
class Difference:
    """One place, as a JSON pointer, with what was to stand there and what does; MISSING where nothing is."""

    place: str
    expected: JSON | Missing
    observed: JSON | Missing


def differences(expected: JSON | Missing, observed: JSON | Missing, place: str = "") -> Iterator[Difference]:
    """Yield the innermost places where `observed` is not as expected; none, if and only if the two are equal.

    Arrays of different lengths differ as a whole.
    """
    if isinstance(expected, dict) and isinstance(observed, dict):
        for key in dict.fromkeys([*expected, *observed]):
            step = key.replace("~", "~0").replace("/", "~1")
            yield from differences(expected.get(key, MISSING), observed.get(key, MISSING), f"{place}/{step}")
    elif isinstance(expected, list) and isinstance(observed, list) and len(expected) == len(observed):
        for at, (wanted, got) in enumerate(zip(expected, observed, strict=True)):
            yield from differences(wanted, got, f"{place}/{at}")
    elif not equal(expected, observed):
        yield Difference(place, expected, observed)
