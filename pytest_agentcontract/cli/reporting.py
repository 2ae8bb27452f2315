"""Commands that make something of reports: merge, markdown and html."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.report import markdown as one_page
from pytest_agentcontract.report import merging, pages, placing, reading, stream
from pytest_agentcontract.report.page import making

_is_page = one_page.MARK.__eq__
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
@click.option("--folder", metavar="DIR", type=_FILE, help="A page for each runtime, and index.md, which leads to them.")
@_REPLACE
@told
def markdown(file: Path, output: Path | None, folder: Path | None, replace: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Show a report as Markdown: runtimes by requirements, totals, and the evidence behind each non-pass.

    The same verdicts make the same page. It stays below 1 MB.
    """
    if output and folder:
        raise UsageError("--output and --folder can't both be", remedy="Say one of them.")
    found = reading.read(file)
    if folder is not None:
        placing.put_all({folder / name: text for name, text in pages.pages(found).items()}, _is_page, replace=replace)
    elif output is not None:
        placing.put(output, one_page.page(found), _is_page, replace=replace)
    else:
        click.echo(one_page.page(found).encode(), nl=False)  # the same bytes on any machine


@report.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
@click.option("--output", "-o", required=True, metavar="FILE", type=_FILE, help="A new file, for the page.")
@_REPLACE
@told
def html(files: tuple[Path, ...], output: Path, replace: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Show reports as one page for a browser: runtimes by requirements, and what lies behind each verdict.

    Several reports are put together as by `merge`. The page needs no other file and no network.
    """
    merged = merging.merge([reading.read(path) for path in files])
    placing.put(output, making.page(merged), making.MARK.__eq__, replace=replace)
