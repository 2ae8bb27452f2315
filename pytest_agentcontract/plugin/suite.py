"""The suite in a pytest process: set up from the options, collected beside the user's files, judged item by item."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import pytest

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.baseline import Baseline, load_baseline
from pytest_agentcontract.drivers.preparation import missing_program
from pytest_agentcontract.errors import AgentContractError, UsageError
from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.plugin import own_case, rootdir, runtimes
from pytest_agentcontract.plugin.account import Account
from pytest_agentcontract.plugin.bench import Bench, Measure
from pytest_agentcontract.plugin.collection import Item, Root
from pytest_agentcontract.plugin.outcomes import Outcomes
from pytest_agentcontract.plugin.progress import Progress
from pytest_agentcontract.plugin.selection import Planned, plan
from pytest_agentcontract.plugin.settings import Settings
from pytest_agentcontract.report.coverage import Declared
from pytest_agentcontract.scenario import config_lines, load_case, load_vectors
from pytest_agentcontract.scenario.case import Case

_WORDS = {
    "not-applicable": ("not applicable", "n", ("N/A", {"cyan": True})),
    "not-verified": ("failed", "V", "NOT VERIFIED"),
    "should-not-met": ("should not met", "w", ("SHOULD NOT MET", {"yellow": True})),
}

_YOUNG: Final = 5_000
"""How many objects more than before make the garbage collector look, while items run."""


def register(config: pytest.Config) -> None:
    """Set the suite up and register it; whatever the user got wrong is told here, before anything runs."""
    if str(config.rootpath) not in sys.path:
        sys.path.append(str(config.rootpath))  # where `module:function` and a profile's `entry` are found
    controls = not hasattr(config, "workerinput")
    try:
        if controls:
            rootdir.check(config)
        suite = Suite.of(config)
        if controls:
            suite.account.open()
            config.pluginmanager.register(suite.account, "agent-contract-account")
            config.pluginmanager.register(Progress(config), "agent-contract-progress")
    except AgentContractError as error:
        raise pytest.UsageError(str(error)) from error
    config.pluginmanager.register(suite, "agent-contract-suite")
    config.add_cleanup(_garbage_as_before())


@dataclass(frozen=True, eq=False)  # a plugin is hashed by pluggy, and is the one it is
class Suite:
    """What runs in every process, the workers of xdist among them."""

    planned: tuple[Planned, ...]
    account: Account

    @classmethod
    def of(cls, config: pytest.Config) -> Suite:
        """Read options and configuration; raise UsageError or DataError for whatever can't be meant."""
        settings = Settings.of(config)
        if not config.pluginmanager.hasplugin("syrupy"):
            raise UsageError("outcomes are held against syrupy snapshots", remedy="Leave out -p no:syrupy.")
        chosen = runtimes.resolve(
            settings.runtimes,
            root=config.rootpath,
            offered=lambda: config.hook.pytest_agentcontract_runtimes(config=config),
            ci=os.environ.get("CI", "").lower() in ("true", "1"),
        )
        _startable(chosen, config.rootpath / runtimes.CONFIG)
        ledger = requirements.load(chosen.requirements or requirements.CURRENT)
        own = own_case.load_folder(chosen.cases) if chosen.cases else ()
        # By contract: the items of one group stand together.
        cases = tuple(sorted((*load_case.shipped(), *load_vectors.shipped(), *own), key=lambda case: case.contract))
        planned = plan(cases, chosen.profiles, settings.wires, settings.selected)
        baseline = _baseline(settings, chosen, cases)
        measure = Measure(
            ledger,
            baseline,
            Outcomes(chosen.snapshots),
            settings.strict,
            settings.timeout,
            settings.artifacts,
            rootdir.options(config),
        )
        Bench(measure).install(config)
        return cls(
            planned,
            Account(
                config, settings, chosen, measure, Declared.of([item.case for item in planned], cases, ledger.values())
            ),
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Add the suite to what the session has collected."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*(report.result or ()), Root.build(collector, self.planned)]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Run the items beside a garbage collector that looks at little."""
        gc.freeze()
        gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the record travel on the report: as JSON text, which no payload of a runtime's can make unsendable."""
        report = yield
        if isinstance(item, Item) and call.when == "call" and item.judged:
            record = item.judged.record
            vars(report).update(agent_contract=dumps(cast("JSON", record)), agent_contract_status=record["status"])
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, object] | None:
        """Give the verdicts that pytest has no word for their own."""
        status = getattr(report, "agent_contract_status", "")
        return _WORDS.get(status) if report.outcome in ("failed", "skipped") else None


def _garbage_as_before() -> Callable[[], None]:
    """Return what takes back how little garbage is looked for.

    What collecting the tests has made lives to the end, and is most there is: while items run it is left out, and from
    what pytest collects after them, five times, as well.
    """
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()

    def restore() -> None:
        if not frozen:  # by somebody else, who wants it so
            gc.unfreeze()
        gc.set_threshold(*thresholds)

    return restore


def _startable(chosen: runtimes.Runtimes, path: Path) -> None:
    """Tell a program that is not there once, rather than case by case, and the line of the file that names it."""
    missing = {profile.name: complaint for profile in chosen.profiles if (complaint := missing_program(profile))}
    if missing:
        text = path.read_text("utf-8") if path.is_file() else ""
        lines = {name: config_lines.of_command(text, name) for name in missing}
        places = {name: f"{path}:{line}: " if line else "" for name, line in lines.items()}
        raise UsageError("\n".join(places[name] + complaint for name, complaint in missing.items()))


def _baseline(settings: Settings, chosen: runtimes.Runtimes, cases: tuple[Case, ...]) -> Baseline | None:
    if len(chosen.profiles) > 1 and (settings.baseline or settings.write_baseline):
        raise UsageError("a baseline is that of one runtime", remedy="Name one: --agent-contract-runtime=NAME.")
    if settings.baseline is None:
        return None
    return load_baseline(settings.baseline, chosen.profiles[0], cases)
