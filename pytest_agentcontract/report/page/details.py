"""What the page shows on demand: every case with its verdicts, as compact data in which nothing is said twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps
from pytest_agentcontract.report.header import measured_by
from pytest_agentcontract.report.page.pool import Pool, cleaned, shown, shown_value
from pytest_agentcontract.report.page.scripts import told
from pytest_agentcontract.report.standing import PASS, Row
from pytest_agentcontract.report.values import Checked, Judged, Report, Runtime
from pytest_agentcontract.scenario import load_case, load_vectors
from pytest_agentcontract.scenario.case import Case

RUNS: Final = 2_500_000
"""How many bytes of runs a page holds at most: each runtime has the same share of it."""


class _Details:
    """The pools that a page's data consists of, filled case by case."""

    def __init__(self, report: Report, rows: Sequence[Row]) -> None:
        self._known, self._places = _cases(report), dict[str, int]()
        self._requirements = {row.requirement: at for at, row in enumerate(rows)}
        self._texts, self._checks, self._sets = Pool(""), Pool(), Pool()
        self._outcomes, self._cases, self._runs = Pool(None), Pool(), Pool(None)

    def runtime(self, runtime: Runtime, cases: Sequence[Judged], room: int) -> list[JSON]:
        """Return what was found of a runtime; wire formats on which it is the same share an entry."""
        kept = _kept(cases, room)
        found: dict[str, tuple[list[JSON], list[JSON]]] = {}
        for judged in cases:
            row = self._row(judged, run=judged.key in kept)
            _, wires = found.setdefault(dumps(row), (row, []))
            wires.append(runtime.wires.index(judged.wire) if judged.wire else -1)
        return [[row[0], wires, *row[1:]] for row, wires in found.values()]

    def shared(self) -> JSONObject:
        """Return what the entries refer to."""
        return {
            "texts": self._texts.values,
            "checks": self._checks.values,
            "sets": self._sets.values,
            "outcomes": self._outcomes.values,
            "cases": self._cases.values,
            "runs": self._runs.values,
        }

    def _row(self, judged: Judged, *, run: bool) -> list[JSON]:
        """Return case, status, checks, outcome, why, command, run, warnings, each by its place."""
        return [
            self._case(judged.case),
            judged.status,
            self._sets.place([self._checks.place(self._check(check)) for check in judged.checks]),
            self._outcomes.place(shown_value(judged.outcome)),
            self._text(judged.why),
            self._text(_template(judged)),
            self._runs.place(cleaned(judged.seen)) if run else 0 if judged.seen is None else -1,
            [self._text(warning) for warning in judged.warnings],
        ]

    def _case(self, name: str) -> int:
        if name not in self._places:
            known = self._known.get(name)
            said = told(known) if known else {}
            for part in ("title", "why"):  # rows of one table of vectors share them
                said[part] = self._text(str(said.get(part, "")))
            self._places[name] = self._cases.place({"id": shown(name), **said})
        return self._places[name]

    def _check(self, check: Checked) -> list[JSON]:
        """Return a verdict: what lies behind a pass is left out."""
        said = (check.expected, check.observed, check.why, check.known) if check.status != PASS else ()
        return [self._requirements[check.requirement], check.level, check.status, *map(self._text, said)]

    def _text(self, text: str) -> int:
        return self._texts.place(shown(text))


def details(report: Report, rows: Sequence[Row], ledger: Mapping[str, Requirement]) -> JSONObject:
    """Return the data of a page; the same report gives the same."""
    made = _Details(report, rows)
    runtimes = report.header.runtimes
    found = [
        made.runtime(one, [case for case in report.cases if case.runtime == one.name], RUNS // len(runtimes))
        for one in runtimes
    ]
    return {
        "runtimes": [{"name": shown(one.name), "wires": [shown(wire) for wire in one.wires]} for one in runtimes],
        "requirements": [_requirement(row, ledger.get(row.requirement)) for row in rows],
        "found": [*found],
        **made.shared(),
    }


def _requirement(row: Row, known: Requirement | None) -> JSONObject:
    said = {"text": known.text, "source": known.source, "reading": known.interpretation} if known else {}
    return {"id": shown(row.requirement), "level": row.level, "group": row.group, **said}


def _cases(report: Report) -> Mapping[str, Case]:
    """Return the shipped cases, if they are those that the report was judged by."""
    if report.header.requirements.digest != measured_by():
        return {}
    return {case.id: case for case in (*load_case.shipped(), *load_vectors.shipped())}


def _kept(cases: Sequence[Judged], room: int) -> frozenset[tuple[str, str, str]]:
    """Choose the runs that fit: one of each case first, then those on further wire formats."""
    first: set[str] = set()
    orders: tuple[list[Judged], list[Judged]] = ([], [])
    for judged in cases:
        if judged.seen is not None:
            orders[judged.case in first].append(judged)
            first.add(judged.case)
    return frozenset(_fitting([*orders[0], *orders[1]], room))


def _fitting(cases: Sequence[Judged], room: int) -> Iterator[tuple[str, str, str]]:
    for judged in cases:
        room -= len(dumps(cleaned(judged.seen)).encode())
        if room < 0:
            return
        yield judged.key


def _template(judged: Judged) -> str:
    """Return the command that judges a case again, with the case, the runtime and the wire format taken out of it."""
    whole = judged.reproduce
    parts = {"{case}": judged.case.partition("/")[2], "{runtime}": judged.runtime, "{wire}": judged.wire}
    short = whole
    for place, part in parts.items():
        short = short.replace(part, place) if part else short
    back = short
    for place, part in parts.items():
        back = back.replace(place, part)
    return short if back == whole else whole
