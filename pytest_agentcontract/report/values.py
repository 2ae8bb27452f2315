"""A report as values: what judged, what was judged, what was found, and what it adds up to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TypeAlias, cast

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.report.records import CaseStatus, Record, Status
from pytest_agentcontract.scenario.case import Level

Key: TypeAlias = tuple[str, str, str]
"""A runtime, a case and a wire format: what is judged once in a report."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite that judged, and a digest of its code."""

    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class Measured:
    """By what was judged: a set of requirements, the digest of it and the shipped cases, and that of the user's own."""

    set: str
    digest: str
    own: str


@dataclass(frozen=True, slots=True)
class Release:
    """How well the suite bites: MUSTs that fail a mutant made to break them, and what null runtimes earn."""

    musts: int
    musts_with_a_killed_mutant: int
    mutants: int
    null_floor: int


@dataclass(frozen=True, slots=True)
class Platform:
    """The machine that a runtime was judged on."""

    system: str
    machine: str
    python: str


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime that was judged: exactly which, driven how, claiming what."""

    name: str
    version: str
    digest: str
    driver: str
    wires: tuple[str, ...]
    capabilities: tuple[str, ...]
    embedded: bool
    platform: Platform


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a report; `strict` says whether a SHOULD turned a case red."""

    suite: Suite
    requirements: Measured
    release: Release
    strict: bool
    runtimes: tuple[Runtime, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """One verdict; `known` is the baseline's reason for a failure that was expected, else empty."""

    requirement: str
    level: Level
    status: Status
    expected: str
    observed: str
    why: str
    known: str

    def breaks(self, *, strict: bool) -> bool:
        """Tell whether this verdict turns its case red."""
        weighs = self.level == "MUST" or (strict and self.level == "SHOULD")
        return self.status == "error" or (self.status in ("fail", "not-verified") and weighs)


@dataclass(frozen=True, slots=True)
class Judged:
    """One case on a runtime and a wire format, with all its verdicts; `seen` is None where a run was not kept."""

    case: str
    runtime: str
    wire: str
    status: CaseStatus
    why: str
    seconds: float
    outcome: JSON
    checks: tuple[Checked, ...]
    warnings: tuple[str, ...]
    reproduce: str
    seen: JSON = None

    @property
    def key(self) -> Key:
        """What was judged."""
        return self.runtime, self.case, self.wire

    def record(self) -> Record:
        """Return the same as the plain data that a run makes."""
        plain = {name: value for name, value in asdict(self).items() if name != "seen" or value is not None}
        return cast("Record", {**plain, "checks": [*plain["checks"]], "warnings": [*self.warnings]})


@dataclass(frozen=True, slots=True)
class Report:
    """A complete report; `exit` is the status of the run, `where` the file that it was read from."""

    header: Header
    cases: tuple[Judged, ...]
    exit: int
    where: str = ""
