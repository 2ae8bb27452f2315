"""How a runtime stands to each requirement that it was measured by, by level, and which failures a baseline excuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.report import standing
from pytest_agentcontract.report.values import Report
from pytest_agentcontract.scenario.case import Level
from pytest_agentcontract.scenario.profile import Profile

LEVELS: Final[tuple[Level, ...]] = ("MUST", "SHOULD", "MAY")

BUCKETS: Final[Mapping[standing.Word, str]] = {
    standing.PASS: "passed",
    "fail": "failed",
    "error": "notJudgeable",
    "not-verified": "notVerified",
    f"fail{standing.LESSER}": "metInPart",
    f"not-verified{standing.LESSER}": "metInPart",
    standing.BASELINED: "baselined",
    standing.UNJUDGED: "notJudged",
    standing.NOT_APPLICABLE: "notApplicable",
}
"""What the words of a report are called where they are added up."""

Tally: TypeAlias = Mapping[Level, Mapping[str, tuple[str, ...]]]
"""For each level and bucket the ids of the requirements, in the ledger's order."""


@dataclass(frozen=True, slots=True)
class Known:
    """A failure that was expected: where it is, what it is, and the reason that the baseline gives."""

    case: str
    wire: str
    requirement: str
    status: str
    reason: str

    def plain(self) -> JSONObject:
        """Return the same as JSON."""
        return {
            "case": self.case,
            "wire": self.wire,
            "requirement": self.requirement,
            "status": self.status,
            "reason": self.reason,
        }


def tally(
    rows: Iterable[standing.Row], runtime: str, ledger: Mapping[str, Requirement], profile: Profile | None = None
) -> Tally:
    """Sort requirements by what is said of them for a runtime.

    Where its profile is known, one that was not judged and by that profile can't speak of it is not applicable.
    """
    found: dict[Level, dict[str, list[str]]] = {level: {name: [] for name in BUCKETS.values()} for level in LEVELS}
    for row in rows:
        word = row.words[runtime]
        spoken_of = ledger.get(row.requirement)
        if word == standing.UNJUDGED and profile and spoken_of and spoken_of.inapplicable(profile):
            word = standing.NOT_APPLICABLE
        found[row.level][BUCKETS[word]].append(row.requirement)
    return {level: {name: tuple(ids) for name, ids in buckets.items()} for level, buckets in found.items()}


def known(report: Report, runtime: str) -> tuple[Known, ...]:
    """Return every failure of a runtime that stands in a baseline."""
    return tuple(
        Known(judged.case, judged.wire, check.requirement, check.status, check.known)
        for judged in report.cases
        for check in judged.checks
        if check.known and judged.runtime == runtime
    )
