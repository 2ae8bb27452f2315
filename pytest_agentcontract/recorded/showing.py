"""A cassette for people and for programs: a row for each exchange, and one exchange whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_agentcontract.cassette.exchange import Headers
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps, loads
from pytest_agentcontract.recorded.reading import Reading
from pytest_agentcontract.report.catalogue import table
from pytest_agentcontract.report.text import counted, harmless, indented, shortened
from pytest_agentcontract.report.wirelog import answering, asking
from pytest_agentcontract.wire.faults import ErrorFault, StatusFault

_WIDTH: Final = 60
_LONGEST_NAME: Final = 32


def lines(readings: Sequence[Reading]) -> Iterator[str]:
    """Yield an aligned table, a line for each exchange below the names of its columns; nothing of nothing."""
    if readings:
        yield from table([_short(reading) for reading in readings], headed=True)


def row(reading: Reading) -> JSONObject:
    """Return what there is to say of an exchange, in full."""
    recorded = reading.recorded
    return {
        "exchange": reading.number,
        "method": recorded.method,
        "url": recorded.url,
        "kind": reading.kind,
        "wire": reading.wire or None,
        "model": reading.request.model if reading.request else None,
        "status": recorded.status or None,
        "ending": recorded.ending,
        "pieces": len(recorded.pieces),
        "bytes": len(recorded.body),
        "seconds": _seconds(reading),
        "asked": asking(reading.request) if reading.request else None,
        "answered": _answered(reading),
        "problem": reading.problem or None,
    }


def whole(reading: Reading) -> Iterator[str]:
    """Yield the lines of one exchange with its headers and bodies."""
    recorded = reading.recorded
    yield harmless(f"{recorded.method} {recorded.url}")
    yield from _headed(recorded.request_headers, recorded.request_body)
    pieces = f"{counted(len(recorded.pieces), 'piece')} in {_seconds(reading):g} s, {recorded.ending}"
    if not recorded.status:
        yield f"no answer began: {pieces}"
        return
    yield harmless(f"{recorded.status} {recorded.reason}".rstrip() + f": {pieces}")
    yield from _headed(recorded.headers, recorded.body)
    if reading.problem:
        yield harmless(reading.problem)


def _short(reading: Reading) -> Mapping[str, str | int]:
    told = row(reading)
    asked = told["asked"] or f"{told['method']} {told['url']}"
    return {
        "#": reading.number,
        "wire": reading.wire or "-",
        "model": _cell(told["model"], _LONGEST_NAME),
        "status": reading.recorded.status or "-",
        "ending": reading.recorded.ending,
        "pieces": len(reading.recorded.pieces),
        "seconds": f"{_seconds(reading):.2f}",
        "asked": _cell(asked, _WIDTH),
        "answered": _cell(told["answered"], _WIDTH),
    }


def _cell(value: JSON, width: int) -> str:
    return shortened(harmless(value), width) if isinstance(value, str) and value else "-"


def _answered(reading: Reading) -> str | None:
    """Say what was answered, and what struck it."""
    said = answering(reading.turn) if reading.turn else ""
    struck = reading.fault.message if isinstance(reading.fault, StatusFault | ErrorFault) else ""
    problem = reading.problem if reading.kind == "model" else ""
    parts = [part for part in (said, struck, problem) if part]
    return "; ".join(parts) or None


def _seconds(reading: Reading) -> float:
    return round(sum(piece.gap for piece in reading.recorded.pieces), 6)


def _headed(headers: Headers, body: bytes) -> Iterator[str]:
    yield from (harmless(f"    {name}: {value}") for name, value in headers)
    if body:
        yield ""
        yield indented(harmless(_readable(body)).rstrip("\n"))
    yield ""


def _readable(body: bytes) -> str:
    """Return a body as text: a JSON document indented, bytes that are no UTF-8 as escapes."""
    try:
        return dumps(loads(body), indent=2)
    except ValueError:
        return body.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
