"""What holds in every run, whatever its case is about: judged always, reported only where it is broken or asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.checks import CHECKS
from pytest_agentcontract.conformance.checks.handoff_told import earlier_comments_stay
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.verdict import Finding

Applies = Callable[[Run], bool]


def _claims(*capabilities: str) -> Applies:
    """Speak of runs whose runtime declares these: without the claim its checks are not applicable."""
    return lambda run: run.profile.returns and run.profile.capabilities.issuperset(capabilities)


def _in_one_history(run: Run) -> bool:
    """Speak of runs whose agents each have a history of their own: where control moves on, the next takes it over."""
    return not run.expect.route


INVARIANTS: Mapping[str, Applies] = {
    "RET-101": lambda run: run.headless and _claims("root-return")(run),
    "RET-102": lambda run: bool(run.children) and _claims("child-return")(run),
    "RET-103": lambda run: not run.headless and _claims()(run),
    "RET-106": _claims("root-return"),
    "RET-201": _claims(),
    "RET-203": lambda run: run.headless and _claims("root-return")(run),
    "RET-204": _claims(),
    "RET-406": lambda run: run.case.given.mode == "json",
    "WIR-101": _in_one_history,
    "WIR-102": _in_one_history,
    "WIR-103": _in_one_history,
    "WIR-104": _in_one_history,
    "WIR-105": _in_one_history,
    "WIR-106": lambda run: (
        _in_one_history(run) and not requirements.load()["WIR-106"].inapplicable(run.profile, run.wire)
    ),
    "WIR-107": _in_one_history,
}
"""Requirement -> the runs that it speaks of."""


def broken(run: Run, covered: frozenset[str]) -> Iterator[tuple[str, Finding]]:
    """Yield the invariants that a run breaks beyond those that its case covers anyway."""
    if run.case.given.handoff is not None:
        yield from _altered(run, covered)
        return  # the others speak of the one root of a run
    for requirement, applies in INVARIANTS.items():
        if requirement in covered or not applies(run):
            continue
        finding = CHECKS[requirement].judge(run)
        if finding.status == "fail" and finding.level is None:
            yield requirement, finding


def _altered(run: Run, covered: frozenset[str]) -> Iterator[tuple[str, Finding]]:
    """Yield that a hand-off has not left its earlier comments alone: what has changed can't be replayed."""
    finding = earlier_comments_stay(run)
    if "HND-904" not in covered and finding.status == "fail":
        yield "HND-904", finding
