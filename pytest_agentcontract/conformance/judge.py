"""From a run to its verdicts: the checks that the case names, and the invariants that it breaks."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_agentcontract.conformance import invariants, requirements
from pytest_agentcontract.conformance.checks import CHECKS
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.conformance.verdict import Finding, Verdict, VerdictStatus, unverified
from pytest_agentcontract.errors import CaseError
from pytest_agentcontract.scenario.case import HANDOFF, RETURN, SPAWN, WORK, Case, Cover, Level
from pytest_agentcontract.scenario.expressible import inexpressible
from pytest_agentcontract.scenario.profile import Profile

RANK: dict[Level, int] = {"MUST": 0, "SHOULD": 1, "MAY": 2}
"""The levels, the strongest first."""


def judge(run: Run) -> tuple[Verdict, ...]:
    """Return one verdict for each requirement that the case covers, and one for each invariant that is broken."""
    return (*_covered(run), *_broken(run))


def applicable(case: Case, profile: Profile, wire: str = "") -> str | None:
    """Say why the case does not apply to this runtime, by what it declares; None means that it does.

    With a `wire`, also by what that wire format can carry.
    """
    lacking, excluding = case.needs - profile.capabilities, case.without & profile.capabilities
    if lacking:
        return f"the profile does not declare {', '.join(sorted(lacking))}"
    if excluding:
        return f"the profile declares {', '.join(sorted(excluding))}"
    if case.vector is not None and not profile.adapter:
        return "the profile names no adapter to ask"
    if nameless := _nameless(case, profile):
        return f"the profile says of no agent {', '.join(nameless)} by which {profile.attribution} it is known"
    tools = {call.tool for turns in case.script.values() for turn in turns for call in turn.calls}
    unbound = sorted(tool for tool in tools & {RETURN, WORK, SPAWN, HANDOFF} if tool[1:] not in profile.tools)
    if unbound:
        return f"the profile binds no tool to {', '.join(unbound)}"
    return inexpressible(case, wire) or _inapplicable(case, profile, wire) or None


def unjudged(case: Case, status: VerdictStatus, why: str) -> tuple[Verdict, ...]:
    """Return the same verdict for everything that a case covers: it was not run, or could not be."""
    levels = {cover.requirement: _level(cover, required(cover)) for cover in case.covers}
    return tuple(Verdict(requirement, level, status, why=why) for requirement, level in levels.items())


def required(cover: Cover) -> Requirement:
    """Return the requirement that a case covers; raise CaseError if there is none of that id."""
    found = requirements.load().get(cover.requirement)
    if found is None:
        known = requirements.CURRENT
        raise CaseError(f"covers {cover.requirement}, which is no requirement", remedy=f"Choose one of set {known}.")
    return found


def _covered(run: Run) -> Iterator[Verdict]:
    for cover in run.case.covers:
        requirement = required(cover)
        level = _level(cover, requirement)
        if why := requirement.inapplicable(run.profile, run.wire):
            yield Verdict(requirement.id, level, "not-applicable", why=why)
        else:
            yield _verdict(requirement.id, level, _find(requirement, run))


def _broken(run: Run) -> Iterator[Verdict]:
    ledger, covered = requirements.load(), frozenset(cover.requirement for cover in run.case.covers)
    for requirement, finding in invariants.broken(run, covered):
        yield _verdict(requirement, ledger[requirement].level, finding)


def _find(requirement: Requirement, run: Run) -> Finding:
    check = CHECKS.get(requirement.id)
    return check.judge(run) if check else unverified(requirement.excluded or f"nothing checks {requirement.id}")


def _verdict(requirement: str, level: Level, finding: Finding) -> Verdict:
    lowered = max(level, finding.level or level, key=RANK.__getitem__)
    return Verdict(requirement, lowered, finding.status, finding.expected, finding.observed, finding.why)


def _nameless(case: Case, profile: Profile) -> list[str]:
    """Return the agents whose requests nothing would tell from another's; an engine names its agents itself."""
    if profile.attribution == "token" or case.given.handoff is not None:
        return []
    return sorted(case.script.keys() - profile.agents.keys())


def _inapplicable(case: Case, profile: Profile, wire: str) -> str:
    """Say why nothing that a case covers speaks of a runtime; empty where something does."""
    if case.given.open_stdin and profile.reads_stdin:
        return "the profile says that the runtime reads standard input to its end before it begins (reads_stdin)"
    reasons = [required(cover).inapplicable(profile, wire) for cover in case.covers]
    return reasons[0] if reasons and all(reasons) else ""


def _level(cover: Cover, requirement: Requirement) -> Level:
    return max(requirement.level, cover.level or requirement.level, key=RANK.__getitem__)
