"""What was measured, by figure, server and round, and the tables that show it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from contestants import BASELINE, CONTESTANTS
from question import PIECES, Shape

CONCURRENCY = (1, 16, 64)
SHAPES: dict[Shape, str] = {"json": "JSON answers", "stream": f"streams of {PIECES} events"}
_WIDTH = 26
_NAMES = 26


@dataclass(frozen=True, slots=True)
class Figure:
    """One column of a table. More of it is better, or less; `places` are the decimals to print."""

    label: str
    places: int = 1
    more: bool = False

    def best(self, values: Sequence[float]) -> float:
        """Return the best of some values."""
        return max(values) if self.more else min(values)


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and the columns below it."""

    title: str
    figures: tuple[Figure, ...]


def cpu(shape: Shape, lines: int) -> Figure:
    """Return the figure of the server's CPU per answer."""
    return Figure(f"{shape} cpu at {lines}", places=3)


def rate(shape: Shape, lines: int) -> Figure:
    """Return the figure of the answers per second."""
    return Figure(f"{shape} rate at {lines}", places=0, more=True)


START_UP = Figure("start-up, ms", places=0)
IDLE, WARM, LAST = Figure("MB idle"), Figure("MB warm"), Figure("MB at the end")

TABLES = (
    *(
        Table(f"{title}: {what}", tuple(figure(shape, lines) for lines in CONCURRENCY))
        for shape, title in SHAPES.items()
        for what, figure in (("server CPU per answer, ms", cpu), ("answers per second", rate))
    ),
    Table("start-up to the first answer, memory (proportional share)", (START_UP, IDLE, WARM, LAST)),
)


@dataclass(slots=True)
class Standings:
    """Values by figure, server and round; `remarks` is what has to be said besides."""

    remarks: list[str] = field(default_factory=list)
    _values: dict[tuple[Figure, str], dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, figure: Figure, server: str, turn: int, value: float) -> None:
        """Take one value of one round."""
        self._values[figure, server][turn] = value

    def show(self) -> None:
        """Print all tables and remarks."""
        for table in TABLES:
            print(f"\n{table.title}")
            print(" " * _NAMES + "".join(f"{figure.label:>{_WIDTH}}" for figure in table.figures))
            for contestant in CONTESTANTS:
                cells = [self._cell(figure, contestant.name) for figure in table.figures]
                print(f"{contestant.title:<{_NAMES}}" + "".join(f"{cell:>{_WIDTH}}" for cell in cells))
        print()
        print("\n".join(self.remarks))

    def _cell(self, figure: Figure, server: str) -> str:
        values = self._values.get((figure, server))
        if not values:
            return "-"
        median, best = statistics.median(values.values()), figure.best([*values.values()])
        first = "*" if median == figure.best(self._medians(figure)) else " "
        return f"{first}{median:.{figure.places}f} ({best:.{figure.places}f}) {self._ratio(figure, values)}"

    def _medians(self, figure: Figure) -> list[float]:
        found = (self._values.get((figure, contestant.name)) for contestant in CONTESTANTS)
        return [statistics.median(values.values()) for values in found if values]

    def _ratio(self, figure: Figure, values: dict[int, float]) -> str:
        measure = self._values.get((figure, BASELINE), {})
        ratios = [value / measure[turn] for turn, value in values.items() if measure.get(turn)]
        return f"{statistics.median(ratios):5.2f}x" if ratios else "     -"
