"""All that can be read out of some bytes: the texts that stand there openly, and those that an encoding hides."""

from __future__ import annotations

import binascii
import json
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes

from pytest_agentcontract.wire.sse import Reader

_DEEPEST: Final = 4
"""How many encodings inside each other are undone."""
_MOST_READ: Final = 24
_ALWAYS_READ: Final = 65536
"""What is read of some bytes is at most so many times as much, of few bytes more: nothing explodes."""
_MOST_INFLATED: Final = 64 * 1024 * 1024
_BASE64: Final = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX: Final = re.compile(rb"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}){12,}+(?![0-9A-Fa-f])")
_STREAM: Final = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:data|event|id|retry|):")
_JSON: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*[{\["]')
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|([nrtbf])|(.))", re.DOTALL)
_NUMBERED: Final = re.compile(rb"&#(?:[xX]([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")

Reading: TypeAlias = tuple[str, bytes]
"""How some bytes were read ("" for as they are), and what they say then."""


def readings(data: bytes) -> Iterator[Reading]:
    """Yield the bytes as they are, and whatever can be read from them."""
    waiting, seen = deque([("", data, 0)]), {data}
    left = _MOST_READ * (len(data) + _ALWAYS_READ)
    while waiting and left > 0:
        how, read, depth = waiting.popleft()
        left -= len(read)
        yield how, read
        decoders = _OF_TEXT if _is_text(read) else _OF_OTHERS
        for name, decode in decoders.items() if depth < _DEEPEST else ():
            for text in decode(read):
                if text and text not in seen:
                    seen.add(text)
                    waiting.append((f"{how}, {name}", text, depth + 1))


def _from_json(data: bytes) -> Iterator[bytes]:
    """Yield all texts of a document on lines of their own, and those among them that are documents again."""
    if not _JSON.match(data):
        return
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return
    yield from _told([text for _, text in _leaves(value)])


def _from_stream(data: bytes) -> Iterator[bytes]:
    """Yield the texts of all events, and what those that stand at the same place in them say together."""
    if not _STREAM.match(data):
        return
    grown: dict[str, list[str]] = {}
    texts: list[str] = []
    for line in _data_of(data):
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            texts.append(line)
            continue
        for path, text in _leaves(value):
            texts.append(text)
            grown.setdefault(path, []).append(text)
    yield from _told(texts)
    yield from _told(["".join(parts) for parts in grown.values() if len(parts) > 1])


def _data_of(data: bytes) -> Iterator[str]:
    try:
        yield from (frame.data for frame in Reader().feed(data + b"\n\n"))
    except UnicodeDecodeError:
        yield from (frame.data for frame in Reader().feed(data.decode("utf-8", "replace").encode() + b"\n\n"))


def _told(texts: list[str]) -> Iterator[bytes]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    yield b"\n".join(encoded)
    yield from (text for text in encoded if _JSON.match(text))


def _leaves(root: object) -> Iterator[tuple[str, str]]:
    """Yield each text of a JSON value and its path, where an item of an array is told by its `index`."""
    waiting: list[tuple[str, object]] = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            index = value.get("index", value.get("output_index", ""))
            own = f"{path}[{index}]" if isinstance(index, int) else path
            for key, inner in reversed(value.items()):
                yield f"{own}/", key
                waiting.append((f"{own}/{key}", inner))
        elif isinstance(value, list):
            waiting += ((path, inner) for inner in reversed(value))


def _unescaped(data: bytes) -> Iterator[bytes]:
    if b"\\" in data:
        yield _ESCAPE.sub(_character, data)


def _character(match: re.Match[bytes]) -> bytes:
    four, two, short, other = match.groups()
    if short:
        return {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}[short]
    return chr(int(four or two, 16)).encode("utf-8", "surrogatepass") if four or two else other


def _unquoted(data: bytes) -> Iterator[bytes]:
    if b"%" in data:
        yield unquote_to_bytes(data.replace(b"+", b" "))


def _from_page(data: bytes) -> Iterator[bytes]:
    """Yield a page's text with its letters for the numbers that stand for them."""
    if b"&#" in data:
        yield _NUMBERED.sub(_numbered, data)


def _numbered(match: re.Match[bytes]) -> bytes:
    number = int(match[1], 16) if match[1] else int(match[2])
    return chr(number).encode("utf-8", "surrogatepass") if number <= sys.maxunicode else match[0]


def _from_base64(data: bytes) -> Iterator[bytes]:
    """Yield what the runs of base64 letters say; a short tail says nothing."""
    runs = (match[0].rstrip(b"=").translate(_TO_STANDARD) for match in _BASE64.finditer(data))
    yield from _sorted_out(binascii.a2b_base64(run[: len(run) // 4 * 4] + _tail(run)) for run in runs)


_TO_STANDARD: Final = bytes.maketrans(b"-_", b"+/")


def _tail(run: bytes) -> bytes:
    rest = run[len(run) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


def _from_hex(data: bytes) -> Iterator[bytes]:
    yield from _sorted_out(binascii.unhexlify(match[0]) for match in _HEX.finditer(data))


def _sorted_out(decoded: Iterable[bytes]) -> Iterator[bytes]:
    """Yield all that is text in one, then all that is not: nobody reads on in that, and it would hide the text."""
    texts, others = list[bytes](), list[bytes]()
    for one in decoded:
        (texts if _is_text(one) else others).append(one)
    yield b"\n".join(texts)
    yield b"\n".join(others)


def _is_text(data: bytes) -> bool:
    return len(data.translate(None, _CONTROLS)) * 50 >= len(data) * 49


_CONTROLS: Final = bytes({*range(32), 127} - {*b"\t\n\r"})


def _wide(data: bytes) -> Iterator[bytes]:
    """Yield a text of two or four bytes a letter without its zeros."""
    if data.count(b"\0") * 3 > len(data):
        yield data.replace(b"\0", b"")


def _inflated(data: bytes) -> Iterator[bytes]:
    if data[:2] in _ZLIB:
        try:
            yield zlib.decompressobj(_EITHER).decompress(data, _MOST_INFLATED)
        except zlib.error:
            return


_ZLIB: Final = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_EITHER: Final = 32 + zlib.MAX_WBITS


def _unzstd(data: bytes) -> Iterator[bytes]:
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415
    try:
        yield zstd.ZstdDecompressor().decompress(data, _MOST_INFLATED)
    except zstd.ZstdError:
        return


_OF_OTHERS: Final[Mapping[str, Callable[[bytes], Iterator[bytes]]]] = {
    "in wide letters": _wide,
    "decompressed": _inflated,
    "decompressed by zstd": _unzstd,
}
_OF_TEXT: Final = {
    **_OF_OTHERS,
    "as JSON": _from_json,
    "as an event stream": _from_stream,
    "unescaped": _unescaped,
    "percent-decoded": _unquoted,
    "as a page": _from_page,
    "as base64": _from_base64,
    "as hexadecimal": _from_hex,
}
