"""Commands about profiles: which there are, and whether one fits its runtime."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.plugin import runtimes
from pytest_agentcontract.report import catalogue

_WIDEST = 40


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
