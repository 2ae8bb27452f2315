"""A report for the page of a CI job: how each runtime stands in a line, and all else folded away behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.report import evidence, level, markdown
from pytest_agentcontract.report.inline import name
from pytest_agentcontract.report.standing import NOT_APPLICABLE, PASS, UNJUDGED, Row, met, rows
from pytest_agentcontract.report.text import counted
from pytest_agentcontract.report.values import Report, Runtime

_FOLDED = "<details><summary>{}</summary>\n"
_END = "\n</details>\n"


def page(report: Report, *, limit: int = markdown.LIMIT) -> str:
    """Return the summary, of less than `limit` bytes: what is left out of the evidence is counted.

    Raise UsageError for a set of requirements that is not known, and ReportError if the tables alone take more.
    """
    runtimes = sorted(report.header.runtimes, key=lambda runtime: runtime.name)
    ledger = requirements.load(report.header.requirements.set)
    found = rows(report, ledger)
    first = "\n".join([markdown.MARK, "## Agent contract", "", *_table(report, runtimes, found, ledger), ""])
    every = "\n".join([_FOLDED.format("Every requirement"), *markdown.matrix(runtimes, found), _END])
    heads = [_FOLDED.format(_heading(runtime, found)) for runtime in runtimes]
    room = limit - sum(map(markdown.size, (first, every))) - sum(markdown.size(one) + markdown.NOTE for one in heads)
    if room < 0:
        raise ReportError(
            f"{counted(len(runtimes), 'runtime')} don't fit in a summary of {limit} bytes",
            where=report.where,
            remedy="Make a summary of fewer reports.",
        )
    behind = [
        list(evidence.lines(runtime, [one for one in report.cases if one.runtime == runtime.name], found))
        for runtime in runtimes
    ]
    kept = markdown.fitting(behind, room)
    folded = ["\n".join([head, *lines, _END]) for head, lines in zip(heads, kept, strict=True)]
    return "\n".join([first, *folded, every])


def _table(
    report: Report, runtimes: Sequence[Runtime], found: Sequence[Row], ledger: Mapping[str, Requirement]
) -> Iterator[str]:
    yield markdown.line(["runtime", "level"], ["MUST met", "SHOULD met"])
    yield "|---|---|---|---|"
    for runtime in runtimes:
        said = level.of(report, runtime, found, ledger).sentence
        own = "; the suite's own runtime" if runtime.embedded else ""
        counts = [met([row for row in found if row.level == one], runtime.name) for one in ("MUST", "SHOULD")]
        yield markdown.line([markdown.title(runtime), f"{said}{own}"], counts)


def _heading(runtime: Runtime, found: Sequence[Row]) -> str:
    quiet = (PASS, NOT_APPLICABLE, UNJUDGED)
    unmet = sum(row.words[runtime.name] not in quiet for row in found)
    return f"{name(runtime.name, markdown.NAME)}: {counted(unmet, 'requirement')} not met"
