"""Commands that judge, and that say what is judged: run, list, explain, adapter check."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.plugin import ROOT, runtimes
from pytest_agentcontract.plugin.selection import near
from pytest_agentcontract.report import catalogue
from pytest_agentcontract.report.text import harmless


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
@click.argument("what", type=click.Choice(sorted(catalogue.LISTS)), required=False)
@click.option("--coverage", is_flag=True, help="What judges each requirement: `list coverage`.")
@click.option("--mutants", is_flag=True, help="The wrong runtimes: `list mutants`.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON array.")
@told
def list_(what: str | None, *, coverage: bool, mutants: bool, as_json: bool) -> None:
    """Show the cases, requirements, runtimes or mutants there are (cases, if nothing is said), or what judges each."""
    asked = dict.fromkeys([*([what] if what else []), *["coverage"] * coverage, *["mutants"] * mutants])
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} at once", remedy="`list` shows one thing: ask for each by itself.")
    name = next(iter(asked), "cases")
    rows = catalogue.LISTS[name](runtimes.configured_in(Path.cwd()), runtimes.nulls())
    if as_json:
        click.echo(dumps([dict(row) for row in rows], indent=2))
        return
    click.echo("\n".join(catalogue.table(rows, headed=name == "coverage")))
    if name == "coverage":
        click.echo(catalogue.totals(rows))


@main.command()
@click.argument("requirement")
@told
def explain(requirement: str) -> None:
    """Say what a requirement demands, where it comes from, and which cases judge it."""
    ledger, name = requirements.load(), requirement.upper()
    if name not in ledger:
        raise UsageError(f"no requirement is called {requirement!r}", remedy=near(name, ledger))
    click.echo("\n".join(catalogue.explanation(ledger[name])))


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
