"""What a report is made of: plain dictionaries, so that they travel between processes and into a file as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NotRequired, TypeAlias, TypedDict

from pytest_agentcontract.jsonvalue import JSON

Status: TypeAlias = Literal["pass", "fail", "not-verified", "not-applicable", "error"]

STATUSES: tuple[Status, ...] = ("pass", "fail", "not-verified", "not-applicable", "error")
"""Every status of a check, in the order in which they are shown."""

CaseStatus: TypeAlias = Literal["pass", "fail", "not-verified", "not-applicable", "error", "known", "should-not-met"]
"""What became of a case.

`known`: all that failed stands in the baseline. `should-not-met`: no MUST is at stake and nothing passed, so that the
case is neither red nor earned.
"""


class Check(TypedDict):
    """One verdict. `known` is the baseline's reason for a failure that was expected, else empty."""

    requirement: str
    level: str
    status: Status
    expected: str
    observed: str
    why: str
    known: str


class Record(TypedDict):
    """One case, judged: on which runtime and wire format, with which verdicts. `why` explains a missing verdict.

    `seen` is what the runtime asked and was answered, of a case that is no pass.
    """

    case: str
    runtime: str
    wire: str
    status: CaseStatus
    why: str
    seconds: float
    outcome: JSON
    checks: list[Check]
    warnings: list[str]
    reproduce: str
    seen: NotRequired[JSON]


def together(statuses: Iterable[Status]) -> Status:
    """Return the status of a requirement over its checks: it passes with a pass and nothing that speaks against it."""
    seen = set(statuses)
    order: tuple[Status, ...] = ("error", "fail", "not-verified", "pass")
    return next((status for status in order if status in seen), "not-applicable")
