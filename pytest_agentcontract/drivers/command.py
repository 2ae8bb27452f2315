"""Drive a runtime that is a program: started in a session of its own, kept company, and left with nothing running."""

from __future__ import annotations

import subprocess
import time
from functools import partial
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory
from uuid import uuid4

from pytest_agentcontract.drivers import guardian, processes
from pytest_agentcontract.drivers.conversation import Conversation
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.outcome import Run, deliver, find
from pytest_agentcontract.drivers.preparation import arguments, environment, program, started, write_files
from pytest_agentcontract.drivers.pump import Pump
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.scenario.observation import Delivery, Ended
from pytest_agentcontract.scenario.profile import Profile

_TO_COMPLY = 0.5
_TO_LEAVE = 0.25
_TO_DIE = 2.0
_FOR_VERSION = 30.0


def drive(launch: Launch) -> Delivery:
    """Start the profile's command for the case's mode, wait for its end and read what it delivered."""
    with guardian.guarding(launch.nonce, *launch.folders):
        run = _attended(launch)
    return deliver(launch, run, find(launch, run))


def _attended(launch: Launch) -> Run:
    process = _start(launch)
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


def version(profile: Profile) -> str:
    """Ask a runtime for its exact version: the first line that the profile's version command prints, if it has one."""
    if not profile.version:
        return ""
    token = uuid4().hex
    with TemporaryDirectory() as home, guardian.guarding(token, Path(home)):
        env = environment(profile, Path(home), token)
        executable = program(profile.version[0], env["PATH"], profile.name)
        try:
            asked = subprocess.run(
                profile.version,
                executable=executable,
                env=env,
                cwd=home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_FOR_VERSION,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise DriverError(f"its version command failed: {error}", where=f"runtime {profile.name}") from error
    return next(iter(asked.stdout.decode(errors="replace").split("\n")), "").strip()


def _start(launch: Launch) -> subprocess.Popen[bytes]:
    profile, mode = launch.profile, launch.case.given.mode
    if mode not in profile.modes:
        raise DriverError(f"has no command for {mode!r}", where=f"runtime {profile.name}", remedy=f"Add modes.{mode}.")
    argv = arguments(profile.modes[mode], launch.values())
    env = environment(profile, launch.home, launch.nonce) | launch.environment
    is_open = mode == "interactive" or launch.case.given.open_stdin
    stdin = subprocess.PIPE if is_open else subprocess.DEVNULL
    return started(argv, env, launch.workdir, profile.name, stdin=stdin, first=partial(write_files, launch))


def _attend(pump: Pump, process: subprocess.Popen[bytes], seconds: float) -> Ended:
    if pump.run(lambda: pump.exited or pump.flooded, seconds):
        return "exited"
    processes.signal_group(process.pid, SIGTERM)
    pump.run(lambda: pump.exited, _TO_COMPLY)
    return "time-limit"


def _see_off(pump: Pump, process: subprocess.Popen[bytes], launch: Launch) -> tuple[str, ...]:
    """Let the run's other processes leave by themselves for a moment; name those that stay."""
    since = time.monotonic()
    pump.run(lambda: pump.dry, _TO_LEAVE)
    left = processes.await_exit(launch.nonce, process.pid, _TO_LEAVE - (time.monotonic() - since), launch.folders)
    return tuple(map(processes.describe, left))


def _judged(ended: Ended, code: int | None, pump: Pump) -> Ended:
    if pump.flooded:
        return "output-limit"
    return "crashed" if ended == "exited" and (code is None or code < 0) else ended
