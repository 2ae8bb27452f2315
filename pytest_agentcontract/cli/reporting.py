"""Commands that make something of reports: merge and markdown."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.report import markdown as pages
from pytest_agentcontract.report import merging, placing, reading, stream

_FILE = click.Path(path_type=Path)
_REPLACE = click.option("--replace", is_flag=True, help="Write over a file that this command has made.")


@main.group()
def report() -> None:
    """Make something of reports, the files of --agent-contract-report."""


@report.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@click.option("--output", "-o", required=True, metavar="FILE", type=_FILE, help="A new file, for all of them.")
@_REPLACE
@told
def merge(files: tuple[Path, ...], output: Path, replace: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Put reports of shards, of wire formats and of several runtimes together into one.

    What they judged by has to be the same, and where they judged the same, what they found.
    """
    merged = merging.merge([reading.read(path) for path in files])
    placing.put(output, stream.text(merged), reading.is_header, replace=replace)


@report.command()
@click.argument("file", type=_FILE)
@click.option("--output", "-o", metavar="FILE", type=_FILE, help="A new file, in place of standard output.")
@_REPLACE
@told
def markdown(file: Path, output: Path | None, replace: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Show a report as Markdown: runtimes by requirements, totals, and the evidence behind each non-pass.

    The same verdicts make the same page. It stays below 1 MB.
    """
    page = pages.page(reading.read(file))
    if output is None:
        click.echo(page.encode(), nl=False)  # the same bytes on any machine
        return
    placing.put(output, page, pages.MARK.__eq__, replace=replace)
