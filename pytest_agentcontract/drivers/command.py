"""Drive a runtime that is a program: started in a session of its own, kept company, and left with nothing running."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from pytest_agentcontract.drivers import guardian
from pytest_agentcontract.drivers.attending import attended
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.outcome import deliver, find
from pytest_agentcontract.drivers.preparation import arguments, environment, program, started, write_files
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.scenario.observation import Delivery
from pytest_agentcontract.scenario.profile import Profile

_FOR_VERSION = 30.0


def drive(launch: Launch) -> Delivery:
    """Start the profile's command for the case's mode, wait for its end and read what it delivered."""
    with guardian.guarding(launch.nonce, *launch.folders):
        run = attended(launch, _start(launch))
    return deliver(launch, run, find(launch, run))


def version(profile: Profile) -> str:
    """Ask a runtime for its exact version: the first line that the profile's version command prints, if it has one.

    Some programs print it on standard error, and nothing beside.
    """
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
    said = asked.stdout.decode(errors="replace").strip() or asked.stderr.decode(errors="replace").strip()
    return said.partition("\n")[0].strip()


def _start(launch: Launch) -> subprocess.Popen[bytes]:
    profile, mode = launch.profile, launch.case.given.mode
    if mode not in profile.modes:
        raise DriverError(f"has no command for {mode!r}", where=f"runtime {profile.name}", remedy=f"Add modes.{mode}.")
    argv = arguments(profile.modes[mode], launch.values())
    env = environment(profile, launch.home, launch.nonce) | launch.environment
    is_open = mode == "interactive" or launch.case.given.open_stdin
    stdin = subprocess.PIPE if is_open else subprocess.DEVNULL
    return started(argv, env, launch.workdir, profile.name, stdin=stdin, first=partial(write_files, launch))
