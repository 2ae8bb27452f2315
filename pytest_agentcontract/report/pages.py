"""A report as a folder of Markdown pages: one for each runtime, and one that sets them side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.report import markdown
from pytest_agentcontract.report.inline import name
from pytest_agentcontract.report.standing import UNJUDGED, Row, counted, met, rows
from pytest_agentcontract.report.values import Report, Runtime

INDEX = "index.md"
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
_COUNTED = ("fail", "not-verified", "baselined", "not-applicable", UNJUDGED)


def pages(report: Report) -> Mapping[str, str]:
    """Return the name of each page's file and its text; raise ReportError where two runtimes would share a file.

    A runtime's page is that of a report on it alone, so that what is found of others doesn't change it.
    """
    runtimes = sorted(report.header.runtimes, key=lambda runtime: runtime.name)
    files = _files(runtimes, report.where)
    found = rows(report, requirements.load(report.header.requirements.set))
    index = "\n".join(
        [*markdown.head(report.header), *_runtimes(runtimes, files, found), *markdown.matrix(runtimes, found)]
    )
    return {INDEX: index, **{files[one.name]: markdown.page(_alone(report, one)) for one in runtimes}}


def _files(runtimes: Sequence[Runtime], where: str) -> Mapping[str, str]:
    files = {one.name: f"{_STRANGE.sub('-', one.name)}.md" for one in runtimes}
    shared = [file for file, times in Counter([INDEX, *files.values()]).items() if times > 1]
    if shared:
        raise ReportError(
            f"two pages would be called {shared[0]}",
            where=where,
            remedy="Give the runtime another name, or make a page of each report.",
        )
    return files


def _runtimes(runtimes: Sequence[Runtime], files: Mapping[str, str], found: Sequence[Row]) -> Iterator[str]:
    """Yield what each runtime comes to, counted in requirements of every level."""
    yield from ("## Runtimes", "")
    yield markdown.line(["runtime", "version"], ["MUST met", "SHOULD met", *_COUNTED])
    yield "|" + "---|" * (4 + len(_COUNTED))
    for runtime in runtimes:
        levels = [met([row for row in found if row.level == level], runtime.name) for level in ("MUST", "SHOULD")]
        counts = counted(found, runtime.name)
        link = f"[{name(runtime.name, markdown.NAME)}]({files[runtime.name]})"
        version = name(runtime.version, markdown.NAME) if runtime.version else "unknown"
        yield markdown.line([link, version], [*levels, *(str(counts[word]) for word in _COUNTED)])
    yield ""


def _alone(report: Report, runtime: Runtime) -> Report:
    cases = tuple(judged for judged in report.cases if judged.runtime == runtime.name)
    return replace(report, header=replace(report.header, runtimes=(runtime,)), cases=cases)
