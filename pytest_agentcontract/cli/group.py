"""The group of all commands, and how each of them tells an error of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import click

import pytest_agentcontract
from pytest_agentcontract.errors import AgentContractError
from pytest_agentcontract.report.text import harmless

_USAGE = 4
_P = ParamSpec("_P")


def told(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turn an error of ours into its text and pytest's exit status for usage errors."""

    @wraps(command)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except AgentContractError as error:
            click.echo(f"ERROR: {harmless(str(error))}", err=True)
            sys.exit(_USAGE)

    return wrapped


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pytest_agentcontract.__version__)
def main() -> None:
    """Judge agent runtimes: how an agent returns, and how agents hand off."""
