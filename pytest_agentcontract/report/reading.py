"""A report read strictly: whoever judges by one must not take half of it, or something else, for the whole.

Refused, with the file and where it can be the line: what is no JSON or says a key twice, a kind of line that there is
none of, a stream without its footer, footers that count what is not there, cases judged twice, or of a runtime that the
header doesn't name, and cases that are said to be better than their checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.jsonvalue import JSONObject, as_text, equal, loads
from pytest_agentcontract.report.stream import PLACE, sums
from pytest_agentcontract.report.values import (
    Checked,
    Header,
    Judged,
    Key,
    Measured,
    Platform,
    Release,
    Report,
    Runtime,
    Suite,
)
from pytest_agentcontract.scenario.quick import surely_conforms
from pytest_agentcontract.scenario.schemas import complaints

REMEDY = "A report is written by: pytest --agent-contract --agent-contract-report=FILE"
_KINDS = ("header", "case", "check", "footer")
_MISMATCH = "Judge again: lines are missing, or were changed."

_Line: TypeAlias = tuple[str, dict[str, Any]]
"""Where a line stands, and what it says."""


def read(path: Path) -> Report:
    """Read a report; raise ReportError if it is none, is incomplete, or does not agree with itself."""
    return parse(content(path), str(path))


def content(path: Path) -> bytes:
    """Return the bytes of a file that is to be a report; raise ReportError where it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReportError(f"can't be read: {error.strerror}", where=str(path), remedy=REMEDY) from error


def parse(text: bytes, where: str) -> Report:
    """Make a report of the bytes of its file, which `where` names; raise ReportError as `read` does."""
    lines = list(_lines(text, where))
    kinds = [line["record"] for _, line in lines]
    if kinds[:1] != ["header"]:
        raise ReportError("begins with no header", where=where, remedy=REMEDY)
    if kinds[-1] != "footer":
        raise ReportError(
            "has no footer: the run did not come to its end", where=where, remedy="Judge again, to the end."
        )
    for (place, _), kind in zip(lines[1:-1], kinds[1:-1], strict=True):
        if kind in ("header", "footer"):
            raise ReportError("has a second header or footer", where=place, remedy="Keep one report per file.")
    header = _header(*lines[0])
    cases = tuple(_cases(lines[1:-1], header))
    footer = lines[-1][1]
    _agree(cases, footer, where)
    return Report(header, cases, footer["exit"], where)


def is_header(line: str) -> bool:
    """Tell whether a line begins a report, whatever has become of the rest."""
    try:
        return _line(line.encode(), "")["record"] == "header"
    except ReportError:
        return False


def _lines(text: bytes, where: str) -> Iterator[_Line]:
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), 1):
        place = f"{where}:{number}"
        yield place, _line(line, place)


def _line(text: bytes, where: str) -> JSONObject:
    if not text:
        raise ReportError("is empty", where=where, remedy=REMEDY)
    try:
        document = loads(text.decode("utf-8"))
    except ValueError as error:
        raise ReportError(f"not JSON: {error}", where=where, remedy=REMEDY) from error
    if not isinstance(document, dict):
        raise ReportError("is not of type 'object'", where=where, remedy=REMEDY)
    kind = as_text(document.get("record"))
    if kind not in _KINDS:
        known = ", ".join(_KINDS)
        raise ReportError(f"no kind of line: {kind!r}", where=where, remedy=f"There are {known}. {REMEDY}")
    for place, complaint in () if surely_conforms("report", document, kind) else complaints("report", document, kind):
        raise ReportError(f"{place}: {complaint}", where=where, remedy=REMEDY)
    return document


def _header(where: str, line: Mapping[str, Any]) -> Header:
    runtimes = tuple(map(_runtime, line["runtimes"]))
    names = [runtime.name for runtime in runtimes]
    for name in names:
        if names.count(name) > 1:
            raise ReportError(f"names the runtime {name} twice", where=where, remedy=REMEDY)
    return Header(
        Suite(**line["suite"]),
        Measured(**line["requirements"]),
        Release(**line["release"]),
        line["strict"],
        runtimes,
    )


def _runtime(data: Mapping[str, Any]) -> Runtime:
    values = {
        "wires": tuple(data["wires"]),
        "capabilities": tuple(data["capabilities"]),
        "platform": Platform(**data["platform"]),
    }
    return Runtime(**{**data, **values})


def _cases(lines: Sequence[_Line], header: Header) -> Iterator[Judged]:
    """Yield the cases, each with its checks."""
    wires = {runtime.name: ("", *runtime.wires) for runtime in header.runtimes}
    found: dict[Key, tuple[str, dict[str, Any], list[Checked]]] = {}
    for where, line in lines:
        key = (line["runtime"], line["case"], line["wire"])
        words = " ".join(filter(None, (line["case"], "on", line["runtime"], line["wire"])))
        if line["record"] == "check":
            if key not in found:
                raise ReportError(f"a check of {words}, which has not been judged", where=where, remedy=_MISMATCH)
            rest = {name: value for name, value in line.items() if name not in ("record", *PLACE)}
            found[key][2].append(Checked(**rest))
            continue
        if key in found:
            raise ReportError(f"judges {words} a second time", where=where, remedy="Judge each case once in a run.")
        if line["wire"] not in wires.get(line["runtime"], ()):
            raise ReportError(f"judges {words}, which the header doesn't name", where=where, remedy=REMEDY)
        found[key] = (where, {name: value for name, value in line.items() if name != "record"}, [])
    for where, case, checks in found.values():
        judged = Judged(**{**case, "warnings": tuple(case["warnings"]), "checks": tuple(checks)})
        _not_embellished(judged, header, where)
        yield judged


def _not_embellished(judged: Judged, header: Header, where: str) -> None:
    """Refuse a case that is said to be met, or known, against one of its checks."""
    if judged.status in ("fail", "not-verified", "error"):
        return
    for check in judged.checks:
        excused = check.known and judged.status == "known" and check.status != "error"
        if check.breaks(strict=header.strict) and not excused:
            words = f"says {judged.status} of {judged.case}, and {check.status} of its {check.requirement}"
            raise ReportError(words, where=where, remedy=_MISMATCH)


def _agree(cases: Sequence[Judged], footer: JSONObject, where: str) -> None:
    """Refuse a footer that counts something else than the report holds."""
    for field, found in sums([judged.record() for judged in cases]).items():
        if not equal(footer[field], found):
            raise ReportError(
                f"holds other lines than its footer counts ({field}: {footer[field]} counted, {found} found)",
                where=where,
                remedy=_MISMATCH,
            )
