"""The command that installs a third-party runtime into an environment of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.plugin import runtimes
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.scenario.profile import Profile


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@told
def install(names: tuple[str, ...]) -> None:
    """Install what a profile's `install` table names, into an environment of its own in the user's cache.

    The versions are exact, and nothing else on the machine is changed; to be rid of it, delete the folder that is said.
    """
    from pytest_agentcontract.drivers import base, installed, installing  # noqa: PLC0415 - drivers, for this command only

    configured = runtimes.configured_in(Path.cwd())
    for profile in [runtimes.find(name, configured) for name in names]:
        with _progress(profile, len(installing.steps(profile))) as tell:
            new = installing.install(profile, tell)
        said = f"{profile.name} {base.version(profile)}".rstrip()
        click.echo(harmless(f"{said} {'is' if new else 'was'} installed in {installed.folder(profile)}"))
        click.echo(harmless(f"  judge it: pytest --agent-contract --agent-contract-runtime={profile.name}"))


@contextmanager
def _progress(profile: Profile, steps: int) -> Iterator[Callable[[str], None]]:
    """Show what is being done: a bar on a terminal, a line per step elsewhere."""
    if not sys.stderr.isatty():
        yield lambda what: click.echo(harmless(f"{profile.name}: {what}"), err=True)
        return
    with click.progressbar(
        length=steps, label=profile.name, item_show_func=_or_nothing, show_eta=False, file=sys.stderr
    ) as bar:
        begun = iter([0] + [1] * steps)

        def tell(what: str) -> None:
            bar.update(next(begun, 0), current_item=harmless(what))

        yield tell
        bar.finish()


def _or_nothing(what: str | None) -> str:
    return what or ""
