"""What the judge says: a finding of one check, the verdict it becomes, and the report of one case.

`pass` needs positive evidence. `fail` is counter-evidence. `not-verified` names the prerequisite that did not happen.
`not-applicable` follows from the case and the declared capabilities alone. `error` is the bench's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.scenario.case import Case, Level
from pytest_agentcontract.scenario.observation import Observation

VerdictStatus: TypeAlias = Literal["pass", "fail", "not-verified", "not-applicable", "error"]

RED: frozenset[VerdictStatus] = frozenset({"fail", "not-verified", "error"})
"""What keeps a requirement from being met."""

_ORDER = ("fail", "not-verified", "pass")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw. A `level` below the requirement's own is for the part of a sentence that only SHOULD hold."""

    status: Literal["pass", "fail", "not-verified"]
    expected: str = ""
    observed: str = ""
    why: str = ""
    level: Level | None = None


def passed(expected: str, observed: str) -> Finding:
    """Find positive evidence."""
    return Finding("pass", expected, observed)


def failed(expected: str, observed: str, level: Level | None = None) -> Finding:
    """Find counter-evidence."""
    return Finding("fail", expected, observed, level=level)


def unverified(why: str) -> Finding:
    """Say what a check needs to see and did not, or can't tell from what it saw."""
    return Finding("not-verified", why=why)


def worst(findings: Iterable[Finding]) -> Finding:
    """Return the first failure among several findings, else the first that tells nothing, else a pass."""
    return min(findings, key=lambda finding: _ORDER.index(finding.status))


@dataclass(frozen=True, slots=True)
class Verdict:
    """One requirement, judged in one case."""

    requirement: str
    level: Level
    status: VerdictStatus
    expected: str = ""
    observed: str = ""
    why: str = ""

    def breaks(self, *, strict: bool = False) -> bool:
        """Tell whether this verdict turns its item red: an error, a red MUST, and under `strict` a red SHOULD."""
        weighs = self.level == "MUST" or (strict and self.level == "SHOULD")
        return self.status == "error" or (self.status in RED and weighs)


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case on one runtime and wire format. `observation` is None where the run never happened.

    `case` carries this run's nonce in place of the placeholder; `artifacts` is the folder the evidence was kept in.
    """

    case: Case
    runtime: str
    wire: str
    verdicts: tuple[Verdict, ...]
    observation: Observation | None = None
    outcome: Mapping[str, JSON] = field(default_factory=dict)
    seconds: float = 0.0
    artifacts: Path | None = None
