"""A report as a badge: the JSON that shields.io's endpoint reads, with the level of one runtime in words.

Nothing that was not earned is green: a run that did not end, or judged nothing, gives a badge that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSONObject, as_object, as_text, dumps, loads
from pytest_agentcontract.report import level, standing
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.report.values import Report, Runtime

_LABEL: Final = "agent contract: "
_COLORS: Final[Mapping[str, str]] = {
    level.HIGHEST: "brightgreen",
    level.KNOWN: "green",
    level.PARTLY: "yellow",
    level.BOTH: "yellow",
    level.NOTHING: "lightgrey",
    level.NONE: "red",
}


def badge(report: Report, name: str = "") -> JSONObject:
    """Return the badge of the runtime called `name`; raise UsageError where it can't be told which is meant."""
    runtime = _runtime(report, name)
    ledger = requirements.load(report.header.requirements.set)
    stated = level.of(report, runtime, standing.rows(report, ledger), ledger)
    return _shield(runtime.name, stated.name, _COLORS[stated.name], wrong=stated.name == level.NOTHING)


def unfinished(name: str = "") -> JSONObject:
    """Return the badge where there is no complete report."""
    return _shield(name or "runtime", "not judged to the end", _COLORS[level.NOTHING], wrong=True)


def text(of: JSONObject) -> str:
    """Return the file of a badge: one line."""
    return dumps(of) + "\n"


def is_ours(line: str) -> bool:
    """Tell whether a file with this first line is a badge that was made here."""
    try:
        return as_text(as_object(loads(line)).get("label")).startswith(_LABEL)
    except ValueError:
        return False


def _runtime(report: Report, name: str) -> Runtime:
    found = [one for one in report.header.runtimes if name in ("", one.name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.name for one in report.header.runtimes)
    raise UsageError(
        f"holds no runtime called {name!r}" if name else "is of several runtimes, and a badge is of one",
        where=report.where,
        remedy=f"Name one by --runtime: it holds {known}.",
    )


def _shield(name: str, message: str, color: str, *, wrong: bool) -> JSONObject:
    shield: JSONObject = {"schemaVersion": 1, "label": f"{_LABEL}{harmless(name)}", "message": message, "color": color}
    return shield | ({"isError": True} if wrong else {})
