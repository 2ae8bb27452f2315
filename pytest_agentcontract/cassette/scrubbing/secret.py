"""The secrets that are known by their values: those of the environment, and those that an exchange's headers carry."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.cassette.exchange import Headers
from pytest_agentcontract.cassette.scrubbing import names
from pytest_agentcontract.cassette.scrubbing.shape import Found

SHORTEST: Final = 8
"""A value shorter than this is looked for nowhere: it stands in too much that is no secret."""
_SHORTEST_MIXED: Final = 6
"""So short may be the value of a variable whose last word says password, where it is no plain word and no number."""
_SHORTEST_UNKNOWN: Final = 16
_SECRET_VARIABLE: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"(?:SECRET|TOKEN|PASSWORD|PASSWD)\Z", re.IGNORECASE)
_MIXED: Final = re.compile(rb"(?=.*[A-Za-z])(?=.*[0-9])|(?=.*[^A-Za-z0-9\s._/:-])", re.DOTALL)
_SCHEME: Final = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]+(?=\S)")
_COOKIE_ATTRIBUTES: Final = frozenset({b"expires", b"max-age", b"domain", b"path", b"samesite", b"priority"})


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """Values that must stand nowhere, and their kinds. They are shown to nobody: not in a message, not in a repr."""

    kinds: Mapping[bytes, str]

    def __repr__(self) -> str:
        return f"Secrets({len(self.kinds)} values)"

    def find(self, data: bytes) -> Iterator[Found]:
        """Yield where one of the values stands."""
        for value, kind in self.kinds.items():
            at = data.find(value)
            while at >= 0:
                yield Found(kind, at, at + len(value))
                at = data.find(value, at + len(value))


def carried(headers: Headers) -> Iterator[tuple[bytes, str]]:
    """Yield the secret values that headers carry, and their kinds: of each also the parts."""
    for name, text in headers:
        kind = names.header_kind(name)
        if kind is None:
            continue
        value = text.encode("utf-8", "surrogateescape").strip()
        parts = _cookies(value) if kind == "cookie" else _parts(value)
        least = SHORTEST if _is_known(name) else _SHORTEST_UNKNOWN
        yield from ((part, kind) for part in parts if len(part) >= least)


def environment(environ: Mapping[str, str]) -> Iterator[tuple[bytes, str]]:
    """Yield the values of the variables whose names say that they are secret."""
    for name, text in environ.items():
        value = text.encode("utf-8", "surrogateescape").strip()
        mixed = _PASSWORD.search(name) and _MIXED.match(value)
        if _SECRET_VARIABLE.search(name) and len(value) >= (_SHORTEST_MIXED if mixed else SHORTEST):
            yield value, "environment"


def _is_known(name: str) -> bool:
    return name.lower() in names.HEADERS or names.plain(name) in names.CREDENTIALS


def _cookies(value: bytes) -> Iterator[bytes]:
    for cookie in value.split(b";"):
        name, separator, content = cookie.strip().partition(b"=")
        if separator and name.lower() not in _COOKIE_ATTRIBUTES:
            yield content.strip(b'"')


def _parts(value: bytes) -> Iterator[bytes]:
    """Yield a credential without its scheme; of a Basic one also what it encodes, and the password in there."""
    bare = _SCHEME.sub(b"", value, count=1)
    yield bare
    if value[:6].lower() == b"basic ":
        try:
            decoded = base64.b64decode(bare, validate=True)
        except binascii.Error:
            return
        yield decoded
        yield decoded.partition(b":")[2]
