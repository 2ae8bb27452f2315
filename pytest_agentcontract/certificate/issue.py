"""A certificate made: of a report, for a runtime that is known here, by the suite that is installed here."""

from __future__ import annotations

from datetime import UTC, datetime

from pytest_agentcontract.certificate import bundle, here, subject
from pytest_agentcontract.certificate.here import Here
from pytest_agentcontract.certificate.keys import SigningKey
from pytest_agentcontract.certificate.packing import packed
from pytest_agentcontract.certificate.predicate import Found, Issue
from pytest_agentcontract.certificate.statement import statements
from pytest_agentcontract.certificate.subject import Driven, Subject
from pytest_agentcontract.errors import CertificateError
from pytest_agentcontract.scenario.profile import Profile

_AGAIN = "Judge the runtime again: agent-contract certify --runtime NAME ..., without --report."


def certificate(content: bytes, where: str, profile: Profile, key: SigningKey) -> tuple[str, Found]:
    """Make the certificate of a report; return its text, and what the report comes to.

    Raise CertificateError where the report is of another runtime, profile or suite than those that are here, and
    ReportError where it is none.
    """
    of = Subject(subject.read(content, where), content, Driven.of(profile))
    installed = Here.installed()
    for complaint in _unfit(of, profile, installed):
        raise CertificateError(complaint, where=where, remedy=_AGAIN)
    made = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    derived = statements(of, Issue(key.public, made, packed(content), installed.left_out(of)))
    return bundle.text(derived, key), derived.found


def _unfit(of: Subject, profile: Profile, installed: Here) -> list[str]:
    runtime, suite = of.runtime, of.report.header.suite
    if runtime.name != profile.name:
        return [f"is about {runtime.name}, and not about {profile.name}"]
    if not installed.is_of(of.report.header):
        return [f"was made by suite {suite.version}, and {installed.version} is installed"]
    if not here.knows(profile, of):
        return [f"was made with another profile of {runtime.name} than the one that is known here"]
    return [*installed.disbelieves(of), *here.contradictions(profile, of, installed.cases)]
