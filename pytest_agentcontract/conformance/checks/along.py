"""Checks along a route: the invocations that show a requirement, held to the fields that it speaks of.

A requirement is blamed for its own fields alone. Where the route parts from the expected one before or beside them, the
rest of the run is another one than the case describes, and says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_agentcontract.conformance.checks.check import Check
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.prerequisites import first_unmet
from pytest_agentcontract.conformance.route import FIELDS, Seen, deviations, expectation, seen
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified

Compare = Callable[[Seen, frozenset[str]], dict[str, str]]

EARNED = ("reported",)
"""What a pass takes in each hand-off: what the agents returned in this very run was posted."""

_WITHOUT_AN_ENGINE = ("clean", "let-go")
"""What it takes to say anything of the order of agents: else the last of them may have had no say in what came next."""


def along(requirement: str, *names: str, compare: Compare = deviations) -> Check:
    """Make the check of a requirement that speaks of some fields of the invocations that show it."""
    fields = frozenset(names or FIELDS)

    def look(run: Run) -> Finding:
        if run.case.given.handoff is None and (unmet := first_unmet(run, _WITHOUT_AN_ENGINE)):
            return unverified(unmet)
        return walk(run, requirement, fields, compare)

    look.__doc__ = f"Compare {', '.join(names or ('every field',))} of the invocations that show it with the case."
    return Check(requirement, look, earned=EARNED)


def walk(run: Run, requirement: str, fields: frozenset[str], compare: Compare) -> Finding:
    """Go along the invocations until the route parts; return what is found of a requirement by then."""
    shown: list[Seen] = []
    weak, why = "", "the run went no further"
    for one in seen(run):
        covered = requirement in one.expected.covers
        if strange := _somebody_else(one, fields):
            why = f"invocation {one.number}: {strange}"
            break
        wrong = compare(one, fields) if covered else {}
        if hard := [words for name, words in wrong.items() if name not in one.expected.should]:
            return failed(expectation(one, fields), f"invocation {one.number}: {'; '.join(hard)}")
        weak = weak or "; ".join(wrong.values())
        shown += [one] if covered else []
        if parted := _parted(one, fields if covered else frozenset()):
            why = f"the route parts at invocation {one.number}: {parted}"
            break
    wanted = sum(requirement in one.covers for one in run.expect.route)
    if not wanted or len(shown) < wanted:
        return unverified(why if wanted else "the case shows it in no invocation")
    expected = "; ".join(dict.fromkeys(expectation(one, fields) for one in shown))
    if weak:
        return failed(expected, weak, level="SHOULD")
    return passed(expected, f"so it is, in invocation {', '.join(str(one.number) for one in shown)}")


def _somebody_else(one: Seen, fields: frozenset[str]) -> str:
    """Say that another agent ran, or none, unless that is the question: what it did is no evidence."""
    return "" if "agent" in fields else deviations(one, frozenset({"agent"})).get("agent", "")


def _parted(one: Seen, judged: frozenset[str]) -> str:
    """Say what is other than expected beside the fields that are judged."""
    wrong = deviations(one)
    return "; ".join(words for name, words in wrong.items() if name not in judged | one.expected.should)
