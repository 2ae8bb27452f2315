"""The command that a project begins with: a profile, a baseline and a workflow, never over a file that is there."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from pytest_agentcontract.cli import first_files
from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import ProfileError, UsageError
from pytest_agentcontract.plugin import places, runtimes
from pytest_agentcontract.plugin.runtimes import CONFIG
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.scenario import config_lines, load_profile
from pytest_agentcontract.scenario.profile import Profile

_NAME = "my-agent"


@dataclass(frozen=True, slots=True)
class _Start:
    """What a project begins with: the runtime that it judges, and the texts of the files by their places."""

    runtime: str
    files: Mapping[str, str]

    @property
    def profile(self) -> str:
        """The text of the new profile; empty where the runtime has one."""
        return self.files.get(CONFIG, "")

    @property
    def unfilled(self) -> bool:
        """Whether nobody has said yet how the runtime is started."""
        return f'modes.json = ["{first_files.UNKNOWN}"' in self.profile


@main.command()
@click.option("--runtime", "-r", "name", default="", metavar="NAME", help="The runtime to judge; a shipped one, too.")
@click.option("--command", "line", default="", metavar="LINE", help='How yours is started: "python agent.py -p".')
@click.option("--folder", default=".", metavar="DIR", type=click.Path(path_type=Path), help="The project's folder.")
@told
def init(name: str, line: str, folder: Path) -> None:
    """Write what a project begins with: agent-contract.toml, a baseline and a workflow for GitHub.

    A file that is there already is left as it is. A runtime that has a profile needs no agent-contract.toml; for any
    other a first one is written, to be completed.
    """
    start = _start(name, line, folder)
    _check(folder, start)
    for became in _written(folder, start):
        click.echo(harmless(became))
    click.echo("next:")
    for step in _next(start):
        click.echo(f"  {harmless(step)}")


def _start(name: str, line: str, folder: Path) -> _Start:
    if line:
        return _new(name or _NAME, line, folder)
    if not name and not (folder / CONFIG).is_file():
        return _new(_NAME, "", folder)
    chosen = _known(name, folder)
    return _Start(chosen.name, _beside(chosen.name, install=bool(chosen.install)))


def _new(name: str, line: str, folder: Path) -> _Start:
    """Begin with a runtime that has no profile yet."""
    if (folder / CONFIG).exists():
        raise UsageError(
            "is there already: the command would not stand in it",
            where=str(folder / CONFIG),
            remedy="Write its table there by hand, and leave out --command.",
        )
    if name in runtimes.names({}):
        raise UsageError(f"{name} is the name of a shipped profile", remedy="Leave out --command, or name yours apart.")
    command = first_files.words(line, folder) if line else ()
    return _Start(name, {CONFIG: first_files.profile(name, command), **_beside(name, install=False)})


def _known(name: str, folder: Path) -> Profile:
    """Return the runtime that is meant: the one that is named, else the only one that is configured."""
    try:
        found = runtimes.resolve([name] if name else [], root=folder, offered=lambda: None, ci=False).profiles
    except UsageError as error:
        remedy = f'{error.remedy}\n  For one of your own: agent-contract init --runtime NAME --command "..."'
        raise UsageError(error.what, where=error.where, remedy=remedy) from error
    if len(found) > 1:
        names = ", ".join(profile.name for profile in found)
        raise UsageError(f"configures {names}", where=str(folder / CONFIG), remedy="Name one: --runtime NAME.")
    return found[0]


def _beside(name: str, *, install: bool) -> Mapping[str, str]:
    return {
        first_files.BASELINE: first_files.baseline(name),
        first_files.WORKFLOW: first_files.workflow(name, install=install),
    }


def _check(folder: Path, start: _Start) -> None:
    """Raise where a file would be wrong, or can't be written: before the first of them is."""
    if not folder.is_dir():
        raise UsageError("is no folder", where=str(folder), remedy="Name the folder of your project.")
    for place, complaint in load_profile.faults(tomllib.loads(start.profile)) if start.profile else ():
        raise ProfileError(complaint, where=place, remedy=load_profile.REMEDY)
    for name in start.files:
        if not os.path.lexists(folder / name):
            places.folder((folder / name).parent.absolute())


def _written(folder: Path, start: _Start) -> Iterator[str]:
    """Write the files that are not there; yield what became of each."""
    if not start.profile and (folder / CONFIG).exists():
        yield f"{folder / CONFIG}: is there already, and left as it is"
    for name, text in start.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except FileExistsError:
            yield f"{path}: is there already, and left as it is"
        else:
            yield f"{path}: written"


def _next(start: _Start) -> Iterator[str]:
    """Yield what to do next, each step with what it is for."""
    run = f"pytest --agent-contract {first_files.options_of(start.runtime)}"
    if start.unfilled:
        line = config_lines.of_command(start.profile, start.runtime)
        yield f"{CONFIG}, line {line}: say how your agent is started, in place of {first_files.UNKNOWN}"
    if start.profile:
        yield f"agent-contract profile check {start.runtime}    # does the profile fit? what is to be mended?"
    yield f"{run}    # judges it"
    yield f"{run} --agent-contract-write-baseline={first_files.BASELINE}    # what fails today; give each its reason"
