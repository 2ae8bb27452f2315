"""Commands about profiles: which there are, and whether one fits its runtime."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.plugin import runtimes
from pytest_agentcontract.plugin.selection import near
from pytest_agentcontract.report import catalogue
from pytest_agentcontract.report.text import harmless

_WIDEST = 40
_STEPS = 17


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As one JSON array.")
@told
def profiles(as_json: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Show the profiles there are: those of agent-contract.toml, then the shipped ones."""
    rows = catalogue.profiles(runtimes.configured_in(Path.cwd()), runtimes.CONFIG)
    if as_json:
        click.echo(dumps([dict(row) for row in rows], indent=2))
    else:
        click.echo("\n".join(catalogue.table(rows, headed=True, widest=_WIDEST)))


@main.group()
def profile() -> None:
    """Help with writing a profile."""


@profile.command("check")
@click.argument("name")
@click.option("--wire", "-w", default="", metavar="NAME", help="Look at this wire format only.")
@told
def check(name: str, wire: str) -> None:
    """Run a profile's runtime a few times against a scripted model, and say what of the profile is to be mended.

    It is no judgement: whether the runtime keeps a contract is for `agent-contract run`. The exit status is 0 if all is
    well, else 1.
    """
    from pytest_agentcontract.wiring.check import check as findings  # noqa: PLC0415 - drivers, for this command only

    found = runtimes.find(name, runtimes.configured_in(Path.cwd()))
    if wire and wire not in found.wires:
        raise UsageError(f"{name} names no wire format {wire!r}", remedy=near(wire, found.wires))
    bad = False
    for finding in findings(found, (wire,) if wire else tuple(found.wires)):
        click.echo(harmless(finding.line(_STEPS)))
        bad = bad or finding.verdict == "FAIL"
    sys.exit(int(bad))
