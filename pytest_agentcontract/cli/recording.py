"""Commands around cassettes: show, compare, check and scrub them, and make scripts of them.

What reads cassettes is imported by the command that does: the others start without it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.report.text import counted, harmless

if TYPE_CHECKING:
    from pytest_agentcontract.cassette.exchange import Cassette
    from pytest_agentcontract.recorded.script_of import Imported

_FILE = click.Path(path_type=Path)


@main.group()
def cassette() -> None:
    """Look at recordings, compare and check them, and make scripts of them. Exchanges are numbered from 0."""


@cassette.command()
@click.argument("file", type=_FILE)
@click.option("--exchange", "number", type=click.IntRange(0), metavar="N", help="One exchange, whole.")
@click.option("--json", "as_json", is_flag=True, help="As one JSON array.")
@told
def show(file: Path, number: int | None, as_json: bool) -> None:  # noqa: FBT001 - click passes options by name
    """List the exchanges of a cassette, or show one of them with its headers and bodies."""
    from pytest_agentcontract.cassette.file import store  # noqa: PLC0415 - for this command only
    from pytest_agentcontract.recorded import showing  # noqa: PLC0415 - for this command only
    from pytest_agentcontract.recorded.reading import read_all  # noqa: PLC0415 - for this command only

    readings = read_all(store.load(file))
    if number is not None and number >= len(readings):
        raise UsageError(
            f"there is no exchange {number}", where=str(file), remedy=f"It holds {counted(len(readings), 'exchange')}."
        )
    chosen = readings if number is None else readings[number : number + 1]
    if as_json:
        click.echo(dumps([showing.row(reading) for reading in chosen], indent=2))
        return
    lines = showing.lines(readings) if number is None else showing.whole(readings[number])
    for line in lines:
        click.echo(line)


@cassette.command()
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="As one JSON array.")
@told
def diff(old: Path, new: Path, as_json: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Say in what two cassettes differ, exchange by exchange; the exit status is 1 if they do, else 0."""
    from pytest_agentcontract.cassette.file import store  # noqa: PLC0415 - for this command only
    from pytest_agentcontract.recorded import difference  # noqa: PLC0415 - for this command only

    found = tuple(difference.changes(store.load(old), store.load(new)))
    if as_json:
        click.echo(dumps([difference.row(change) for change in found], indent=2))
    else:
        for line in difference.lines(found):
            click.echo(line)
    sys.exit(int(bool(found)))


@cassette.command("import")
@click.argument("file", type=_FILE)
@click.option("--output", "-o", "script", required=True, type=_FILE, metavar="SCRIPT", help="The script to write.")
@click.option("--pace", "paced", is_flag=True, help="Let its answers come as slowly as they were recorded.")
@click.option("--runtime", "-r", "name", metavar="NAME", help="Make a case of it: this runtime's tools by their parts.")
@click.option("--covers", multiple=True, metavar="ID", help="A requirement that the case judges; may be repeated.")
@told
def import_(
    file: Path,
    script: Path,
    paced: bool,  # noqa: FBT001 - click passes options by name
    name: str | None,
    covers: tuple[str, ...],
) -> None:
    """Make a script of a recording, as `serve` plays it: YAML or JSON, by the name of the file, which must be new.

    Says what was kept, and of each exchange what is left out and why. With --runtime and --covers it is a case, in
    JSON, to which you add what must come of it (`expect`).
    """
    from pytest_agentcontract.cassette.file import store  # noqa: PLC0415 - for this command only
    from pytest_agentcontract.recorded import script_of, writing  # noqa: PLC0415 - for this command only

    if bool(name) != bool(covers):
        raise UsageError(
            "a case is of a runtime, and judges something", remedy="Give --runtime and --covers, or neither."
        )
    recorded = store.load(file)
    made = _case(recorded, name, covers) if name else script_of.imported(recorded, paced=paced)
    account = [harmless(line) for line in script_of.account(made)] or ["It holds no exchange."]
    if not made.script:
        raise UsageError("holds nothing that a script can say", where=str(file), remedy="\n  ".join(account))
    writing.write_new(script, writing.text_of(made.script, Path("case.json") if name else script))
    for line in account:
        click.echo(line)
    click.echo(f"written: {script}")


@cassette.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@told
def check(files: tuple[Path, ...]) -> None:
    """Load cassettes, read each of their exchanges, and look for secrets in them.

    The exit status is 1 if anything is wrong, else 0.
    """
    from pytest_agentcontract.recorded import soundness  # noqa: PLC0415 - for this command only

    found = [fault for file in files for fault in soundness.faults(file)]
    for fault in found:
        click.echo(harmless(fault))
    click.echo(f"{counted(len(files), 'cassette')}, {counted(len(found), 'fault') if found else 'no faults'}")
    sys.exit(int(bool(found)))


@cassette.command()
@click.argument("file", type=_FILE)
@told
def scrub(file: Path) -> None:
    """Take secrets out of a cassette, the values of this environment's among them, and say what was replaced."""
    from pytest_agentcontract.recorded import soundness  # noqa: PLC0415 - for this command only

    replaced = soundness.scrub(file)
    for line in replaced:
        click.echo(harmless(line))
    click.echo(f"{file}: {'scrubbed' if replaced else 'nothing to scrub'}")


def _case(recorded: Cassette, name: str, covers: tuple[str, ...]) -> Imported:
    from pytest_agentcontract.plugin import own_case, runtimes  # noqa: PLC0415 - for a case only
    from pytest_agentcontract.recorded.as_case import as_case  # noqa: PLC0415 - for a case only

    made = as_case(recorded, runtimes.find(name, runtimes.configured_in(Path.cwd())), covers)
    for place, complaint in own_case.faults(made.script) if made.script else ():
        raise UsageError(complaint, where=place, remedy="`list requirements` lists what a case can cover.")
    return made
