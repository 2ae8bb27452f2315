"""DSSE envelopes (Dead Simple Signing Envelope, version 1): some bytes, what they are, and one signature of both.

Reading is strict, so that nothing can be changed in an envelope without being noticed: an envelope says nothing that is
not signed, and is written in one way only.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.certificate.keys import PublicKey, SigningKey
from pytest_agentcontract.errors import CertificateError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps, loads

IN_TOTO: Final = "application/vnd.in-toto+json"
_ENVELOPE, _SIGNATURE = {"payload", "payloadType", "signatures"}, {"keyid", "sig"}


@dataclass(frozen=True, slots=True)
class Envelope:
    """One signed statement: its bytes, the signature, and the id of the key that the signature is said to be of."""

    payload: bytes
    keyid: str
    signature: bytes

    @property
    def message(self) -> bytes:
        """What is signed: the payload with its type and both lengths (DSSE's pre-authentication encoding)."""
        return b"DSSEv1 %d %b %d %b" % (len(IN_TOTO), IN_TOTO.encode(), len(self.payload), self.payload)

    def signed_by(self, key: PublicKey) -> bool:
        """Tell whether the signature is that of a key."""
        return self.keyid == key.keyid and key.signed(self.signature, self.message)

    def line(self) -> str:
        """Return the envelope as one line of JSON."""
        signature: JSON = {"keyid": self.keyid, "sig": _text(self.signature)}
        return dumps({"payload": _text(self.payload), "payloadType": IN_TOTO, "signatures": [signature]})


def seal(payload: bytes, key: SigningKey) -> Envelope:
    """Sign some bytes, which are to be an in-toto statement."""
    unsigned = Envelope(payload, key.public.keyid, b"")
    return Envelope(payload, key.public.keyid, key.sign(unsigned.message))


def opened(line: str) -> Envelope:
    """Read an envelope; raise CertificateError, saying what is wrong, for one that is not as `line` writes it."""
    document = _object(line)
    _fields(document, _ENVELOPE, "an envelope")
    if document["payloadType"] != IN_TOTO:
        raise CertificateError(f"an envelope's payloadType is {document['payloadType']!r}, and not {IN_TOTO}")
    signatures = document["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], dict):
        raise CertificateError("an envelope has to hold exactly one signature")
    signature = signatures[0]
    _fields(signature, _SIGNATURE, "a signature")
    payload, sig = _bytes(document["payload"], "an envelope's payload"), _bytes(signature["sig"], "a signature")
    found = Envelope(payload, str(signature["keyid"]), sig)
    if found.line() != line:
        raise CertificateError("an envelope is written in another way than certificates are (blanks, order or escapes)")
    return found


def _object(line: str) -> JSONObject:
    try:
        document = loads(line)
    except ValueError as error:
        raise CertificateError(f"an envelope is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise CertificateError("an envelope is no JSON object")
    return document


def _fields(found: JSONObject, expected: set[str], what: str) -> None:
    if unknown := sorted(found.keys() - expected):
        raise CertificateError(f"{what} has a field that there is none of: {', '.join(unknown)}")
    if missing := sorted(expected - found.keys()):
        raise CertificateError(f"{what} lacks {', '.join(missing)}")


def _bytes(value: JSON, what: str) -> bytes:
    """Decode base64 of which every character counts: no junk, no other padding, no bits that mean nothing."""
    try:
        found = base64.b64decode(value.encode("ascii"), validate=True) if isinstance(value, str) else b""
    except (binascii.Error, UnicodeEncodeError) as error:
        raise CertificateError(f"{what} is no base64") from error
    if not found or _text(found) != value:
        raise CertificateError(f"{what} is not the base64 of its bytes")
    return found


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
