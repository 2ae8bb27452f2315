"""Bodies that a hostile client makes of good ones: other values, no JSON, no UTF-8, no encoding, bombs."""

from __future__ import annotations

import copy
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Any

from backports import zstd

from tests.provider.fuzz.clients import BAD, EITHER, GOOD, Span
from tests.provider.fuzz.documents import WRONG, Path

_ODD = (None, True, 0, -1, 1.5, "", "x", [], {}, [[]], [None], {"": None}, "\ud800", "\x00", 10**4000, -0.0, "[" * 50)
_NO_NUMBERS = (b"NaN", b"Infinity", b"-Infinity", b"01", b"+1", b".5", b"1.", b"0x1", b"undefined", b"True", b"'x'")
_HOLE = "@hole@"


def mutated(wire: str, given: dict[str, Any], rng: Random) -> tuple[str, bytes, Span]:
    """Return a mutation's name, the body it makes, and how many turns such a body may be served."""
    name = rng.choice(tuple(_MUTATIONS))
    body, span = _MUTATIONS[name](wire, copy.deepcopy(given), rng)
    return name, body, span


def _wrong(wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    path, values = rng.choice(tuple(WRONG[wire].items()))
    return _text(_with(given, path, rng.choice(values))), BAD


def _odd(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        given = _with(given, rng.choice(tuple(_paths(given))), rng.choice(_ODD))
    return _text(given), EITHER


def _swapped(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    """Put a part of the request where another one stood."""
    paths = tuple(_paths(given))
    return _text(_with(given, rng.choice(paths), _at(given, rng.choice(paths)))), EITHER


def _dropped(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    path = rng.choice([path for path in _paths(given) if path])
    del _at(given, path[:-1])[path[-1]]
    return _text(given), EITHER


def _lacking(wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    """Leave out what no request can do without."""
    needed = {"openai-responses": ("input", "model"), "gemini-generate": ("contents",)}
    del given[rng.choice(needed.get(wire, ("messages", "model")))]
    return _text(given), BAD


def _twice(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    """Say a key twice: two readers would see two requests."""
    path = rng.choice([path for path in _paths(given) if isinstance(_at(given, path), dict) and _at(given, path)])
    inner = _at(given, path)
    key = rng.choice(tuple(inner))
    text = b"{%b, %b" % (_text({key: rng.choice((inner[key], None, "x"))})[1:-1], _text(inner)[1:])
    return _filled(given, path, text), BAD


def _no_number(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    return _filled(given, _leaf(given, rng), rng.choice(_NO_NUMBERS)), BAD


def _no_text(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    """Put bytes into a string that are no UTF-8, or no JSON."""
    bad = rng.choice((b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x00", b"\n", b"\\x", b"\\ud8"))
    return _filled(given, _leaf(given, rng), b'"a%bb"' % bad), BAD


def _deep(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    depth = rng.choice((90, 150, 250, 400, 700, 900, 950, 990, 1_000, 5_000, 60_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")))
    path = rng.choice(tuple(_paths(given)))
    return _filled(given, path, opening * depth + b"1" + closing * depth), EITHER if depth <= 150 else BAD


def _cut(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    text = _text(given)
    return text[: rng.randrange(len(text))], BAD


def _surrounded(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    text = _text(given)
    return rng.choice(
        (b"\xef\xbb\xbf%b", b"%b,", b"%b{}", b"[%b]", b'"x"%b', b"%b\x00", b"/**/%b", b")]}'\n%b")
    ) % text, BAD


def _recoded(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    return _text(given).decode().encode(rng.choice(("utf-16", "utf-16-le", "utf-32", "cp500"))), BAD


def _other(_wire: str, _given: Any, rng: Random) -> tuple[bytes, Span]:
    return rng.choice(
        (b"", b" ", b"null", b"[]", b"{}", b"1", b'"x"', b"true", b"a=b&c=d", b"<a/>", rng.randbytes(99))
    ), BAD


def _noise(_wire: str, given: Any, rng: Random) -> tuple[bytes, Span]:
    """Turn some bytes over."""
    text = bytearray(_text(given))
    for _ in range(rng.randint(1, 4)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    return bytes(text), EITHER


_MUTATIONS: Mapping[str, Callable[[str, Any, Random], tuple[bytes, Span]]] = {
    "wrong type": _wrong,
    "odd value": _odd,
    "swapped": _swapped,
    "dropped": _dropped,
    "lacking": _lacking,
    "key twice": _twice,
    "no JSON value": _no_number,
    "no text": _no_text,
    "deep": _deep,
    "cut": _cut,
    "surrounded": _surrounded,
    "recoded": _recoded,
    "no request": _other,
    "noise": _noise,
}


def encoded(body: bytes, rng: Random) -> tuple[str, bytes, str, Span]:
    """Return a name, a body in a content-encoding, what the header says of it, and how many turns it may be served."""
    name, made = rng.choice(tuple(_pack(body, rng).items()))
    return name, *made


def _pack(body: bytes, rng: Random) -> Mapping[str, tuple[bytes, str, Span]]:
    zipped, zst = gzip.compress(body, 1, mtime=0), zstd.compress(body)
    broken = bytearray(zipped)
    broken[-6] ^= 1
    return {
        "gzip": (zipped, "gzip", GOOD),
        "deflate": (zlib.compress(body), "deflate", GOOD),
        "zstd": (zst, "zstd", GOOD),
        "two layers": (zstd.compress(zipped), "gzip, zstd", GOOD),
        "identity": (body, "identity", GOOD),
        "cut gzip": (zipped[: rng.randrange(len(zipped))], "gzip", BAD),
        "cut zstd": (zst[: rng.randrange(len(zst))], "zstd", BAD),
        "wrong sum": (bytes(broken), "gzip", BAD),
        "rest after gzip": (zipped + b"rest", "gzip", BAD),
        "rest after zstd": (zst + b"rest", "zstd", BAD),
        "not said": (zipped, "", BAD),
        "not so": (body, rng.choice(("gzip", "zstd", "deflate")), BAD),
        "another": (zipped, rng.choice(("zstd", "deflate")), BAD),
        "unknown": (body, rng.choice(("br", "compress", "x", "gzip;q=1", "\xff", "utf-8")), BAD),
        "wrong order": (zstd.compress(zipped), "zstd, gzip", BAD),
        "many": (body, "gzip, " * 500 + "gzip", BAD),
    }


@cache
def bombs() -> tuple[tuple[bytes, str], ...]:
    """Return bodies of some kilobytes that unfold to more than any body may be."""
    zeros, size = b"\x00" * (1 << 20), 300
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zipped = b"".join(packer.compress(zeros) for _ in range(size)) + packer.flush()
    presser = zstd.ZstdCompressor()
    pressed = b"".join(presser.compress(zeros) for _ in range(size)) + presser.flush()
    return (zipped, "gzip"), (pressed, "zstd")


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _paths(inner, (*path, key))


def _leaf(value: Any, rng: Random) -> Path:
    return rng.choice([path for path in _paths(value) if not isinstance(_at(value, path), dict | list)])


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    new = copy.deepcopy(new)  # it stands in a table, and may be changed in its turn
    if not path:
        return new
    _at(value, path[:-1])[path[-1]] = new
    return value


def _filled(value: Any, path: Path, text: bytes) -> bytes:
    """Render a document with a text of our own at one place."""
    return _text(_with(value, path, _HOLE)).replace(_text(_HOLE), text)
