"""What stands on the page for every reader, with scripts or without: runtimes, matrix, and the evidence in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.report import level
from pytest_agentcontract.report.page.pool import shown
from pytest_agentcontract.report.records import CaseStatus
from pytest_agentcontract.report.standing import (
    BASELINED,
    LESSER,
    NOT_APPLICABLE,
    PASS,
    UNJUDGED,
    WORDS,
    Row,
    Word,
    counted,
    met,
)
from pytest_agentcontract.report.values import Checked, Judged, Report, Runtime

_LEVELS: Final = ("MUST", "SHOULD", "MAY")
_EXAMPLES: Final = 2
_LONG: Final = 240
_RED: Final = ("error", "fail", "not-verified")

MEANINGS: Mapping[Word, str] = {
    PASS: "passed in a case, and nothing speaks against it in any",
    "fail": "what was seen contradicts the requirement",
    "not-verified": "what the check needs to see did not happen: this is no pass",
    "error": "it could not be judged",
    f"fail{LESSER}": "the MUST holds; a part of its sentence that only SHOULD hold does not",
    BASELINED: "fails, and the baseline gives a reason: this is no pass",
    NOT_APPLICABLE: "does not speak of this runtime",
    UNJUDGED: "no case that judges it was run",
}
"""The words of the matrix, as they are explained below it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: the word, how many, where it begins and how wide it is, in hundredths."""

    word: Word
    count: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A runtime in one row: what it is, its level in words, and a bar for each level of requirements."""

    runtime: Runtime
    level: str
    bars: tuple[tuple[str, str, tuple[Part, ...]], ...]
    cases: tuple[tuple[CaseStatus, int], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verdict that is no pass, in short: where it was seen, and what is said of it."""

    case: str
    wires: str
    status: str
    said: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A runtime and a requirement that it does not meet: the first few verdicts, and how many more there are."""

    runtime: str
    word: Word
    shown: tuple[Evidence, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Line:
    """A requirement as a row of the matrix, and what stands behind it."""

    row: Row
    anchor: str
    requirement: Requirement | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Requirements that belong together, and how many each runtime meets."""

    name: str
    met: tuple[str, ...]
    lines: tuple[Line, ...]


def summaries(report: Report, rows: Sequence[Row], ledger: Mapping[str, Requirement]) -> tuple[Summary, ...]:
    """Return a summary for each runtime."""
    return tuple(_summary(one, report, rows, ledger) for one in report.header.runtimes)


def _summary(runtime: Runtime, report: Report, rows: Sequence[Row], ledger: Mapping[str, Requirement]) -> Summary:
    statuses = Counter(judged.status for judged in report.cases if judged.runtime == runtime.name)
    of_level = {name: [row for row in rows if row.level == name] for name in _LEVELS}
    bars = tuple(
        (name, met(found, runtime.name), tuple(_parts(counted(found, runtime.name))))
        for name, found in of_level.items()
        if found
    )
    said = level.of(report, runtime, rows, ledger).sentence
    return Summary(runtime, said, bars, tuple(sorted(statuses.items())))


def _parts(words: Counter[Word]) -> Iterator[Part]:
    start, total = 0.0, words.total()
    for word in WORDS:
        if count := words[word]:
            width = round(100 * count / total, 3)
            yield Part(word, count, round(start, 3), width)
            start += width


def groups(report: Report, rows: Sequence[Row], ledger: Mapping[str, Requirement]) -> tuple[Group, ...]:
    """Return the rows of the matrix by group, in the ledger's order."""
    names = [runtime.name for runtime in report.header.runtimes]
    checks: dict[tuple[str, str], list[tuple[Judged, Checked]]] = {}
    for judged in report.cases:
        for check in judged.checks:
            if check.status in _RED:
                checks.setdefault((check.requirement, judged.runtime), []).append((judged, check))
    made = []
    for group, members in groupby(enumerate(rows), key=lambda item: item[1].group):
        found = list(members)
        lines = tuple(
            Line(row, _anchor(at, row, ledger), ledger.get(row.requirement), tuple(_findings(row, names, checks)))
            for at, row in found
        )
        made.append(Group(group, tuple(met([row for _, row in found], name) for name in names), lines))
    return tuple(made)


def _anchor(at: int, row: Row, ledger: Mapping[str, Requirement]) -> str:
    """Return what a link to a requirement names: a stranger's id is no good for that."""
    return row.requirement if row.requirement in ledger else f"other-{at}"


def _findings(
    row: Row, names: Sequence[str], checks: Mapping[tuple[str, str], Sequence[tuple[Judged, Checked]]]
) -> Iterator[Finding]:
    for name in names:
        if found := _evidence(checks.get((row.requirement, name), ())):
            yield Finding(name, row.words[name], tuple(found[:_EXAMPLES]), max(0, len(found) - _EXAMPLES))


def _evidence(found: Iterable[tuple[Judged, Checked]]) -> list[Evidence]:
    """Return the verdicts, failures first; what is the same on several wire formats is said once."""
    wires: dict[tuple[str, Checked], list[str]] = {}
    for judged, check in sorted(found, key=lambda item: _RED.index(item[1].status)):
        wires.setdefault((judged.case, check), []).append(judged.wire)
    return [
        Evidence(case, ", ".join(filter(None, spoken)), f"{check.status} ({check.level})", tuple(_said(check)))
        for (case, check), spoken in wires.items()
    ]


def _said(check: Checked) -> Iterator[tuple[str, str]]:
    texts = (
        ("expected", check.expected),
        ("observed", check.observed),
        ("because", check.why),
        (BASELINED, check.known),
    )
    yield from ((word, shown(text, _LONG)) for word, text in texts if text)
