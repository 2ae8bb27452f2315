"""A report as a page of Markdown: requirements by runtimes, totals, and what lies behind each verdict that is no pass.

The same verdicts give the same bytes, so that a changed verdict is a line of a diff: no times, no places, and made-up
values by their kinds. The page stays below what a CI job summary may hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.report import evidence
from pytest_agentcontract.report.inline import name
from pytest_agentcontract.report.parity import parity
from pytest_agentcontract.report.records import CaseStatus
from pytest_agentcontract.report.standing import (
    BASELINED,
    NOT_APPLICABLE,
    PASS,
    UNJUDGED,
    WORDS,
    Row,
    counted,
    met,
    rows,
)
from pytest_agentcontract.report.text import counted as number_of
from pytest_agentcontract.report.values import Header, Judged, Report, Runtime

MARK: Final = "<!-- Made by: agent-contract report markdown -->"
"""The first line of every page: by it a file is known as one that may be written anew."""

LIMIT: Final = 1_000_000
NOTE: Final = 200
"""More bytes than the line takes that counts what is left out."""

NAME: Final = 80
"""The longest name that stands as it is."""

_DIGEST = len("sha256:") + 12
_QUIET = (PASS, NOT_APPLICABLE, UNJUDGED)
_CASES: Mapping[CaseStatus, str] = {
    "pass": PASS,
    "error": "error",
    "fail": "fail",
    "not-verified": "not-verified",
    "known": BASELINED,
    "should-not-met": "should not met",
    "not-applicable": NOT_APPLICABLE,
}


def page(report: Report, *, limit: int = LIMIT) -> str:
    """Return the page of a report; raise UsageError for a set of requirements that this suite doesn't know.

    It has less than `limit` bytes: what is left out of the evidence is counted. Raise ReportError if the tables alone
    have more.
    """
    runtimes = sorted(report.header.runtimes, key=lambda runtime: runtime.name)
    found = rows(report, requirements.load(report.header.requirements.set))
    cases = {runtime.name: [one for one in report.cases if one.runtime == runtime.name] for runtime in runtimes}
    tables = "\n".join(
        [*head(report.header), *_totals(runtimes, found, cases), *matrix(runtimes, found), "## Not met", ""]
    )
    headings = [f"### {title(runtime)}\n" for runtime in runtimes]
    room = limit - size(tables) - sum(size(heading) + NOTE for heading in headings)
    if room < 0:
        raise ReportError(
            f"{number_of(len(runtimes), 'runtime')} don't fit on a page of {limit} bytes",
            where=report.where,
            remedy="Make a page of fewer reports.",
        )
    behind = [list(evidence.lines(runtime, cases[runtime.name], found)) for runtime in runtimes]
    kept = fitting(behind, room)
    parts = ["\n".join([heading, *lines]) + "\n" for heading, lines in zip(headings, kept, strict=True)]
    return "\n".join([tables, *parts])


def head(header: Header) -> Iterator[str]:
    """Yield the first lines of a page: what was judged by, and how the words are meant."""
    measured = header.requirements
    own = f", and own cases ({measured.own[:_DIGEST]})" if measured.own else ""
    yield from (MARK, "# Verdicts", "")
    yield f"Judged by pytest-agentcontract {name(header.suite.version, NAME)}, by the requirements {measured.set} and"
    yield f"their cases ({measured.digest[:_DIGEST]}){own}. A SHOULD that is not met"
    yield f"turns its case {'red: the runs were strict' if header.strict else 'into a warning'}."
    yield ""
    yield "A requirement passes if it passed somewhere and nothing speaks against it anywhere. What is not-verified,"
    yield "baselined or not judged is no pass: it counts among what a runtime is to meet, and not among what it meets."
    yield ""


def _totals(runtimes: Sequence[Runtime], found: Sequence[Row], cases: Mapping[str, Sequence[Judged]]) -> Iterator[str]:
    yield from ("## Totals", "", *_heading(["of"], runtimes))
    names = [runtime.name for runtime in runtimes]
    for level in ("MUST", "SHOULD", "MAY"):
        rows_of = [row for row in found if row.level == level]
        if rows_of:
            yield line([f"**{level} met**"], [f"**{met(rows_of, one)}**" for one in names])
            counts = [counted(rows_of, one) for one in names]
            yield from _numbers(level, WORDS, counts)
    yield from _numbers("cases", _CASES.values(), [Counter(_CASES[one.status] for one in cases[key]) for key in names])
    compared = [parity([one.record() for one in cases[key]]) for key in names]
    several = [f"{len(one.disagreements)} of {one.cases}" if one.cases else "-" for one in compared]
    yield line(["cases that differ by wire format"], several)
    yield ""


def _numbers(of: str, words: Iterable[str], counts: Sequence[Counter[str]]) -> Iterator[str]:
    for word in words:
        if any(count[word] for count in counts):
            yield line([f"{of}: {word}"], [str(count[word]) for count in counts])


def matrix(runtimes: Sequence[Runtime], found: Sequence[Row]) -> Iterator[str]:
    """Yield the table of requirements by runtimes, with what each group comes to."""
    yield from ("## Requirements", "", *_heading(["requirement", "level"], runtimes))
    for group, members in groupby(found, key=lambda row: row.group):
        within = list(members)
        yield line([f"**{group}**", ""], [f"**{met(within, runtime.name)}**" for runtime in runtimes])
        for row in within:
            words = [row.words[runtime.name] for runtime in runtimes]
            cells = [word if word in _QUIET else f"**{word}**" for word in words]
            yield line([name(row.requirement, NAME), row.level], cells)
    yield ""


def _heading(first: Sequence[str], runtimes: Sequence[Runtime]) -> Iterator[str]:
    yield line(first, [title(runtime) for runtime in runtimes])
    yield "|" + "---|" * (len(first) + len(runtimes))


def line(first: Sequence[str], cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join([*first, *cells])} |"


def title(runtime: Runtime) -> str:
    """Return a runtime's name and exact version."""
    return f"{name(runtime.name, NAME)} {name(runtime.version, NAME) if runtime.version else '(version unknown)'}"


def fitting(sections: Sequence[Sequence[str]], room: int) -> list[list[str]]:
    """Cut sections to what room there is, in equal shares; what a short one leaves is the others'."""
    kept: list[list[str]] = [[] for _ in sections]
    order = sorted(range(len(sections)), key=lambda at: (sum(map(size, sections[at])), at))
    for rank, at in enumerate(order):
        share = room // (len(order) - rank)
        left = share
        for line in sections[at]:
            left -= size(line)
            if left < 0:
                break
            kept[at].append(line)
        room -= sum(map(size, kept[at]))
        if missing := len(sections[at]) - len(kept[at]):
            kept[at] += [
                "",
                f"{number_of(missing, 'further line')} left out: the page is kept small, the report has all.",
            ]
        elif not kept[at]:
            kept[at].append("Nothing: all that applies is met.")
    return kept


def size(line: str) -> int:
    """Return how many bytes a line takes."""
    return len(line.encode()) + 1
