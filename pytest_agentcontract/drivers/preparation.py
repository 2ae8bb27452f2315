"""How a program is started: its arguments, an environment of its own, and the files that it reads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from pytest_agentcontract.drivers import installed
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.processes import TOKEN
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.scenario.binding import fill
from pytest_agentcontract.scenario.profile import PLACEHOLDERS, Argument, Profile

_KEPT = ("LANG", "TMPDIR", "TZ")
_LOOPBACK = "127.0.0.1,localhost,::1"


def arguments(command: tuple[Argument, ...], values: Mapping[str, str]) -> list[str]:
    """Fill a command line; a group goes where a value that it needs is not asked for."""
    return list(_words(command, values))


def environment(profile: Profile, home: Path, nonce: str) -> dict[str, str]:
    """Return the allow-listed part of ours, a home of the run's own, and the mark by which its processes are found."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
    return kept | {
        "PATH": _search_path(profile),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "NO_PROXY": _LOOPBACK,
        "no_proxy": _LOOPBACK,
        TOKEN: nonce,
    }


def lasting(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that mean the same in every run: what outlives a run can have no others."""
    holes = [f"{{{name}}}" for name in PLACEHOLDERS]
    return {name: value for name, value in env.items() if not any(hole in value for hole in holes)}


def program(name: str, path: str, runtime: str) -> str:
    """Find an executable as a shell would; raise DriverError that tells a missing one from one without permission."""
    found = shutil.which(name, path=path)
    if found is not None:
        return found
    places = [Path(name)] if "/" in name else [Path(folder, name) for folder in path.split(os.pathsep)]
    there = next(filter(Path.exists, places), None)
    if there is None:
        what, remedy = f"the program {name!r} was not found", "Install it, or name its folder in the profile's `path`."
    else:
        what, remedy = f"{there} is not an executable file", f"Name a program, or make it one: chmod +x {there}"
    raise DriverError(what, where=f"runtime {runtime}", remedy=remedy)


def started(
    command: Sequence[str],
    env: Mapping[str, str],
    cwd: str | Path,
    runtime: str,
    *,
    stdin: int = subprocess.PIPE,
    output: int | IO[bytes] = subprocess.PIPE,
    keep: Sequence[int] = (),
    first: Callable[[], None] = lambda: None,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, its output piped; raise DriverError where that can't be done.

    `keep` are file descriptors that it inherits. `first` is called once the program is found: it writes down what the
    program reads.
    """
    executable = program(command[0], env["PATH"], runtime)
    try:
        first()
        return subprocess.Popen(
            command,
            executable=executable,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=output,
            stderr=output,
            pass_fds=keep,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise DriverError(
            f"{executable} could not be started: {error}",
            where=f"runtime {runtime}",
            remedy="Check its first line (#!), and that every argument and variable can be passed on a command line.",
        ) from error


def missing_program(profile: Profile) -> str | None:
    """Return what is to be said of a program that can't be started, with the remedy; None where all are there.

    A program whose name depends on the run is looked for when it is run.
    """
    if missing := missing_installation(profile):
        return str(missing)
    path = _search_path(profile)
    for name in dict.fromkeys(_programs(profile)):
        try:
            program(name, path, profile.name)
        except DriverError as error:
            return str(error)
    return None


def missing_installation(profile: Profile) -> DriverError | None:
    """Return the error of a runtime whose environment is not there; None where the profile names other places, too."""
    elsewhere = not profile.install or profile.path or profile.python
    return None if elsewhere or installed.is_ready(profile) else not_installed(profile)


def not_installed(profile: Profile) -> DriverError:
    """Return the error of a runtime whose environment is not there."""
    return DriverError(
        "is not installed", where=f"runtime {profile.name}", remedy=f"Run: agent-contract install {profile.name}"
    )


def write_files(launch: Launch) -> None:
    """Make the run's folders, and write down the schema to ask for and the files of the profile.

    A file with a value that the run does not ask for is left out, as a group of a command line is.
    """
    values, schema = launch.values(), launch.schema
    files = {**launch.profile.files, **launch.profile.wires[launch.wire].files}
    asked = {path: text for path, text in files.items() if not _lacking([text], values)}
    contents = {fill(path, values): fill(text, values) for path, text in asked.items()}
    if schema is not None:
        contents[str(launch.schema_file)] = dumps(schema)
    for folder in (launch.workdir, launch.home):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(errors="surrogatepass"))


def _search_path(profile: Profile) -> str:
    interpreter = [str(Path(profile.python).parent)] if profile.python else []
    own = [*profile.path, *interpreter, *installed.programs(profile)]
    return os.pathsep.join([*own, os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])


def _programs(profile: Profile) -> Iterator[str]:
    """Yield the first word of each command of a profile, where it is known before a run."""
    adapters = [profile.adapter] if profile.driver == "stdio" else []
    commands = [*profile.modes.values(), *adapters, profile.version]
    firsts = [word for command in commands for word in command[:1]]
    yield from (word for word in firsts if isinstance(word, str) and "{" not in word)


def _words(command: tuple[Argument, ...], values: Mapping[str, str]) -> Iterator[str]:
    for argument in command:
        group = (argument,) if isinstance(argument, str) else argument
        if isinstance(argument, str) or not _lacking(group, values):
            yield from (fill(word, values) for word in group)


def _lacking(texts: Sequence[str], values: Mapping[str, str]) -> bool:
    """Tell whether some text holds a placeholder for which there is no value in this run."""
    return any(f"{{{name}}}" in text for name in PLACEHOLDERS - values.keys() for text in texts)
