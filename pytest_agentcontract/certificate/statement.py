"""The two in-toto statements of a certificate: our own, which says all, and a plain test result for generic readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.certificate.predicate import Found, Issue, digest, found, predicate
from pytest_agentcontract.certificate.subject import Subject
from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.report.level import RESULTS
from pytest_agentcontract.report.tally import LEVELS

STATEMENT: Final = "https://in-toto.io/Statement/v1"
OURS: Final = "urn:agent-contract:certificate:v1"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"

_PASSED: Final = "passed"
_NOWHERE: Final = "notApplicable"
"""A test result has no place for what does not apply."""


@dataclass(frozen=True, slots=True)
class Statements:
    """Both statements, derived from one report."""

    ours: JSONObject
    result: JSONObject
    found: Found


def statements(subject: Subject, issue: Issue) -> Statements:
    """Derive both statements; the same report and issue give the same statements."""
    of = found(subject, issue.left_out)
    ours = _statement(subject, OURS, predicate(subject, issue, of))
    return Statements(ours, _statement(subject, TEST_RESULT, _result(subject, of)), of)


def _statement(subject: Subject, kind: str, said: JSONObject) -> JSONObject:
    name = f"agent contract report of {subject.runtime.name}"
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": subject.digest}}],
        "predicateType": kind,
        "predicate": said,
    }


def _result(subject: Subject, of: Found) -> JSONObject:
    """Return the predicate of a test result. Only a MUST fails: all else that is not met is a warning."""
    passed, warned, failed = list[JSON](), list[JSON](), list[JSON]()
    for level in LEVELS:
        for bucket, ids in of.tally[level].items():
            if bucket == _PASSED:
                passed += ids
            elif bucket == "failed" and level == "MUST":
                failed += ids
            elif bucket != _NOWHERE:
                warned += ids
    return {
        "result": RESULTS[of.stated.name],
        "configuration": _configuration(subject),
        "passedTests": passed,
        "warnedTests": warned,
        "failedTests": failed,
    }


def _configuration(subject: Subject) -> list[JSON]:
    """Return what it depends on: the suite, its requirements and cases, the user's own, and the runtime's profile."""
    header, runtime = subject.report.header, subject.runtime
    parts = (
        (f"agent contract suite {header.suite.version}", header.suite.digest),
        (f"requirement set {header.requirements.set} and cases", header.requirements.digest),
        ("own cases", header.requirements.own),
        (f"profile of {runtime.name} {runtime.version}".rstrip(), runtime.digest),
    )
    return [{"name": name, "digest": digest(value)} for name, value in parts if value]
