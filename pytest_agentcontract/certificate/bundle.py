"""The file of a certificate: an in-toto bundle, which is one DSSE envelope on each of two lines.

The first line holds our own statement, the second one the test result. Any tool that reads DSSE or in-toto bundles
reads them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_agentcontract.cassette.file import whole
from pytest_agentcontract.certificate import envelope
from pytest_agentcontract.certificate.envelope import Envelope
from pytest_agentcontract.certificate.keys import SigningKey
from pytest_agentcontract.certificate.statement import OURS, TEST_RESULT, Statements
from pytest_agentcontract.errors import CertificateError, UsageError
from pytest_agentcontract.jsonvalue import JSONObject, dumps, loads

_LINES = 2
_REPORT = '{"record": "header"'
_REMEDY = "A certificate is made by: agent-contract certify --runtime NAME --key KEY -o FILE"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A certificate as it was read: two envelopes, and the statement in each."""

    ours: Envelope
    result: Envelope
    said: JSONObject
    said_as_result: JSONObject


def text(statements: Statements, key: SigningKey) -> str:
    """Return a certificate: both statements, signed."""
    both = (statements.ours, statements.result)
    return "".join(envelope.seal(dumps(one).encode(), key).line() + "\n" for one in both)


def free(path: Path) -> None:
    """Raise UsageError where a certificate can't be put, for something stands there."""
    if path.exists() or path.is_symlink():
        raise UsageError("is there already, and nothing is written over", where=str(path), remedy="Name a new file.")


def write(path: Path, certificate: str) -> None:
    """Write a certificate to a new file, whole or not at all; raise UsageError where that can't be."""
    free(path)
    try:
        whole.write(path, certificate)
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a new file.") from error


def content(path: Path) -> bytes:
    """Return the bytes of a file that is to be a certificate; raise UsageError where it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror}", where=str(path), remedy=_REMEDY) from error


def parse(content: bytes) -> Bundle:
    """Read a certificate; raise CertificateError for what is not two envelopes with a statement of each kind."""
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise CertificateError("is no text in UTF-8") from error
    if len(lines) != _LINES + 1 or lines[-1]:
        what = "is a report, and no certificate of one" if lines[0].startswith(_REPORT) else f"has not {_LINES} lines"
        raise CertificateError(f"{what}: `agent-contract certify` writes {_LINES} envelopes, a line for each")
    ours, result = (envelope.opened(line) for line in lines[:_LINES])
    return Bundle(ours, result, _statement(ours, OURS), _statement(result, TEST_RESULT))


def _statement(found: Envelope, kind: str) -> JSONObject:
    try:
        said = loads(found.payload.decode("utf-8"))
    except ValueError as error:
        raise CertificateError(f"a statement is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise CertificateError("a statement is no JSON object")
    if said.get("predicateType") != kind:
        raise CertificateError(f"a statement's predicateType is {said.get('predicateType')!r}, where {kind} stands")
    return said
