"""Keep a started program company until it ends or has to be ended, and leave nothing of its run behind."""

from __future__ import annotations

import time
from signal import SIGTERM

from pytest_agentcontract.drivers import guardian, processes
from pytest_agentcontract.drivers.conversation import Conversation
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.outcome import Run
from pytest_agentcontract.drivers.pump import Process, Pump
from pytest_agentcontract.scenario.observation import Ended

_TO_COMPLY = 0.5
_TO_LEAVE = 0.25
_TO_DIE = 2.0


def attended(launch: Launch, process: Process) -> Run:
    """Wait for the end of a run whose first process has just been started, as the leader of a session."""
    guardian.started(launch.nonce, process.pid)
    started = time.monotonic()
    talk = Conversation(launch) if launch.case.given.mode == "interactive" else None
    pump = Pump(process, launch.seat.printed, talk)
    try:
        ended = _attend(pump, process, launch.timeout)
        returned_at = time.monotonic() - started
        launch.seat.over()
        leftovers = _see_off(pump, process, launch) if pump.exited and ended == "exited" else ()
    finally:
        processes.end_all(launch.nonce, process.pid, launch.folders)
        pump.run(lambda: pump.exited, _TO_DIE)
        pump.run(lambda: pump.dry, _TO_LEAVE)
        pump.close()
    code = process.returncode
    return Run(
        ended=_judged(ended, code, pump),
        exit_code=code,
        stdout=bytes(pump.stdout),
        stderr=bytes(pump.stderr),
        leftovers=leftovers,
        seconds=time.monotonic() - started,
        returned_at=returned_at,
    )


def _attend(pump: Pump, process: Process, seconds: float) -> Ended:
    if pump.run(lambda: pump.exited or pump.flooded, seconds):
        return "exited"
    processes.signal_group(process.pid, SIGTERM)
    pump.run(lambda: pump.exited, _TO_COMPLY)
    return "time-limit"


def _see_off(pump: Pump, process: Process, launch: Launch) -> tuple[str, ...]:
    """Let the run's other processes leave by themselves for a moment; name those that stay."""
    since = time.monotonic()
    pump.run(lambda: pump.dry, _TO_LEAVE)
    left = processes.await_exit(launch.nonce, process.pid, _TO_LEAVE - (time.monotonic() - since), launch.folders)
    return tuple(map(processes.describe, left))


def _judged(ended: Ended, code: int | None, pump: Pump) -> Ended:
    if pump.flooded:
        return "output-limit"
    return "crashed" if ended == "exited" and (code is None or code < 0) else ended
