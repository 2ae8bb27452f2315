"""A report as a stream of JSON lines: a header, one line per case and per check, a footer that closes the account.

A stream without its footer is that of a run which did not come to its end; it is refused as a report.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Self, TextIO, cast

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSONObject, as_list, as_object, dumps
from pytest_agentcontract.report.parity import parity
from pytest_agentcontract.report.records import Record
from pytest_agentcontract.report.values import Report

FORMAT = 2
"""Since 2 a case may say what was seen of its run; reports of format 1 are read as well."""

PLACE = ("case", "runtime", "wire")


class Writer:
    """A report being written, line by line, so that a run that dies leaves what it had found."""

    def __init__(self, file: TextIO, header: JSONObject) -> None:
        self._records: list[Record] = []
        self._file = file
        self._line({"record": "header", "format": FORMAT, **header})

    @classmethod
    def at(cls, path: Path, header: JSONObject) -> Self:
        """Begin a report at a place; raise UsageError where none can be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a file.") from error
        return cls(file, header)

    def add(self, record: Record) -> None:
        """Write one case and its checks."""
        for line in _flattened(record):
            self._line(line)
        self._records.append(record)

    def finish(self, status: int) -> None:
        """Write the footer with the exit status: from here on the report counts as complete."""
        self._line({"record": "footer", **sums(self._records), "exit": status})

    def close(self) -> None:
        """Close the file, with or without a footer in it."""
        self._file.close()

    def _line(self, line: JSONObject) -> None:
        self._file.write(dumps(line) + "\n")
        self._file.flush()


def sums(records: list[Record]) -> JSONObject:
    """Return what records add up to: by status, and over the wire formats."""
    cases = Counter(record["status"] for record in records)
    checks = Counter(check["status"] for record in records for check in record["checks"])
    compared = parity(records)
    return {
        "cases": {status: cases[status] for status in sorted(cases)},
        "checks": {status: checks[status] for status in sorted(checks)},
        "wires": {"compared": compared.cases, "differing": len(compared.disagreements)},
    }


def text(report: Report) -> str:
    """Return the whole stream of a report."""
    file = io.StringIO()
    writer = Writer(file, asdict(report.header))
    for judged in report.cases:
        writer.add(judged.record())
    writer.finish(report.exit)
    return file.getvalue()


def _flattened(record: Record) -> Iterator[JSONObject]:
    whole = cast("JSONObject", dict(record))
    checks = as_list(whole.pop("checks"))
    yield {"record": "case", **whole}
    place = {key: whole[key] for key in PLACE}
    yield from ({"record": "check", **place, **as_object(check)} for check in checks)
