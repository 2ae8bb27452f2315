"""What a check is: one function for one requirement, and what must have happened before it may speak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.prerequisites import cause, first_unmet
from pytest_agentcontract.conformance.verdict import Finding, unverified

Look = Callable[[Run], Finding]

EVERY_PASS = ("worked", "finished", "clean")
"""What every pass takes: the agent was seen at work, the run ended by itself, and no request of it was refused."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement's check. `given` must hold before it looks, for a fail too; `earned` only for a pass."""

    requirement: str
    look: Look
    given: tuple[str, ...] = ()
    earned: tuple[str, ...] = ()

    def judge(self, run: Run) -> Finding:
        """Return the finding: counter-evidence fails, a pass is earned, and all else is not verified."""
        if unmet := first_unmet(run, self.given):
            return unverified(unmet)
        finding = self.look(run)
        if finding.status == "not-verified":
            return replace(finding, why=cause(run) or finding.why)
        # A failure of a SHOULD part says that the MUST part was met, so it has to be earned as well.
        positive = finding.status == "pass" or finding.level is not None
        unmet = first_unmet(run, (*EVERY_PASS, *self.earned)) if positive else ""
        return unverified(unmet) if unmet else finding


def check(requirement: str, *, given: tuple[str, ...] = (), earned: tuple[str, ...] = ()) -> Callable[[Look], Check]:
    """Make a function the check of a requirement."""
    return lambda look: Check(requirement, look, given, earned)
