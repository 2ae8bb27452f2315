"""The command line: run the suite, list what there is, explain a requirement, play a script, lint files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import click

import pytest_agentcontract
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import AgentContractError, UsageError
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.plugin import ROOT, own_case, runtimes
from pytest_agentcontract.plugin.selection import near
from pytest_agentcontract.report import catalogue
from pytest_agentcontract.report.text import counted, harmless
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scenario.case import Case

_USAGE = 4
_P = ParamSpec("_P")


def _told(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turn an error of ours into its text and pytest's exit status for usage errors."""

    @wraps(command)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except AgentContractError as error:
            click.echo(f"ERROR: {error}", err=True)
            sys.exit(_USAGE)

    return wrapped


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pytest_agentcontract.__version__)
def main() -> None:
    """Judge agent runtimes: how an agent returns, and how agents hand off."""


@main.command(context_settings={"ignore_unknown_options": True})
@click.option("--runtime", "-r", "names", multiple=True, metavar="NAME", help="A runtime to judge; may be repeated.")
@click.option(
    "--case", "-c", "cases", multiple=True, metavar="ID", help="A case, or a folder of them; may be repeated."
)
@click.option("--wire", "-w", "wires", multiple=True, metavar="NAME", help="Judge on this wire format only.")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def run(names: tuple[str, ...], cases: tuple[str, ...], wires: tuple[str, ...], pytest_args: tuple[str, ...]) -> None:
    """Run the suite: a thin wrapper around `pytest --agent-contract`, whose options can follow."""
    import pytest  # noqa: PLC0415 - the other commands don't need it

    asked = [f"--agent-contract-runtime={name}" for name in names] + [f"--agent-contract-wire={name}" for name in wires]
    sys.exit(pytest.main(["--agent-contract", *asked, *pytest_args, *map(_node, cases)]))


@main.command("list")
@click.argument("what", type=click.Choice(sorted(catalogue.LISTS)), default="cases")
@click.option("--coverage", "asked", flag_value="coverage", help="What judges each requirement: `list coverage`.")
@click.option("--mutants", "asked", flag_value="mutants", help="The wrong runtimes: `list mutants`.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON array.")
@_told
def list_(what: str, asked: str | None, as_json: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Show the cases, requirements, runtimes or mutants there are, or what covers each requirement."""
    name = asked or what
    rows = catalogue.LISTS[name](runtimes.configured_in(Path.cwd()), runtimes.nulls())
    if as_json:
        click.echo(dumps([dict(row) for row in rows], indent=2))
        return
    click.echo("\n".join(catalogue.table(rows, headed=name == "coverage")))
    if name == "coverage":
        click.echo(catalogue.totals(rows))


@main.command()
@click.argument("requirement")
@_told
def explain(requirement: str) -> None:
    """Say what a requirement demands, where it comes from, and which cases judge it."""
    ledger, name = requirements.load(), requirement.upper()
    if name not in ledger:
        raise UsageError(f"no requirement is called {requirement!r}", remedy=near(name, ledger))
    click.echo("\n".join(catalogue.explanation(ledger[name])))


@main.command()
@click.argument("script", required=False, metavar="[SCRIPT]", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Listen here; any free port.")
@click.option("--log", type=click.Path(path_type=Path), metavar="FILE", help="Append each exchange as a JSON line.")
@click.option("--once", is_flag=True, help="End when the script is used up, not only on a signal.")
@click.option("--case", "-c", "case_id", metavar="ID", help="Play a case of the suite, or a case file of yours.")
@click.option("--runtime", "-r", "name", metavar="NAME", help="Whose tools a case calls; the first configured one.")
@click.option("--wire", "-w", metavar="NAME", help="The wire format of a case; the runtime's first.")
@_told
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
        from pytest_agentcontract.plugin import serve_script  # noqa: PLC0415 - the server, for this command only

        sys.exit(serve_script.play(script, click.echo, port=port, log=log, once=once))
    _serve_case(case_id or "", name, wire)


def _serve_case(case_id: str, name: str | None, wire: str | None) -> None:
    from pytest_agentcontract.plugin import serve as served  # noqa: PLC0415 - the server, for this command only

    configured = runtimes.configured_in(Path.cwd())
    profile = runtimes.find(name or next(iter(configured), runtimes.REFERENCE), configured)
    chosen = wire or next(iter(profile.wires), "none")
    if chosen not in profile.wires:
        raise UsageError(f"{profile.name} doesn't speak {chosen!r}", remedy=near(chosen, profile.wires))
    sys.exit(served.play(_case(case_id), profile, chosen, click.echo))


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
def lint(files: tuple[Path, ...]) -> None:
    """List every fault of scripts, cases, tables of vectors and agent-contract.toml files.

    What kind of file one is, is seen from what it holds. The exit status is 0 if there is no fault, else 1.
    """
    from pytest_agentcontract.plugin import lint as linting  # noqa: PLC0415 - for this command only

    found = [fault for file in files for fault in linting.faults(file)]
    for fault in found:
        click.echo(harmless(f"{fault.where}: {fault.what}"))
    for remedy in dict.fromkeys(fault.remedy for fault in found if fault.remedy):
        click.echo(harmless(f"  {remedy}"))
    click.echo(f"{counted(len(files), 'file')}, {counted(len(found), 'fault') if found else 'no faults'}")
    sys.exit(int(bool(found)))


@main.group()
def adapter() -> None:
    """Help with writing an adapter for the stdio protocol."""


@adapter.command("check", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def check_adapter(command: tuple[str, ...]) -> None:
    """Start an adapter (after `--`: its command line), ask it one of everything, and say what to mend.

    The exit status is 0 if all is well, else 1.
    """
    from pytest_agentcontract.drivers import adapter_check  # noqa: PLC0415 - drivers, for this command only

    bad = False
    for finding in adapter_check.check(command, Path.cwd()):
        click.echo(harmless(str(finding)))
        bad = bad or finding.verdict == "FAIL"
    sys.exit(int(bad))


def _node(case_id: str) -> str:
    contract, separator, rest = case_id.partition("/")
    return f"{ROOT}::{contract}" + (f"::{rest}" if separator else "")


def _case(case_id: str) -> Case:
    if case_id.endswith(".json"):
        return own_case.load(Path(case_id))
    cases: Sequence[Case] = load_case.shipped()
    for case in cases:
        if case.id == case_id:
            return case
    raise UsageError(f"no case is called {case_id!r}", remedy=near(case_id, [case.id for case in cases]))
