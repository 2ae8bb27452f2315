"""Request bodies that come compressed, as some clients send them: decoded, and never to more than a body may be."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.provider.heads import MOST_BODY

_GZIP, _ZLIB = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS


def decoded(body: bytes, encoding: str) -> bytes:
    """Undo the encodings that a content-encoding header lists, last first; raise WireError for what can't be undone."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    for name in reversed(names):
        if name not in _DECODERS:
            message = f"the body's content-encoding {name!r} is not spoken here: only {', '.join(_DECODERS)}"
            raise WireError(message)
        body = _DECODERS[name](body)
    return body


class _Inflater(Protocol):
    """What zlib and zstd offer alike; `eof` and `unused_data` say how the end of the data fits."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _inflated(body: bytes, bits: int) -> bytes:
    return _bounded(body, zlib.decompressobj(bits), zlib.error)


def _unzstd(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):  # few clients send it: the others pay nothing
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    return _bounded(body, zstd.ZstdDecompressor(), zstd.ZstdError)


def _bounded(body: bytes, inflater: _Inflater, broken: type[Exception]) -> bytes:
    try:
        plain = inflater.decompress(body, MOST_BODY + 1)
    except broken as error:
        message = f"the compressed body is broken: {error}"
        raise WireError(message) from error
    if len(plain) > MOST_BODY:
        message = f"the compressed body holds more than {MOST_BODY} bytes"
        raise WireError(message)
    if not inflater.eof:
        message = "the compressed body is cut short"
        raise WireError(message)
    if inflater.unused_data:
        message = f"{len(inflater.unused_data)} bytes stand after the end of the compressed body"
        raise WireError(message)
    return plain


_DECODERS: Mapping[str, Callable[[bytes], bytes]] = {
    "identity": lambda body: body,
    "gzip": partial(_inflated, bits=_GZIP),
    "deflate": partial(_inflated, bits=_ZLIB),
    "zstd": _unzstd,
}
