"""Several reports put together: shards of one run, runs on several wire formats, runs of several runtimes.

What comes of it does not depend on the order of the reports, nor on which are put together first. Where two reports
judged the same, they have to agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import cast

from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, dumps, equal
from pytest_agentcontract.report import exits
from pytest_agentcontract.report.parity import parity
from pytest_agentcontract.report.values import Checked, Header, Judged, Key, Report, Runtime

_SUITES = "Judge all of them with one version of the suite, by the same requirements and cases, as strictly."
_RUNTIMES = "Judge a runtime's shards with one version and one profile of it, on one kind of machine."
_VERDICTS = "A case that comes out differently is judged anew, or by one of the reports alone."


def merge(reports: Sequence[Report]) -> Report:
    """Put reports together; raise ReportError, naming two files and what they differ in, where they don't agree."""
    first = reports[0]
    for other in reports[1:]:
        _same((first.where, _measure(first.header)), (other.where, _measure(other.header)), "", _SUITES)
    runtimes: dict[str, tuple[str, Runtime]] = {}
    cases: dict[Key, tuple[str, Judged]] = {}
    for report in reports:
        for runtime in report.header.runtimes:
            where, known = runtimes.setdefault(runtime.name, (report.where, runtime))
            _same((where, _plain(known)), (report.where, _plain(runtime)), f"runtime {runtime.name}: ", _RUNTIMES)
        for judged in report.cases:
            where, known_case = cases.setdefault(judged.key, (report.where, judged))
            _agreeing((where, known_case), (report.where, judged))
            cases[judged.key] = where, min(known_case, judged, key=_rendered)
    header = replace(first.header, runtimes=tuple(runtimes[name][1] for name in sorted(runtimes)))
    merged = tuple(cases[key][1] for key in sorted(cases))
    return Report(header, merged, _exit(header, merged, [report.exit for report in reports]))


def _exit(header: Header, cases: Sequence[Judged], statuses: Sequence[int]) -> int:
    """Wire formats that were judged apart can only now be seen to disagree."""
    disagree = header.strict and parity([judged.record() for judged in cases]).disagreements
    return exits.together([*statuses, *([exits.WIRES_DISAGREE] if disagree else [])])


def _measure(header: Header) -> JSONObject:
    """Return all that has to be the same for every report, whatever was judged."""
    return {name: value for name, value in _plain(header).items() if name != "runtimes"}


def _plain(value: Header | Runtime) -> JSONObject:
    return cast("JSONObject", asdict(value))


def _same(one: tuple[str, JSONObject], other: tuple[str, JSONObject], of: str, remedy: str) -> None:
    for field, left, right in _differing(one[1], other[1]):
        words = f"{of}{field} differs: {dumps(left)} and {dumps(right)}"
        raise ReportError(words, where=f"{one[0]} and {other[0]}", remedy=remedy)


def _differing(one: JSONObject, other: JSONObject, below: str = "") -> Iterator[tuple[str, JSON, JSON]]:
    for name, left in one.items():
        right = other[name]
        if isinstance(left, dict):
            yield from _differing(left, as_object(right), f"{below}{name}.")
        elif left != right:
            yield f"{below}{name}", left, right


def _agreeing(one: tuple[str, Judged], other: tuple[str, Judged]) -> None:
    """Refuse two accounts of one case that give other verdicts; texts and times may differ from run to run."""
    left, right = one[1], other[1]
    for what, said, again in _verdicts(left, right):
        if said != again:
            words = f"{left.case} on {left.runtime}{f' ({left.wire})' if left.wire else ''}: {what} differs"
            raise ReportError(
                f"{words}: {said or 'nothing'} and {again or 'nothing'}",
                where=f"{one[0]} and {other[0]}",
                remedy=_VERDICTS,
            )


def _verdicts(left: Judged, right: Judged) -> Iterator[tuple[str, str, str]]:
    """Yield what the two say of each requirement, of the case as a whole, and of what came of it."""
    for requirement in sorted({check.requirement for check in (*left.checks, *right.checks)}):
        yield requirement, _said(left, requirement), _said(right, requirement)
    yield "status", left.status, right.status
    same = equal(left.outcome, right.outcome)
    yield "outcome", dumps(left.outcome), dumps(left.outcome if same else right.outcome)


def _said(judged: Judged, requirement: str) -> str:
    return ", ".join(sorted(_verdict(check) for check in judged.checks if check.requirement == requirement))


def _verdict(check: Checked) -> str:
    known = f", known: {check.known}" if check.known else ""
    return f"{check.status} ({check.level}{known})"


def _rendered(judged: Judged) -> str:
    return dumps(cast("JSONObject", asdict(judged)))
