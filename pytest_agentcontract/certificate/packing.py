"""A report inside a certificate: gzip and base64, so that `base64 -d | gunzip` brings it back."""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from typing import Final

from pytest_agentcontract.errors import CertificateError

ENCODING: Final = "gzip+base64"
LARGEST: Final = 512 * 1024 * 1024
"""How large a report may become: what is packed with bad intentions must not fill the memory of who reads it."""

_GZIP = 16 + zlib.MAX_WBITS


def packed(content: bytes) -> str:
    """Return a report as a certificate holds it."""
    return base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")


def unpacked(text: str, largest: int = LARGEST) -> bytes:
    """Return the report; raise CertificateError where there is none, or something beside it."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        content = unpacker.decompress(base64.b64decode(text.encode("ascii"), validate=True), largest)
    except (binascii.Error, UnicodeEncodeError, zlib.error) as error:
        raise CertificateError(f"the embedded report can't be unpacked: {error}") from error
    if unpacker.unconsumed_tail:
        raise CertificateError(f"the embedded report is larger than {largest} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise CertificateError("the embedded report is cut short, or something stands behind it")
    return content
