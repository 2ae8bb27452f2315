"""Where the items of one pytest process are judged: one scripted provider, one way of reading verdicts."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_agentcontract.conformance.baseline import Baseline
from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.conformance.verdict import RED, CaseReport, Verdict
from pytest_agentcontract.errors import AgentContractError
from pytest_agentcontract.plugin.outcomes import Outcomes
from pytest_agentcontract.plugin.selection import Planned
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.report.explain import explain, headline
from pytest_agentcontract.report.records import Record
from pytest_agentcontract.report.seen import seen
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.report.verdicts import case_status, check, unmet, warnings

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

_KEY = pytest.StashKey["Bench"]()


@dataclass(frozen=True, slots=True)
class Judged:
    """One case, judged: its record, and the explanation of whatever is not met."""

    record: Record
    text: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """By what is judged: the requirements, the known failures, how strictly, for how long.

    `options` are what a command line that judges a case again has to repeat.
    """

    requirements: Mapping[str, Requirement]
    baseline: Baseline | None
    outcomes: Outcomes
    strict: bool = False
    timeout: float | None = None
    artifacts: Path | None = None
    options: tuple[str, ...] = ()


class Bench:
    """What all items of one process share."""

    def __init__(self, measure: Measure) -> None:
        self._measure = measure
        self._provider: Provider | None = None
        self._room = ExitStack()

    @classmethod
    def of(cls, config: pytest.Config) -> Bench:
        """Return the bench of a pytest process."""
        return config.stash[_KEY]

    def install(self, config: pytest.Config) -> None:
        """Make this the bench of a pytest process, cleared away at its end."""
        config.stash[_KEY] = self
        config.add_cleanup(self._room.close)

    def judge(self, planned: Planned, snapshot: Callable[[], SnapshotAssertion]) -> Judged:
        """Run one case, and say what has become of it."""
        measure = self._measure
        try:
            report = run_case(
                planned.case,
                planned.profile,
                planned.wire,
                self._open_provider(),
                timeout=measure.timeout,
                artifacts=measure.artifacts,
            )
        except AgentContractError as error:
            return self._unjudged(planned, str(error))
        return self._read(planned, report, snapshot)

    def _read(self, planned: Planned, report: CaseReport, snapshot: Callable[[], SnapshotAssertion]) -> Judged:
        measure = self._measure
        red = unmet(report.verdicts, strict=measure.strict)
        known = [self._known(planned, verdict) for verdict in red]
        record = _record(planned, measure.options)
        record["status"] = case_status(report.verdicts, red, known)
        record["why"] = harmless(_why(record["status"], report.verdicts, red, known))
        record["seconds"] = round(report.seconds, 4)
        record["outcome"] = dict(report.outcome) or None
        record["checks"] = [check(verdict, self._known(planned, verdict)) for verdict in report.verdicts]
        record["warnings"] = warnings(report.verdicts, strict=measure.strict)
        difference = measure.outcomes.compare(planned, record, snapshot)
        if record["status"] not in ("pass", "not-applicable") and (run := seen(report)):
            record["seen"] = run
        if record["status"] in ("pass", "not-applicable", "known", "should-not-met"):
            return Judged(record)
        return Judged(record, explain(report, red, measure.requirements, difference, record["reproduce"]))

    def _unjudged(self, planned: Planned, complaint: str) -> Judged:
        """Say of each requirement of a case that it could not be judged: it must not look met by other cases alone."""
        ledger, record = self._measure.requirements, _record(planned, self._measure.options)
        covered = dict.fromkeys(cover.requirement for cover in planned.case.covers)
        rows = [ledger[name] for name in covered if name in ledger]
        record["why"] = harmless(complaint)
        record["checks"] = [check(Verdict(row.id, row.level, "error", why=complaint), "") for row in rows]
        return Judged(record, f"{record['why']}\nreproduce: {record['reproduce']}")

    def _known(self, planned: Planned, verdict: Verdict) -> str:
        baseline = self._measure.baseline
        if baseline is None or baseline.runtime != planned.profile.name or not verdict.breaks(strict=True):
            return ""
        return baseline.reason(planned.case.id, verdict.requirement, planned.wire)

    def _open_provider(self) -> Provider:
        if self._provider is None:
            self._provider = self._room.enter_context(Provider())
        return self._provider


def reproducer(planned: Planned, options: Sequence[str] = ()) -> str:
    """Return a command line that judges one case again."""
    return shlex.join(["pytest", planned.nodeid, f"--agent-contract-runtime={planned.profile.name}", *options])


def _record(planned: Planned, options: Sequence[str]) -> Record:
    return Record(
        case=planned.case.id,
        runtime=planned.profile.name,
        wire=planned.wire,
        status="error",
        why="",
        seconds=0.0,
        outcome=None,
        checks=[],
        warnings=[],
        reproduce=reproducer(planned, options),
    )


def _why(status: str, verdicts: tuple[Verdict, ...], red: tuple[Verdict, ...], known: list[str]) -> str:
    if status == "known":
        return "; ".join(dict.fromkeys(known))
    if status == "not-applicable":
        return "; ".join(dict.fromkeys(verdict.why for verdict in verdicts if verdict.why))
    return headline(red or [verdict for verdict in verdicts if verdict.status in RED])
