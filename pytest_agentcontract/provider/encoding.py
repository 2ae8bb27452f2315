"""Content encodings undone: of requests, as some clients send them, and of recorded answers, piece by piece.

Nothing is ever decoded to more than a body may be.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, Protocol, cast

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.provider.heads import MOST_BODY

_GZIP, _ZLIB = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS
_DEFLATE: Final = 8


def decoded(body: bytes, encoding: str) -> bytes:
    """Undo the encodings that a content-encoding header lists, last first; raise WireError for what can't be undone."""
    return b"".join(unwound((body,), encoding))


def unwound(pieces: Iterable[bytes], encoding: str, *, cut: bool = False) -> tuple[bytes, ...]:
    """Do so for a body in pieces: return for each one what came to light with it, which may be nothing.

    A body that was `cut` need not come to its end.
    """
    undone = tuple(pieces)
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    for name in reversed(names):
        if name not in _INFLATERS:
            message = f"the body's content-encoding {name!r} is not spoken here: only {', '.join(_INFLATERS)}"
            raise WireError(message)
        opened = _INFLATERS[name]
        undone = undone if opened is None else _inflated(undone, opened(undone), cut=cut)
    return undone


class _Inflater(Protocol):
    """What zlib and zstd offer alike; `eof` and `unused_data` say how the end of the data fits."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Brotli:
    """Brotli in their manner: what stands after its end breaks it."""

    unused_data = b""

    def __init__(self) -> None:
        import brotli  # type: ignore[import-untyped]  # noqa: PLC0415 - it ships no types; as for zstd

        self._stream = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return cast("bytes", self._stream.process(data, output_buffer_limit=max_length))


def _inflated(pieces: Iterable[bytes], inflater: _Inflater, *, cut: bool) -> tuple[bytes, ...]:
    plain, room, rest = [], MOST_BODY, 0
    for piece in pieces:
        rest += len(piece) if inflater.eof else 0
        plain.append(b"" if inflater.eof else _opened(inflater, piece, room))
        room -= len(plain[-1])
    if not inflater.eof and not cut:
        message = "the compressed body is cut short"
        raise WireError(message)
    if rest or inflater.unused_data:
        message = f"{rest + len(inflater.unused_data)} bytes stand after the end of the compressed body"
        raise WireError(message)
    return tuple(plain)


def _opened(inflater: _Inflater, piece: bytes, room: int) -> bytes:
    try:
        plain = inflater.decompress(piece, room + 1)
    except Exception as error:  # each library has one of its own, and they share no base
        message = f"the compressed body is broken: {error}"
        raise WireError(message) from error
    if len(plain) > room:
        message = f"the compressed body holds more than {MOST_BODY} bytes"
        raise WireError(message)
    return plain


def _zlib(_: tuple[bytes, ...], bits: int) -> _Inflater:
    return zlib.decompressobj(bits)


def _deflate(pieces: tuple[bytes, ...]) -> _Inflater:
    """Take what is called deflate with the frame that belongs around it, or without one, as some servers send it."""
    first = next((piece[0] for piece in pieces if piece), _DEFLATE)
    return zlib.decompressobj(_ZLIB if first & 0xF == _DEFLATE else -_ZLIB)


def _zstd(_: tuple[bytes, ...]) -> _Inflater:
    if sys.version_info >= (3, 14):  # few clients send it: the others pay nothing
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    return zstd.ZstdDecompressor()


_INFLATERS: Final[Mapping[str, Callable[[tuple[bytes, ...]], _Inflater] | None]] = {
    "identity": None,
    "gzip": partial(_zlib, bits=_GZIP),
    "deflate": _deflate,
    "br": lambda _: _Brotli(),
    "zstd": _zstd,
}
