"""The account of a whole run, kept where the terminal is: records, report, baseline, exit status, last word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from pytest_agentcontract import __version__
from pytest_agentcontract.conformance.baseline import Known, Seen, kept, write_baseline
from pytest_agentcontract.drivers import base
from pytest_agentcontract.errors import AgentContractError
from pytest_agentcontract.jsonvalue import as_object, loads
from pytest_agentcontract.plugin import ROOT, places, summary
from pytest_agentcontract.plugin.bench import Measure
from pytest_agentcontract.plugin.runtimes import Runtimes, is_embedded
from pytest_agentcontract.plugin.settings import Settings
from pytest_agentcontract.report import header, placing, reading
from pytest_agentcontract.report.coverage import Declared, silent
from pytest_agentcontract.report.exits import BASELINE_OUTDATED, NOTHING_VERIFIED, SILENT, WIRES_DISAGREE
from pytest_agentcontract.report.parity import parity
from pytest_agentcontract.report.records import Record
from pytest_agentcontract.report.stream import Writer
from pytest_agentcontract.scenario.profile import Profile

_UNFINISHED = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


class Account:
    """What is known of a run so far; under xdist it stands in the controller, and the records come to it on reports."""

    def __init__(
        self, config: pytest.Config, settings: Settings, chosen: Runtimes, measure: Measure, declared: Declared
    ) -> None:
        self._config, self._settings, self._chosen, self._measure = config, settings, chosen, measure
        self._declared = declared
        self._silences: list[str] = []
        self._records: dict[str, Record] = {}
        self._without: set[str] = set()
        self._complaints: list[str] = []
        self._notes: list[str] = []
        self._writer: Writer | None = None
        self._before: tuple[Known, ...] = ()

    def open(self) -> None:
        """Open the report, if one is asked for: a place that can't be used is told before anything runs."""
        settings = self._settings
        if settings.artifacts:
            places.folder(settings.artifacts)
        if settings.write_baseline:
            places.file(settings.write_baseline)
            self._before = kept(settings.write_baseline, self._chosen.profiles[0])
        if settings.report:
            placing.ours(settings.report, reading.is_header)
            runtimes = [(profile, _version(profile), is_embedded(profile.name)) for profile in self._chosen.profiles]
            chosen = self._chosen
            head = header.header(runtimes, chosen.requirements, chosen.cases, strict=self._measure.strict)
            self._writer = Writer.at(settings.report, head)
            self._config.add_cleanup(self._writer.close)

    @property
    def records(self) -> tuple[Record, ...]:
        """The records so far, in a reader's order."""
        return tuple(self._records[nodeid] for nodeid in sorted(self._records))

    def pytest_report_header(self) -> str:
        """Name the runtime before the first case runs."""
        return summary.first_line(self._chosen)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in the record that an item's report carries, or note that there is none."""
        if not report.nodeid.startswith(f"{ROOT}::"):
            return
        text: str | None = getattr(report, "agent_contract", None)
        if text and report.nodeid not in self._records:
            record = cast("Record", as_object(loads(text)))
            self._records[report.nodeid] = record
            if self._writer:
                self._writer.add(record)
        elif report.failed:
            self._without.add(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Settle the baseline, the exit status and the report, after everyone else has had his say."""
        if self._config.option.collectonly:
            return
        finished = not (session.shouldfail or session.shouldstop or session.exitstatus in _UNFINISHED)
        if finished:
            self._complaints += self._stale()
            self._complaints += self._written()
            self._silences += silent(self.records, self._declared)
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = self._status()
        if finished and self._writer and not self._without:
            self._writer.finish(int(session.exitstatus))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the matrix, what is not met, what is remarkable."""
        if self._config.option.collectonly:
            return
        terminalreporter.section("agent contract")
        for line, markup in summary.body(self.records, self._measure.requirements):
            terminalreporter.write_line(line, **markup)
        for note in self._notes:
            terminalreporter.write_line(note)
        for complaint in (*self._silences, *self._complaints):
            terminalreporter.write_line(complaint, red=True)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Say last, after pytest's own totals, what was judged."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and not self._config.option.collectonly:
            reporter.write_line(summary.last_line(self._chosen, self.records, len(self._declared.by_case)))

    def _status(self) -> int:
        if not self._records:
            return pytest.ExitCode.NO_TESTS_COLLECTED
        if not any(summary.is_judged(record) for record in self._records.values()):
            return NOTHING_VERIFIED
        if self._silences:
            return SILENT
        if self._complaints:
            return BASELINE_OUTDATED
        differ = self._measure.strict and parity(self.records).disagreements
        return WIRES_DISAGREE if differ else pytest.ExitCode.OK

    def _stale(self) -> tuple[str, ...]:
        """Name the known failures that did not happen, wherever their case was judged to its end."""
        baseline = self._measure.baseline
        return baseline.stale(self._seen(), self._whole()) if baseline else ()

    def _written(self) -> Iterator[str]:
        """Write the failures of this run down where that is asked for; yield what came in the way."""
        if self._settings.write_baseline is None:
            return
        path, profile = self._settings.write_baseline, self._chosen.profiles[0]
        before = (*self._before, *(self._measure.baseline.known if self._measure.baseline else ()))
        try:
            count = write_baseline(path, profile, self._seen(), self._whole(), before)
        except AgentContractError as error:
            yield str(error)
        else:
            self._notes.append(f"{path}: {count} known failures written down; give each its reason")

    def _whole(self) -> list[tuple[str, str]]:
        return [(record["case"], record["wire"]) for record in self.records if record["status"] != "error"]

    def _seen(self) -> Iterator[Seen]:
        for record in self.records:
            for check in record["checks"]:
                yield Seen(record["case"], check["requirement"], record["wire"], check["status"])


def _version(profile: Profile) -> str:
    return __version__ if is_embedded(profile.name) else base.version(profile)
