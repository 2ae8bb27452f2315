"""A line now and then while a long run goes on, for the log of a CI job.

Such a log shows a line once it is whole, and a line of pytest's dots takes seventy-two cases, which may be a quarter of
an hour. On a terminal, and where each item has a line of its own, nothing is added.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import pytest

from pytest_agentcontract.plugin import ROOT

EVERY: Final = 60.0
"""Seconds from one line to the next."""


class Progress:
    """Counts the cases that were judged; under xdist in the controller, to which all reports come."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._begun = self._told = time.monotonic()
        self._planned = self._judged = self._red = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take note of how many cases there are."""
        self._count([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Take note of how many cases there are: each worker collects them all."""
        self._count(ids)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a case, and tell how far the run is, if nobody has been told for long."""
        if not getattr(report, "agent_contract_status", ""):
            return
        self._judged += 1
        self._red += report.failed
        now = time.monotonic()
        if now - self._told >= EVERY and self._judged < self._planned:
            self._told = now
            self._tell(int(now - self._begun))

    def _count(self, ids: Sequence[str]) -> None:
        self._planned = sum(nodeid.startswith(f"{ROOT}::") for nodeid in ids)

    def _tell(self, seconds: int) -> None:
        reporter: pytest.TerminalReporter | None = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or reporter.isatty or reporter.verbosity > 0:
            return
        after = f"{seconds // 60}:{seconds % 60:02}"
        reporter.write_line(f"\nagent contract: {self._judged} of {self._planned} cases after {after}, {self._red} red")
