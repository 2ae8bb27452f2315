"""Commands around scripts: serve plays one, lint reads it and whatever else a user writes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin import own_case, runtimes
from pytest_agentcontract.plugin.selection import near
from pytest_agentcontract.report.text import counted, harmless
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scenario.case import Case


@main.command()
@click.argument("script", required=False, metavar="[SCRIPT]", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Listen here; any free port.")
@click.option("--log", type=click.Path(path_type=Path), metavar="FILE", help="Append each exchange as a JSON line.")
@click.option("--once", is_flag=True, help="End when the script is used up, not only on a signal.")
@click.option("--case", "-c", "case_id", metavar="ID", help="Play a case of the suite, or a case file of yours.")
@click.option("--runtime", "-r", "name", metavar="NAME", help="Whose tools a case calls; the first configured one.")
@click.option("--wire", "-w", metavar="NAME", help="The wire format of a case; the runtime's first.")
@told
def serve(
    script: Path | None,
    port: int,
    log: Path | None,
    once: bool,  # noqa: FBT001 - click passes options by name
    case_id: str | None,
    name: str | None,
    wire: str | None,
) -> None:
    """Play the model for a process that you start yourself: after a script, or one case of the suite.

    SCRIPT is a JSON or YAML file; it is served on every wire format until Ctrl-C, SIGTERM or SIGHUP. A case ends when
    its script is used up. The exit status is 0 if the whole script was asked for and no request was refused, else 1.
    """
    if (script is None) == (case_id is None):
        raise UsageError("`serve` plays one thing", remedy="Name a script file, or a case by --case ID.")
    of_case, of_script = {"--runtime": name, "--wire": wire}, {"--port": port, "--log": log, "--once": once}
    for foreign in (option for option, value in (of_case if script else of_script).items() if value):
        raise UsageError(f"{foreign} has no meaning here", remedy="`serve --help` says what goes with what.")
    if script is not None:
        from pytest_agentcontract.cli import serve_script  # noqa: PLC0415 - the server, for this command only

        sys.exit(serve_script.play(script, click.echo, port=port, log=log, once=once))
    _serve_case(case_id or "", name, wire)


def _serve_case(case_id: str, name: str | None, wire: str | None) -> None:
    from pytest_agentcontract.cli import serve_case  # noqa: PLC0415 - the server, for this command only

    configured = runtimes.configured_in(Path.cwd())
    profile = runtimes.find(name or next(iter(configured), runtimes.REFERENCE), configured)
    chosen = wire or next(iter(profile.wires), "none")
    if chosen not in profile.wires:
        raise UsageError(f"{profile.name} doesn't speak {chosen!r}", remedy=near(chosen, profile.wires))
    sys.exit(serve_case.play(_case(case_id), profile, chosen, click.echo))


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@told
def lint(paths: tuple[Path, ...]) -> None:
    """List every fault of scripts, cases, tables of vectors and agent-contract.toml files.

    What kind of file one is, is seen from what it holds. A folder stands for the files in it. The exit status is 0
    if there is no fault, else 1.
    """
    from pytest_agentcontract.cli import lint as linting  # noqa: PLC0415 - for this command only

    files = dict.fromkeys(file for path in paths for file in linting.below(path))
    found = [fault for file in files for fault in linting.faults(file)]
    for fault in found:
        click.echo(harmless(f"{fault.where}: {fault.what}"))
    for remedy in dict.fromkeys(fault.remedy for fault in found if fault.remedy):
        click.echo(harmless(f"  {remedy}"))
    click.echo(f"{counted(len(files), 'file')}, {counted(len(found), 'fault') if found else 'no faults'}")
    sys.exit(int(bool(found)))


def _case(case_id: str) -> Case:
    if case_id.endswith(".json"):
        return own_case.load(Path(case_id))
    cases: Sequence[Case] = load_case.shipped()
    for case in cases:
        if case.id == case_id:
            return case
    raise UsageError(f"no case is called {case_id!r}", remedy=near(case_id, [case.id for case in cases]))
