"""A report as a stream of JSON lines: a header, one line per case and per check, a footer that closes the account.

A stream without its footer is that of a run which did not come to its end; it is refused as a report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

from pytest_agentcontract.errors import ReportError, UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps, loads
from pytest_agentcontract.report.records import Check, Record
from pytest_agentcontract.scenario.schemas import complaints

FORMAT = 1
_PLACE = ("case", "runtime", "wire")
_REMEDY = "A report is written by: pytest --agent-contract --agent-contract-report=FILE"


@dataclass(frozen=True, slots=True)
class Report:
    """A complete report, read back."""

    header: JSONObject
    records: tuple[Record, ...]
    footer: JSONObject


class Writer:
    """A report being written, line by line, so that a run that dies leaves what it had found."""

    def __init__(self, path: Path, header: JSONObject) -> None:
        self._path = path
        self._counts: dict[str, Counter[str]] = {"cases": Counter(), "checks": Counter()}
        self._file = _opened(path)
        self._line({"record": "header", "format": FORMAT, **header})

    def add(self, record: Record) -> None:
        """Write one case and its checks."""
        for line in _flattened(record):
            self._line(line)
        self._counts["cases"][record["status"]] += 1
        self._counts["checks"].update(check["status"] for check in record["checks"])

    def finish(self, footer: JSONObject) -> None:
        """Write the footer: from here on the report counts as complete."""
        counts: JSONObject = {kind: dict(sorted(counted.items())) for kind, counted in self._counts.items()}
        self._line({"record": "footer", **counts, **footer})

    def close(self) -> None:
        """Close the file, with or without a footer in it."""
        self._file.close()

    def _line(self, line: JSONObject) -> None:
        self._file.write(dumps(line) + "\n")
        self._file.flush()


def read(path: Path) -> Report:
    """Read a report; raise ReportError if it is none, is incomplete, or its footer doesn't agree with it."""
    lines = [as_object(line) for line in _lines(path)]
    if not lines or lines[0]["record"] != "header":
        raise ReportError("begins with no header", where=str(path), remedy=_REMEDY)
    if lines[-1]["record"] != "footer":
        raise ReportError(
            "has no footer: the run did not come to its end", where=str(path), remedy="Judge again, to the end."
        )
    if any(line["record"] in ("header", "footer") for line in lines[1:-1]):
        raise ReportError("has a second header or footer", where=str(path), remedy="Keep one report per file.")
    report = Report(lines[0], tuple(_records(lines[1:-1])), lines[-1])
    _agree(path, report)
    return report


def _agree(path: Path, report: Report) -> None:
    cases: JSON = dict(Counter(record["status"] for record in report.records))
    checks: JSON = dict(Counter(check["status"] for record in report.records for check in record["checks"]))
    if (cases, checks) != (report.footer["cases"], report.footer["checks"]):
        raise ReportError(
            "holds other lines than its footer counts", where=str(path), remedy="Judge again: lines are missing."
        )


def _opened(path: Path) -> TextIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a file.") from error


def _flattened(record: Record) -> Iterator[JSONObject]:
    whole = cast("JSONObject", dict(record))
    checks = as_list(whole.pop("checks"))
    yield {"record": "case", **whole}
    place = {key: whole[key] for key in _PLACE}
    yield from ({"record": "check", **place, **as_object(check)} for check in checks)


def _lines(path: Path) -> Iterator[JSON]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ReportError(f"can't be read: {error}", where=str(path), remedy=_REMEDY) from error
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        yield _line(line, f"{path}:{number}")


def _line(text: str, where: str) -> JSON:
    try:
        document = loads(text)
    except ValueError as error:
        raise ReportError(f"not JSON: {error}", where=where, remedy=_REMEDY) from error
    for place, complaint in complaints("report", document):
        raise ReportError(f"{place}: {complaint}", where=where, remedy=_REMEDY)
    return document


def _records(lines: Iterable[JSONObject]) -> Iterator[Record]:
    found: dict[tuple[str, ...], Record] = {}
    for line in lines:
        key = tuple(as_text(line[name]) for name in _PLACE)
        rest = {name: value for name, value in line.items() if name != "record"}
        if line["record"] == "case":
            found[key] = cast("Record", {**rest, "checks": []})
        elif key in found:
            check = {name: value for name, value in rest.items() if name not in _PLACE}
            found[key]["checks"].append(cast("Check", check))
    yield from found.values()
