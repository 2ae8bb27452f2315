"""A report as annotations for the pages of a GitHub job: a line for each requirement that a runtime does not meet.

GitHub shows ten errors and ten warnings of a step: the gravest stand first, and the tenth line says what is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.report.standing import WORDS, Row, rows
from pytest_agentcontract.report.text import counted, harmless, shortened
from pytest_agentcontract.report.values import Checked, Judged, Report
from pytest_agentcontract.scenario import config_lines
from pytest_agentcontract.scenario.load_case import OWN

MOST: Final = 10
"""How many lines of one kind GitHub shows of one step."""

_TEXT: Final = 400
_RED: Final = ("error", "fail", "not-verified")
_ESCAPES: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_PROPERTIES: Final = (*_ESCAPES, (":", "%3A"), (",", "%2C"))


def lines(report: Report, config: str = "", path: str = "", own: str = "") -> Iterator[str]:
    """Yield the workflow commands of a report; raise UsageError for a set of requirements that is not known.

    `config` is the text of the user's agent-contract.toml and `path` its place, if there is one: a line that speaks of
    a runtime is where its annotations stand. `own` is the folder of the user's own cases: what those alone have shown
    stands in the file of the first of them.
    """
    found = rows(report, requirements.load(report.header.requirements.set))
    unmet = [(runtime.name, row) for runtime in report.header.runtimes for row in found if _is_red(row, runtime.name)]
    unmet.sort(key=lambda one: WORDS.index(one[1].words[one[0]]))
    grave = [one for one in unmet if _weighs(*one, strict=report.header.strict)]
    light = [one for one in unmet if one not in grave]
    for kind, chosen in (("error", grave), ("warning", light)):
        told = [_line(kind, name, row, report, (_place(config, path, name), own)) for name, row in chosen]
        yield from _fitting(kind, told)


def _is_red(row: Row, runtime: str) -> bool:
    return row.words[runtime].startswith(_RED)


def _weighs(runtime: str, row: Row, *, strict: bool) -> bool:
    """Tell whether a requirement turns a run red: a MUST that does not hold, and in a strict run a SHOULD."""
    word = row.words[runtime]
    return word == "error" or (word in _RED and row.level == "MUST") or (strict and row.level != "MAY")


def _place(config: str, path: str, runtime: str) -> Mapping[str, str]:
    line = config_lines.of_runtime(config, runtime)
    return {"file": path, "line": str(line)} if line else {}


def _line(kind: str, runtime: str, row: Row, report: Report, places: tuple[Mapping[str, str], str]) -> str:
    """Return one annotation: the requirement, in how many cases, and the first of them with its evidence."""
    broken = [
        (judged, check)
        for judged in sorted(report.cases, key=lambda one: one.key)
        for check in judged.checks
        if judged.runtime == runtime and check.requirement == row.requirement and check.status in _RED
        if check.status == "error" or not check.known
    ]
    told = f"in {counted(len(broken), 'case')}" if broken else ""
    title = f"{row.requirement} ({row.level}) {row.words[runtime]}: {runtime}"
    return _command(kind, {**_of_own(broken, *places), "title": title}, "\n".join([told, *_first(broken)]))


def _of_own(broken: Sequence[tuple[Judged, Checked]], place: Mapping[str, str], own: str) -> Mapping[str, str]:
    cases = [judged.case.partition("/") for judged, _ in broken]
    if own and cases and all(contract == OWN for contract, _, _ in cases):
        return {"file": f"{own}/{cases[0][2]}.json", "line": "1"}
    return place


def _first(broken: Sequence[tuple[Judged, Checked]]) -> Iterator[str]:
    for judged, check in broken[:1]:
        yield f"{judged.case} ({judged.wire})" if judged.wire else judged.case
        for word, text in (("expected", check.expected), ("observed", check.observed), ("because", check.why)):
            if text:
                yield f"{word} {shortened(text, _TEXT)}"
        yield judged.reproduce


def _fitting(kind: str, told: Sequence[str]) -> Iterator[str]:
    if len(told) <= MOST:
        yield from told
        return
    yield from told[: MOST - 1]
    left = counted(len(told) - MOST + 1, "requirement")
    yield _command(kind, {"title": f"{left} more"}, "The job's summary and the report have them all.")


def _command(kind: str, properties: Mapping[str, str], message: str) -> str:
    said = ",".join(f"{name}={_escaped(text, _IN_PROPERTIES)}" for name, text in properties.items())
    return f"::{kind} {said}::{_escaped(message, _ESCAPES)}"


def _escaped(text: str, escapes: Sequence[tuple[str, str]]) -> str:
    text = harmless(text)
    for letter, code in escapes:
        text = text.replace(letter, code)
    return text
