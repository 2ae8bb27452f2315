"""One case on one runtime: build the room, let it run, freeze what was seen, judge it."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pytest_agentcontract.conformance.artifacts import THREAD, keep
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.invocations import invoke_all
from pytest_agentcontract.conformance.judge import applicable, judge, unjudged
from pytest_agentcontract.conformance.outcome import outcome
from pytest_agentcontract.conformance.vectors import run_vector
from pytest_agentcontract.conformance.verdict import RED, CaseReport, VerdictStatus
from pytest_agentcontract.drivers.base import DRIVERS, Launch
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.binding import Nonces, bind
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.observation import Delivery, Exchange, Observation
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.scenario.start import HandoffPaths

__all__ = ["CaseReport", "applicable", "observe", "run_case"]

_UNBOUNDED = "the profile names no variable of the runtime's own time limit (timeout_env), so a silence could last"


def run_case(
    case: Case,
    profile: Profile,
    wire: str,
    provider: Provider,
    *,
    timeout: float | None = None,
    artifacts: Path | None = None,
) -> CaseReport:
    """Run one case and judge it. A case that does not apply is not run: all its verdicts are not-applicable."""
    reason = applicable(case, profile, wire)
    if reason is not None:
        return _unjudged(case, profile, wire, "not-applicable", reason)
    if case.given.patience is not None and not profile.timeout_env:
        return _unjudged(case, profile, wire, "not-verified", _UNBOUNDED)
    if case.vector is not None:
        return run_vector(case, case.vector, profile)
    started, nonces = time.monotonic(), Nonces.fresh()
    with tempfile.TemporaryDirectory(prefix="agent-contract-", ignore_cleanup_errors=True) as folder:
        room, bound = Path(folder).resolve(), bind(case, nonces)
        try:
            observation = observe(bound, profile, wire, provider, room, nonces, timeout or profile.timeout)
        except DriverError as error:
            return _unjudged(case, profile, wire, "error", str(error))
        run = Run(bound, profile, wire, observation)
        verdicts = judge(run)
        red = any(verdict.status in RED for verdict in verdicts)
        kept = keep(run, room / "work", artifacts) if red and artifacts else None
    seconds = time.monotonic() - started
    return CaseReport(bound, profile.name, wire, verdicts, observation, outcome(run, nonces), seconds, kept)


def observe(
    case: Case, profile: Profile, wire: str, provider: Provider, room: Path, nonces: Nonces, timeout: float
) -> Observation:
    """Let the runtime run against a seat of its own, in an empty `room`, and freeze both sides; `case` is bound."""
    home, workdir = room / "home", room / "work"
    missed: list[str] = []
    script = Script(case, profile, nonces, workdir)

    def drive(handoff: HandoffPaths | None = None) -> tuple[Delivery, tuple[Exchange, ...]]:
        seat = provider.open(script, wire)
        try:
            launch = Launch(
                profile, wire, case, script.prompt, script.lines, seat, nonces.public, workdir, home, timeout, handoff
            )
            delivery = DRIVERS[profile.driver].drive(launch)
        finally:
            exchanges = seat.close()
            missed.extend(seat.missed)
        return delivery, exchanges

    if case.given.handoff is not None:
        observation = invoke_all(case.given.handoff, room / THREAD, drive)
    else:
        delivery, exchanges = drive()
        observation = Observation(exchanges, delivery)
    return replace(observation, marks=_marks(workdir, nonces.secret), unused=script.unused(), missed=tuple(missed))


def _marks(workdir: Path, nonce: str) -> frozenset[str]:
    """Return the labels of the marks on disk; a mark of another run would carry another nonce."""
    start, end = "mark-", f"-{nonce}"
    found = workdir.iterdir() if workdir.is_dir() else ()  # a runtime may have removed it
    names = (path.name for path in found if path.name.startswith(start) and path.name.endswith(end))
    return frozenset(name.removeprefix(start).removesuffix(end) for name in names)


def _unjudged(case: Case, profile: Profile, wire: str, status: VerdictStatus, why: str) -> CaseReport:
    return CaseReport(case, profile.name, wire, unjudged(case, status, why))
