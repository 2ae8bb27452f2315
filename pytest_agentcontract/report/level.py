"""The level of a runtime, in the words of certificates, pages and badges, and each reason why it is not the highest.

A certificate knows the runtime's profile; what a report alone comes to is said by `of`, which never says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.report.header import measured_by
from pytest_agentcontract.report.standing import Row
from pytest_agentcontract.report.tally import Tally, known, tally
from pytest_agentcontract.report.text import counted
from pytest_agentcontract.report.values import Report, Runtime
from pytest_agentcontract.scenario import load_case, load_vectors

HIGHEST: Final = "conformant"
KNOWN: Final = "conformant but for known failures"
PARTLY: Final = "not fully verified"
BOTH: Final = "not fully verified, with known failures"
NOTHING: Final = "nothing verified"
NONE: Final = "not conformant"

RESULTS: Final[Mapping[str, str]] = {
    HIGHEST: "PASSED",
    KNOWN: "WARNED",
    PARTLY: "WARNED",
    BOTH: "WARNED",
    NOTHING: "FAILED",
    NONE: "FAILED",
}
"""Each level, the highest first, and the word for it in a test-result statement."""

_REASONS: Final[Mapping[str, str]] = {
    "failed": "broken",
    "notVerified": "not verified",
    "notJudgeable": "not judged, for the bench had an error",
    "metInPart": "met in part only",
    "notJudged": "not judged by any case that was run",
    "baselined": "broken, as the baseline of known failures says",
}
"""What keeps a MUST from being met."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A level, and what keeps it from being the highest; no reason only where nothing does."""

    name: str
    reasons: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The level and its reasons, without the ids of requirements."""
        brief = "; ".join(reason.partition(": ")[0] for reason in self.reasons)
        return f"{self.name}: {brief}" if brief else self.name


def of(report: Report, runtime: Runtime, rows: Sequence[Row], ledger: Mapping[str, Requirement]) -> Stated:
    """Return the level of a runtime as far as a report tells it: its profile is not known, only what it claims.

    The exit status of a report on several runtimes is that of them all, so that it says nothing of one.
    """
    found = tally(rows, runtime.name, ledger)
    status = report.exit if len(report.header.runtimes) == 1 else 0
    return stated(found, len(known(report, runtime.name)), left_out(report, runtime), status)


def left_out(report: Report, runtime: Runtime) -> int | None:
    """Count the cases of the suite that were not run, on each wire format; None where the report knows other cases.

    Whether the rows of tables are asked of a runtime is told by its profile alone: of them it is known only where some
    were.
    """
    if report.header.requirements.digest != measured_by():
        return None
    judged = {(one.case, one.wire) for one in report.cases if one.runtime == runtime.name}
    rows = {(case.id, "") for case in load_vectors.shipped()}
    whole = {(case.id, wire) for case in load_case.shipped() for wire in runtime.wires}
    return len((whole | rows if rows & judged else whole) - judged)


def stated(tally: Tally, known: int, left_out: int | None, status: int) -> Stated:
    """Return the level for a tally, so many known failures and cases left out, and the exit status of the run.

    Where it is not known how many were left out, the level is no better than with some.
    """
    must = tally["MUST"]
    reasons = (*_of_musts(must), *_of_the_run(must, known, left_out))
    if status > 1 or (status and not reasons):
        reasons = (*reasons, f"the run ended with exit status {status}")
    if must["failed"]:
        return Stated(NONE, reasons)
    if not must["passed"]:
        return Stated(NOTHING, reasons or ("no MUST applies and passes",))
    whole = left_out == 0 and not any(must[bucket] for bucket in _REASONS if bucket not in ("failed", "baselined"))
    if known:
        return Stated(KNOWN if whole else BOTH, reasons)
    return Stated(PARTLY if reasons else HIGHEST, reasons)


def _of_musts(must: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for bucket, words in _REASONS.items():
        if ids := must[bucket]:
            yield f"{counted(len(ids), 'MUST')} {words}: {', '.join(ids)}"


def _of_the_run(must: Mapping[str, Sequence[str]], known: int, left_out: int | None) -> Iterator[str]:
    if known and not must["baselined"]:
        yield f"{counted(known, 'known failure')} in a baseline"
    if left_out is None:
        yield "judged by other cases than are installed here, so that what was left out is not known"
    elif left_out:
        yield f"{counted(left_out, 'case')} of the suite left out (each wire format counts)"
