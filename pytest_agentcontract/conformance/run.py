"""One case on one runtime: build the room, let it run, freeze what was seen, judge it."""

from __future__ import annotations

from pathlib import Path

from pytest_agentcontract.conformance.verdict import CaseReport
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile


def applicable(case: Case, profile: Profile) -> str | None:
    """Say why the case does not apply to this runtime, by what it declares; None means that it does."""
    raise NotImplementedError


def run_case(
    case: Case,
    profile: Profile,
    wire: str,
    provider: Provider,
    *,
    timeout: float | None = None,
    artifacts: Path | None = None,
) -> CaseReport:
    """Run one case and judge it. A case that does not apply is not run: all its verdicts are not-applicable."""
    raise NotImplementedError
