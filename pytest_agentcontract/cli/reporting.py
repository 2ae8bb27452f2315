"""Commands that make something of reports: merge, markdown, html, badge and annotations."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import ReportError, UsageError
from pytest_agentcontract.plugin import runtimes
from pytest_agentcontract.report import annotations as annotating
from pytest_agentcontract.report import badge as shield
from pytest_agentcontract.report import job_summary, merging, pages, placing, reading, stream
from pytest_agentcontract.report import markdown as one_page
from pytest_agentcontract.report.page import making
from pytest_agentcontract.report.text import harmless

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
@click.option("--summary", is_flag=True, help="For the page of a CI job: levels first, the rest folded.")
@_REPLACE
@told
def markdown(file: Path, output: Path | None, folder: Path | None, *, summary: bool, replace: bool) -> None:
    """Show a report as Markdown: runtimes by requirements, totals, and the evidence behind each non-pass.

    The same verdicts make the same page. It stays below 1 MB.
    """
    if folder and (output or summary):
        other = "--output" if output else "--summary"
        raise UsageError(f"{other} and --folder can't both be", remedy="Say one of them.")
    found = reading.read(file)
    page = job_summary.page if summary else one_page.page
    if folder is not None:
        placing.put_all({folder / name: text for name, text in pages.pages(found).items()}, _is_page, replace=replace)
    elif output is not None:
        placing.put(output, page(found), _is_page, replace=replace)
    else:
        click.echo(page(found).encode(), nl=False)  # the same bytes on any machine


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


@report.command("annotations")
@click.argument("file", type=_FILE)
@told
def annotate(file: Path) -> None:
    """Print a report as annotations for a GitHub job: what is not met, at its line of agent-contract.toml.

    GitHub shows ten errors and ten warnings of a step: the gravest come first, and what is left out is counted.
    """
    config = Path(runtimes.CONFIG)
    text = config.read_text("utf-8") if config.is_file() else ""
    cases = runtimes.cases_in(Path())
    for line in annotating.lines(reading.read(file), text, runtimes.CONFIG, cases.as_posix() if cases else ""):
        click.echo(line)


@report.command()
@click.argument("file", type=_FILE)
@click.option("--output", "-o", required=True, metavar="FILE", type=_FILE, help="A new file, for the badge.")
@click.option("--runtime", "-r", "name", default="", metavar="NAME", help="Whose badge, in a report of several.")
@_REPLACE
@told
def badge(file: Path, output: Path, name: str, replace: bool) -> None:  # noqa: FBT001 - click passes options by name
    """Say in one line of JSON, for an endpoint badge of shields.io, how far a runtime got: the level of a certificate.

    A report that is no whole one makes a badge that says so, and the exit status 1.
    """
    text = reading.content(file)
    try:
        made, wrong = shield.badge(reading.parse(text, str(file)), name), ""
    except ReportError as error:
        made, wrong = shield.unfinished(name), str(error)
    placing.put(output, shield.text(made), shield.is_ours, replace=replace)
    if wrong:
        click.echo(harmless(f"ERROR: {wrong}"), err=True)
        sys.exit(1)
