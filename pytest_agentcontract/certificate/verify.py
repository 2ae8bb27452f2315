"""A certificate verified: who signed it, whether it agrees with itself, and with the suite that is installed here.

Nothing of what it claims is taken over: all of it is derived again from the report that it holds, and compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pytest_agentcontract.certificate import bundle, differences, here, keys, subject
from pytest_agentcontract.certificate.bundle import Bundle
from pytest_agentcontract.certificate.here import Here
from pytest_agentcontract.certificate.keys import PublicKey
from pytest_agentcontract.certificate.packing import unpacked
from pytest_agentcontract.certificate.predicate import Found, Issue
from pytest_agentcontract.certificate.statement import statements
from pytest_agentcontract.certificate.subject import Driven, Subject
from pytest_agentcontract.errors import CertificateError, ReportError
from pytest_agentcontract.jsonvalue import JSONObject, as_list, as_object, as_text, point
from pytest_agentcontract.scenario.profile import Profile

Find: TypeAlias = Callable[[str], Profile | None]
"""Returns the runtime of that name, if it is known here."""

_MADE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of it: the reasons to refuse the certificate, and what a reader has to know if there is none.

    `same_suite` tells whether the suite that judged is the one that is installed; `subject` and `found` are None where
    the certificate could not even be read.
    """

    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()
    same_suite: bool = True
    signer: PublicKey | None = None
    subject: Subject | None = None
    found: Found | None = None


def verify(content: bytes, expected: PublicKey | None, find: Find) -> Verified:
    """Verify the bytes of a certificate; `expected` is the signer's key, if it is known from elsewhere."""
    try:
        read = bundle.parse(content)
        signer = keys.parse_public(as_text(point(read.said, "/predicate/signer/publicKey")))
    except CertificateError as error:
        return Verified((error.what,))
    unsigned = tuple(_signatures(read, signer, expected))
    try:
        of = _subject(read.said)
    except (CertificateError, ReportError) as error:
        return Verified((*unsigned, str(error).partition("\n")[0]), signer=signer)
    compared = _compared(read, of, signer, find)
    who = () if expected else (_nobody(signer),)
    return replace(compared, reasons=(*unsigned, *compared.reasons), notes=(*who, *compared.notes), signer=signer)


def _signatures(read: Bundle, signer: PublicKey, expected: PublicKey | None) -> Iterator[str]:
    if expected is not None and expected.keyid != signer.keyid:
        yield f"is signed by the key {signer.keyid}, and not by the expected one, {expected.keyid}"
    for name, envelope in (("first", read.ours), ("second", read.result)):
        if envelope.keyid != signer.keyid:
            yield f"the {name} envelope names the key {envelope.keyid}, and the certificate another signer"
        elif not envelope.signed_by(signer):
            yield f"the signature of the {name} statement does not match: it was changed after it was signed"


def _nobody(signer: PublicKey) -> str:
    return (
        f"No key was given: the signature matches the key that the certificate itself holds ({signer.keyid}). "
        "That proves that nothing was changed since, and not who signed; give --key for that."
    )


def _subject(said: JSONObject) -> Subject:
    predicate = as_object(said.get("predicate"))
    content = unpacked(as_text(point(predicate, "/report/content")))
    report = subject.read(content, "the embedded report")
    runtime = as_object(predicate.get("runtime"))
    files = [as_object(one) for one in as_list(runtime.get("files"))]
    named = tuple((as_text(one.get("name")), as_text(point(one, "/digest/sha256"))) for one in files)
    return Subject(report, content, Driven(runtime.get("returnTool") is True, runtime.get("adapter") is True, named))


def _compared(read: Bundle, of: Subject, signer: PublicKey, find: Find) -> Verified:
    installed, header = Here.installed(), of.report.header
    same = installed.is_of(header)
    said = as_object(read.said.get("predicate"))
    issue = Issue(
        signer,
        as_text(said.get("made")),
        as_text(point(said, "/report/content")),
        installed.left_out(of) if same else _number(said),
    )
    derived = statements(of, issue)
    profile = find(of.runtime.name)
    reasons = [
        *differences.reasons(read.said, derived.ours),
        *differences.reasons(read.said_as_result, derived.result),
        *(() if _MADE.fullmatch(issue.made) else (f"was made at no time: {issue.made!r}",)),
        *(installed.disbelieves(of) if same else ()),
    ]
    notes = [] if same else [_other_suite(of, installed)]
    if profile is None or not here.knows(profile, of):
        notes.append(_unknown(of, known=profile is not None))
    elif same:
        reasons += here.contradictions(profile, of, installed.cases)
    return Verified(tuple(dict.fromkeys(reasons)), tuple(notes), same, subject=of, found=derived.found)


def _number(said: JSONObject) -> int:
    """Return how many cases a certificate says were left out, where only its own suite can tell."""
    number = point(said, "/run/casesLeftOut")
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else 0


def _other_suite(of: Subject, installed: Here) -> str:
    return (
        f"Made with another suite version: {of.report.header.suite.version}, and {installed.version} is installed. "
        "The verdict follows from the report; the digests of suite and cases, and what was left out, could not be "
        "recomputed."
    )


def _unknown(of: Subject, *, known: bool) -> str:
    how = "Another profile" if known else "No profile"
    return (
        f"{how} of {of.runtime.name} is known here: the profile's digest, and whether what is called not applicable "
        "is so, could not be recomputed."
    )
