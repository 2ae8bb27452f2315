"""The suite as it is installed here, and what it finds when it looks at a report: what is left out, what can't be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from pytest_agentcontract.certificate.subject import Driven, Subject
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.conformance.vectors import NOT_ASKED
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, equal
from pytest_agentcontract.plugin.runtimes import is_embedded
from pytest_agentcontract.plugin.selection import plan
from pytest_agentcontract.report.header import header
from pytest_agentcontract.report.values import Header, Judged
from pytest_agentcontract.scenario import load_case, load_vectors
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.load_case import OWN
from pytest_agentcontract.scenario.profile import Profile


@dataclass(frozen=True, slots=True)
class Here:
    """An installed suite: its version and digest, the digest of its cases, how well it bites, and its cases by id."""

    version: str
    digest: str
    measured: str
    release: JSONObject
    cases: Mapping[str, Case]

    @classmethod
    @cache
    def installed(cls) -> Here:
        """Measure what is installed."""
        own = header((), "")
        suite, measured, release = (as_object(own[name]) for name in ("suite", "requirements", "release"))
        cases = {case.id: case for case in (*load_case.shipped(), *load_vectors.shipped())}
        return cls(str(suite["version"]), str(suite["digest"]), str(measured["digest"]), release, cases)

    def is_of(self, judged_by: Header) -> bool:
        """Tell whether a report says that it was made by this version of the suite."""
        return judged_by.suite.version == self.version

    def left_out(self, subject: Subject) -> int:
        """Count the shipped cases that a whole run judges, and this one did not, on each wire format."""
        planned = plan([*self.cases.values()], [subject.profile], (), ())
        judged = {(one.case, one.wire) for one in subject.report.cases}
        return sum((item.case.id, item.wire) not in judged for item in planned)

    def disbelieves(self, subject: Subject) -> Iterator[str]:
        """Yield what a report says that this very suite does not say of anything: it was changed, or made up."""
        said = subject.report.header
        if (said.suite.digest, said.requirements.digest) != (self.digest, self.measured):
            yield f"says that suite {self.version} judged, but suite {self.version} has other code or cases here"
            return
        for name, value in self.release.items():
            if not equal(getattr(said.release, name), value):
                yield f"says {getattr(said.release, name)} of the suite's {name}, which is {value}"
        runtime = subject.runtime
        if runtime.embedded != is_embedded(runtime.name):
            yield f"says that {runtime.name} is {'' if runtime.embedded else 'not '}of the suite's own"
        if runtime.embedded and runtime.version != self.version:
            yield f"says that the suite's own {runtime.name} has the version {runtime.version!r}"
        for judged in subject.report.cases:
            yield from self._of_case(judged, own=bool(said.requirements.own))

    def _of_case(self, judged: Judged, *, own: bool) -> Iterator[str]:
        case = self.cases.get(judged.case)
        if case is None:
            if not (own and judged.case.startswith(f"{OWN}/")):
                yield f"judges {judged.case}, which the suite has no case of"
            return
        spoken = {check.requirement for check in judged.checks}
        for cover in case.covers:
            if cover.requirement not in spoken:
                yield f"{_place(judged)} says nothing of {cover.requirement}, which it judges"


def knows(profile: Profile | None, subject: Subject) -> bool:
    """Tell whether a profile that is known here is the one that a report's runtime was driven by."""
    return profile is not None and subject.runtime.digest == (f"sha256:{profile.digest}" if profile.digest else "")


def contradictions(profile: Profile, subject: Subject, cases: Mapping[str, Case]) -> Iterator[str]:
    """Yield what a report says against the profile of its runtime: above all, of what does and does not apply."""
    runtime = subject.runtime
    claims: tuple[tuple[str, JSON, JSON], ...] = (
        ("wire formats", [*runtime.wires], [*profile.wires]),
        ("capabilities", [*runtime.capabilities], [*sorted(profile.capabilities)]),
        ("driver", runtime.driver, profile.driver),
        ("return tool or adapter or files", subject.driven.plain(), Driven.of(profile).plain()),
    )
    for name, said, known in claims:
        if not equal(said, known):
            yield f"says other {name} of {runtime.name} than its profile"
    ledger = requirements.load(subject.report.header.requirements.set)
    for judged in subject.report.cases:
        case = cases.get(judged.case)
        applies = case is not None and applicable(case, profile, judged.wire) is None
        for check in judged.checks:
            row = ledger.get(check.requirement)
            if check.status != "not-applicable" or not applies or check.why.startswith(NOT_ASKED) or row is None:
                continue
            if not row.inapplicable(profile, judged.wire):
                yield f"{_place(judged)} says that {check.requirement} does not apply, which it does by the profile"


def _place(judged: Judged) -> str:
    return f"{judged.case}{f' ({judged.wire})' if judged.wire else ''}"
