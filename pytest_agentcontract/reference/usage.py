"""The usage meter: it sits where events are emitted, so nothing that was reported can be missed or counted twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pytest_agentcontract.jsonvalue import JSON, JSONObject


@dataclass(frozen=True, slots=True)
class Tokens:
    """A number of tokens in and out."""

    input: int = 0
    output: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output)


@dataclass(slots=True)
class Reading:
    """What one provider response has reported so far: later figures replace earlier ones of the same name."""

    of_root: bool
    reports: list[dict[str, int]] = field(default_factory=list)
    complete: bool = False

    def report(self, usage: JSON) -> None:
        """Take one usage object of the stream, in either provider's names."""
        if isinstance(usage, dict):
            self.reports.append(_figures(usage))


@dataclass(slots=True)
class Meter:
    """Every response of one run; a cancelled one stays with what it had reported by then."""

    readings: list[Reading] = field(default_factory=list)

    def open(self, *, of_root: bool) -> Reading:
        """Start the reading of one response."""
        reading = Reading(of_root)
        self.readings.append(reading)
        return reading


def total(readings: Sequence[Reading]) -> Tokens | None:
    """Add up every response once, by its last figures; None where no provider reported anything."""
    return add_up(last_figures(reading.reports) for reading in readings if reading.reports)


def add_up(all_tokens: Iterable[Tokens]) -> Tokens | None:
    """Return the sum, or None for the sum of nothing: a zero would be an invented figure."""
    counted = list(all_tokens)
    return sum(counted, start=Tokens()) if counted else None


def last_figures(reports: Iterable[dict[str, int]]) -> Tokens:
    """Read one response: the last figure of each name."""
    merged: dict[str, int] = {}
    for report in reports:
        merged |= report
    return Tokens(**merged)


_NAMES = {"input_tokens": "input", "prompt_tokens": "input", "output_tokens": "output", "completion_tokens": "output"}


def _figures(usage: JSONObject) -> dict[str, int]:
    return {ours: count for name, ours in _NAMES.items() if isinstance(count := usage.get(name), int)}
