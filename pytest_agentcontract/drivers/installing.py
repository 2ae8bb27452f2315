"""Make a runtime's own environment: packages of PyPI in a virtual environment, packages of npm in a prefix.

Nothing of the user's is changed, and what an installer runs on the way has a home that goes with it; the settings by
which pip and npm reach their registries are the user's. An environment counts once all of it is there.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_agentcontract.drivers import installed
from pytest_agentcontract.drivers.messages import shortened
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.scenario.profile import Profile

_LAST_WORDS = 3
_KEPT = ("PATH", "LANG", "TMPDIR", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_KEPT_OF = re.compile(r"(LC_|PIP_|NPM_CONFIG_)\w+|(HTTPS?|ALL|NO)_PROXY", re.IGNORECASE)
_SETTINGS = (
    ("PIP_CONFIG_FILE", (".config/pip/pip.conf", ".pip/pip.conf")),
    ("NPM_CONFIG_USERCONFIG", (".npmrc",)),
)
"""The variable that names an installer's settings -> where they are, below the user's home, if it isn't set."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command on the way to an environment: what is said of it, and its words."""

    what: str
    command: tuple[str, ...]


def steps(profile: Profile) -> tuple[Step, ...]:
    """Return the commands that make a profile's environment, in order."""
    place, packages = installed.folder(profile), profile.install
    found: list[Step] = []
    if packages.python:
        pip = (str(place / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", *packages.python)
        found.append(Step("making a virtual environment", (sys.executable, "-m", "venv", str(place))))
        found.append(Step(f"installing {', '.join(packages.python)}", pip))
    if packages.npm:
        npm = ("npm", "install", "--prefix", str(place), "--no-audit", "--no-fund", *packages.npm)
        found.append(Step(f"installing {', '.join(packages.npm)}", npm))
    return tuple(found)


def install(profile: Profile, tell: Callable[[str], None]) -> bool:
    """Make the environment, calling `tell` with what is done before each step; return False if it was there already.

    Raise DriverError, with the last words of the command that failed, where it can't be made. A second call waits for
    the first one's end; what an interrupted one has left is made anew.
    """
    if not profile.install:
        raise DriverError(
            "says nothing of an installation",
            where=f"runtime {profile.name}",
            remedy="Its profile has no `install` table: install it yourself, and name its folder in `path`.",
        )
    place = installed.folder(profile)
    with _alone(place, profile.name, tell) as lock:
        if installed.is_ready(profile):
            return False
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        with TemporaryDirectory(prefix="agent-contract-") as home:
            env = _environment(Path(home))
            for step in steps(profile):
                tell(step.what)
                _run(step, env, profile.name, lock)
        (place / installed.READY).touch()
    return True


@contextmanager
def _alone(place: Path, runtime: str, tell: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock of one environment; whoever inherits its descriptor holds it, too."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = place.with_name(f"{place.name}.lock").open("w")
    except OSError as error:
        raise DriverError(
            f"{error.filename} can't be made: {error.strerror}",
            where=f"runtime {runtime}",
            remedy="Name a folder of yours in XDG_CACHE_HOME.",
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("waiting for another installation of it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def _environment(home: Path) -> Mapping[str, str]:
    theirs = Path.home()
    settings = {
        name: str(theirs / place)
        for name, places in _SETTINGS
        for place in reversed(places)
        if (theirs / place).is_file()
    }
    # What packages run while they are installed has no business with the user's other variables, keys among them.
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or _KEPT_OF.fullmatch(name)}
    return {**settings, **kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}


def _run(step: Step, env: Mapping[str, str], runtime: str, lock: int) -> None:
    where = f"runtime {runtime}"
    try:
        done = subprocess.run(
            step.command,
            env=env,
            cwd=env["HOME"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),  # so that nobody begins anew beside an installer that has outlived us
            check=False,
        )
    except OSError as error:
        raise DriverError(
            f"{step.command[0]} can't be started: {error.strerror}",
            where=where,
            remedy="Install Node.js with npm, or put npm on PATH." if step.command[0] == "npm" else "",
        ) from error
    if done.returncode:
        lines = [shortened(line.strip()) for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
        raise DriverError(
            f"{step.what} failed: {' / '.join(lines[-_LAST_WORDS:]) or f'exit status {done.returncode}'}",
            where=where,
            remedy=f"Run it yourself to see all of it: {' '.join(step.command)}",
        )
