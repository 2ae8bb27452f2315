"""Keys that certificates are signed with: ed25519, as the PEM files that openssl reads and writes too.

The package `cryptography` is loaded here alone, and only when something is signed or verified.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_agentcontract.errors import CertificateError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_EXTRA: Final = 'pip install "pytest-agent-conformance[sign]"'
_PUBLIC: Final = b"-----BEGIN PUBLIC KEY-----"
_PRIVATE: Final = b"PRIVATE KEY-----"
_MAKE: Final = "A pair of keys is made by: agent-contract keygen -o my.key"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """Whose signature it is: the key as PEM, and its id, the SHA-256 of its 32 raw bytes."""

    pem: str
    keyid: str
    raw: bytes

    def signed(self, signature: bytes, message: bytes) -> bool:
        """Tell whether a signature of a message is this key's."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - see above

        try:
            _public_class().from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key. It shows itself to nobody: `repr` and comparing leave the secret alone."""

    _secret: Ed25519PrivateKey
    public: PublicKey

    def __repr__(self) -> str:
        return f"SigningKey({self.public.keyid})"

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._secret.sign(message)


def generate(path: Path) -> tuple[Path, PublicKey]:
    """Write a new private key to `path` and its public key beside it; return the latter's place and value.

    Raise UsageError where something stands at one of the places: a key that is gone can't be made again.
    """
    available()
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - see above

    beside = path.with_name(f"{path.name}.pub")
    for place in (path, beside):
        if os.path.lexists(place):
            raise UsageError(
                "is there already, and no key is written over", where=str(place), remedy="Name a new file."
            )
    secret = Ed25519PrivateKey.generate()
    pem = secret.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = _public(secret.public_key())
    _new_file(path, pem, 0o600)
    _new_file(beside, public.pem.encode(), 0o644)
    return beside, public


def load_signing(path: Path) -> SigningKey:
    """Read a private key (PEM, PKCS#8, not encrypted); raise UsageError for anything else."""
    available()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - see above
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - see above

    content = _content(path)
    if _PUBLIC in content:
        raise UsageError("is the public half of a pair", where=str(path), remedy="Sign with the private one (my.key).")
    try:
        secret = load_pem_private_key(content, None)
    except TypeError as error:
        raise UsageError("is encrypted", where=str(path), remedy="Name a key without a passphrase.") from error
    except ValueError as error:
        raise UsageError("is no private key in PEM", where=str(path), remedy=_MAKE) from error
    if not isinstance(secret, Ed25519PrivateKey):
        raise UsageError("is no ed25519 key", where=str(path), remedy=_MAKE)
    return SigningKey(secret, _public(secret.public_key()))


def load_public(path: Path) -> PublicKey:
    """Read a public key (PEM, SubjectPublicKeyInfo); raise UsageError for anything else."""
    content = _content(path)
    if _PRIVATE in content:
        raise UsageError("is the private half of a pair", where=str(path), remedy="Name the public one (my.key.pub).")
    try:
        return parse_public(content.decode("ascii"))
    except (CertificateError, UnicodeDecodeError) as error:
        raise UsageError("is no ed25519 public key in PEM", where=str(path), remedy=_MAKE) from error


def parse_public(pem: str) -> PublicKey:
    """Make a public key of its PEM text; raise CertificateError if it is none, or is written in another way."""
    available()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415 - see above

    try:
        found = load_pem_public_key(pem.encode())
    except ValueError as error:
        raise CertificateError("what is said to be the signer's public key is no key in PEM") from error
    if not isinstance(found, _public_class()):
        raise CertificateError("the signer's public key is no ed25519 key")
    return _public(found)


def _public(key: Ed25519PublicKey) -> PublicKey:
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - see above

    raw = key.public_bytes_raw()
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return PublicKey(pem.decode("ascii"), hashlib.sha256(raw).hexdigest(), raw)


def _public_class() -> type[Ed25519PublicKey]:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - see above

    return Ed25519PublicKey


def available() -> None:
    """Raise UsageError where the package that signs is not installed."""
    try:
        import cryptography  # noqa: F401, PLC0415 - to see whether it can be
    except ImportError as error:
        raise UsageError("certificates need the package cryptography", remedy=_EXTRA) from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror}", where=str(path), remedy=_MAKE) from error


def _new_file(path: Path, content: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a new file.") from error
    with os.fdopen(handle, "wb") as file:
        file.write(content)
