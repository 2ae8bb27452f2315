"""Our own predicate: what was judged, by what, what was found, and what it does not establish."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_agentcontract.certificate import prose
from pytest_agentcontract.certificate.keys import PublicKey
from pytest_agentcontract.certificate.packing import ENCODING
from pytest_agentcontract.certificate.subject import Subject
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.report import level, standing, tally
from pytest_agentcontract.report.level import Stated
from pytest_agentcontract.report.tally import Known, Tally
from pytest_agentcontract.report.values import Header, Report, Runtime


@dataclass(frozen=True, slots=True)
class Issue:
    """What a certificate adds to its subject: who signs, when (UTC), the packed report, how many cases are left out."""

    signer: PublicKey
    made: str
    packed: str
    left_out: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a report comes to: the tally, the known failures, the level, and all of it in one paragraph."""

    tally: Tally
    known: tuple[Known, ...]
    stated: Stated
    summary: str


def found(subject: Subject, left_out: int) -> Found:
    """Add a report up; `left_out` counts the cases of the suite that were not run."""
    report = subject.report
    ledger = requirements.load(report.header.requirements.set)
    rows, name = standing.rows(report, ledger), subject.runtime.name
    counted, known = tally.tally(rows, name, ledger, subject.profile), tally.known(report, name)
    stated = level.stated(counted, len(known), left_out, report.exit)
    return Found(counted, known, stated, prose.paragraph(report.header, counted, stated, ledger))


def predicate(subject: Subject, issue: Issue, of: Found) -> JSONObject:
    """Return the predicate; the same report and issue give the same one."""
    header = subject.report.header
    return {
        "assessment": "self-assessed",
        "summary": of.summary,
        "level": {"name": of.stated.name, "reasons": [*of.stated.reasons]},
        "runtime": {**_runtime(subject.runtime), **subject.driven.plain()},
        "suite": {"version": header.suite.version, "digest": digest(header.suite.digest)},
        "requirements": _requirements(header),
        "release": _release(header),
        "run": _run(subject.report, issue.left_out),
        "counts": {name: {bucket: len(ids) for bucket, ids in row.items()} for name, row in of.tally.items()},
        "verdicts": {name: {bucket: [*ids] for bucket, ids in row.items()} for name, row in of.tally.items()},
        "knownFailures": [one.plain() for one in of.known],
        "doesNotEstablish": [*prose.DOES_NOT_ESTABLISH],
        "made": issue.made,
        "signer": {"keyid": issue.signer.keyid, "publicKey": issue.signer.pem},
        "report": {"encoding": ENCODING, "content": issue.packed},
    }


def digest(text: str) -> JSON:
    """Return a digest of a report in in-toto's form; null where there was nothing to take one of."""
    return {"sha256": text.removeprefix("sha256:")} if text else None


def _runtime(runtime: Runtime) -> JSONObject:
    where = runtime.platform
    return {
        "name": runtime.name,
        "version": runtime.version,
        "suitesOwn": runtime.embedded,
        "driver": runtime.driver,
        "wireFormats": [*runtime.wires],
        "capabilities": [*runtime.capabilities],
        "profile": digest(runtime.digest),
        "platform": {"system": where.system, "machine": where.machine, "python": where.python},
    }


def _requirements(header: Header) -> JSONObject:
    measured = header.requirements
    return {"set": measured.set, "digest": digest(measured.digest), "ownCases": digest(measured.own)}


def _release(header: Header) -> JSONObject:
    release = header.release
    return {
        "musts": release.musts,
        "mustsWithAKilledMutant": release.musts_with_a_killed_mutant,
        "mutants": release.mutants,
        "nullFloor": release.null_floor,
    }


def _run(report: Report, left_out: int) -> JSONObject:
    return {
        "strict": report.header.strict,
        "exit": report.exit,
        "casesJudged": len(report.cases),
        "casesLeftOut": left_out,
    }
