"""Hostile clients as values: what each sends, how it ends, and how many turns it may be served. All from a seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, TypeAlias

from pytest_agentcontract.provider.heads import MOST_BODY, MOST_HEADERS
from pytest_agentcontract.wire.formats import FORMATS
from tests.provider.fuzz import bodies
from tests.provider.fuzz.bodies import BAD, EITHER, GOOD, Span

Ending: TypeAlias = Literal["half-close", "wait", "reset", "silence", "hang-up"]
"""What a client does once all is sent.

It shuts its side and reads to the end, waits for one answer on the open connection, resets, says nothing more for as
long as it may, or closes without reading.
"""

TURNS = 3
"""How many turns every agent's script has: no attempt may be served more."""

_BOMBS = 1_500
"""One attempt of so many is a body that unfolds to more than may be: each costs half a second."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One connection. `pieces` are sent one after the other; `span` is how many turns it may be served.

    To what is `native`, every error is about a model request: it must be one that the wire's own clients understand.
    """

    number: int
    shape: str
    wire: str
    method: str
    pieces: tuple[bytes, ...]
    span: Span
    ending: Ending = "half-close"
    native: bool = False


@dataclass(frozen=True, slots=True)
class Good:
    """A good request in its parts."""

    wire: str
    path: str
    document: dict[str, object]

    @property
    def body(self) -> bytes:
        """The body as it is sent."""
        return json.dumps(self.document).encode()

    def bytes(
        self,
        *lines: bytes,
        body: bytes | None = None,
        first: bytes = b"POST %b HTTP/1.1",
        length: bool = True,
    ) -> bytes:
        """Render it, with other lines, another body or another first line."""
        content = self.body if body is None else body
        head = [first.replace(b"%b", self.path.encode("utf-8", "surrogatepass")), b"host: x", *lines]
        head += [b"content-length: %d" % len(content)] if length else []
        return b"\r\n".join(head) + b"\r\n\r\n" + content


def attempt(seed: int, number: int, prefix: str, mark: str) -> Attempt:
    """Make one of the attempts of a seed; `prefix` is where the seat is, `mark` the sign of the agent that asks."""
    rng = Random(f"{seed}/{number}")  # noqa: S311 - it has to be repeatable
    wire, stream = rng.choice(tuple(FORMATS)), rng.random() < 0.3
    good = Good(wire, prefix + bodies.target(wire, stream=stream), bodies.document(wire, mark, rng, stream=stream))
    if number % _BOMBS == _BOMBS // 2:
        body, encoding = rng.choice(bodies.bombs())
        data = good.bytes(b"content-encoding: " + encoding.encode(), body=body)
        return Attempt(number, f"{encoding} bomb", wire, "POST", (data,), BAD, native=True)
    kind = rng.choices(tuple(_KINDS), tuple(weight for weight, _ in _KINDS.values()))[0]
    made = _KINDS[kind][1](good, rng)
    made = replace(made, number=number, shape=f"{kind}: {made.shape}", wire=wire)
    return replace(made, pieces=tuple(_split(made.pieces, rng)))


def _made(
    shape: str, data: bytes, span: Span, *, ending: Ending = "half-close", native: bool = False, method: str = "POST"
) -> Attempt:
    return Attempt(0, shape, "", method, (data,), span, ending, native)


def _split(pieces: tuple[bytes, ...], rng: Random) -> Iterator[bytes]:
    """Send some requests in several pieces, at any place, and a few byte by byte."""
    for piece in pieces:
        way = rng.random()
        if way < 0.7 or not 2 < len(piece) < 20_000:
            yield piece
        elif way < 0.97:
            at = rng.randrange(1, len(piece))
            yield from (piece[:at], piece[at:])
        else:
            yield from (bytes([byte]) for byte in piece[:300])
            yield piece[300:]


# ---- good requests, in all the ways there are


def _good(good: Good, rng: Random) -> Attempt:
    plain, half = good.bytes(), rng.randrange(1, len(good.body))
    chunks = b"%x;a=b\r\n%b\r\n%X\r\n%b\r\n0\r\n" % (half, good.body[:half], len(good.body) - half, good.body[half:])
    chunked = b"transfer-encoding: chunked"
    ways: Mapping[str, tuple[bytes, Span]] = {
        "plain": (plain, GOOD),
        "twice": (plain + plain, (2, 2)),
        "chunked": (good.bytes(chunked, body=chunks + b"\r\n", length=False), GOOD),
        "trailers": (good.bytes(chunked, body=chunks + b"content-encoding: gzip\r\n\r\n", length=False), GOOD),
        "expected": (good.bytes(b"expect: 100-continue"), GOOD),
        "HTTP/1.0": (good.bytes(first=b"POST %b HTTP/1.0"), GOOD),
        "HTTP/1.0, kept": (good.bytes(b"connection: keep-alive", first=b"POST %b HTTP/1.0"), GOOD),
        "empty lines first": (b"\r\n\r\n" + plain, GOOD),
        "absolute": (good.bytes(first=b"POST http://127.0.0.1%b HTTP/1.1"), GOOD),
        "h2c": (good.bytes(b"connection: Upgrade, HTTP2-Settings", b"upgrade: h2c", b"http2-settings: A"), GOOD),
        "websocket": (good.bytes(b"connection: close, upgrade", b"upgrade: websocket"), GOOD),
        "closing": (good.bytes(b"connection: close"), GOOD),
        "odd header bytes": (good.bytes(b"x-\x21: \xff\xfe \t"), GOOD),
        "large head": (good.bytes(b"x: " + b"y" * (MOST_HEADERS - 2_000)), GOOD),
    }
    name = rng.choice(tuple(ways))
    data, span = ways[name]
    alone = name not in ("twice", "trailers")
    ending: Ending = rng.choice(("half-close", "wait")) if alone else "half-close"
    return _made(name, data, span, ending=ending, native=True)


def _gone(good: Good, rng: Random) -> Attempt:
    """Hang up at any point of a good request, or after it."""
    data = good.bytes() * rng.choice((1, 1, 3))
    ending: Ending = rng.choice(("reset", "reset", "hang-up", "half-close"))
    at = rng.choice((0, 1, rng.randrange(len(data)), rng.randrange(len(data)), len(data)))
    if at < len(good.bytes()):
        return _made(f"{ending} at {at}", data[:at], BAD, ending=ending)
    return _made(f"{ending} at {at}", data[:at], (0, TURNS), ending=ending)


def _silent(good: Good, rng: Random) -> Attempt:
    data = good.bytes()
    return _made("slow loris", data[: rng.randrange(len(data))], BAD, ending="silence")


def _followed(good: Good, rng: Random) -> Attempt:
    """Send rubbish after a good request: that one must get its answer all the same."""
    rubbish = rng.choice(
        (b"\x00" * 99, b"GET\r\n\r\n", b"x" * 9_999, rng.randbytes(500), b"POST / HTTP/1.1\r\na b\r\n\r\n")
    )
    return _made("rubbish", good.bytes() + rubbish, GOOD)


# ---- bodies


def _mutated(good: Good, rng: Random) -> Attempt:
    name, body, span = bodies.mutated(good.wire, good.document, rng)
    encodings = rng.random() < 0.1
    if encodings:
        encoding, body, said, other = bodies.encoded(body, rng)
        name, span = f"{name}, {encoding}", (0, min(span[1], other[1]))
        return _made(name, good.bytes(b"content-encoding: " + said.encode("latin-1"), body=body), span, native=True)
    return _made(name, good.bytes(body=body), span, ending=rng.choice(("half-close", "wait")), native=True)


def _encoded(good: Good, rng: Random) -> Attempt:
    name, body, said, span = bodies.encoded(good.body, rng)
    lines = [b"content-encoding: " + said.encode("latin-1")] if said else []
    return _made(name, good.bytes(*lines, body=body), span, native=True)


def _large(good: Good, rng: Random) -> Attempt:
    """More than may be: in the head, or declared for the body and not sent."""
    chunk = b"%x\r\n" % (1 << 40)
    shapes: Mapping[str, bytes] = {
        "one line": good.bytes(b"x: " + b"y" * MOST_HEADERS),
        "one name": good.bytes(b"x" * MOST_HEADERS + b": y"),
        "many lines": good.bytes(*[b"a: b"] * (MOST_HEADERS // 4)),
        "endless head": good.bytes().partition(b"\r\n\r\n")[0] + b"\r\nx: y" * MOST_HEADERS,
        "long target": good.bytes(first=b"POST %b?" + b"a" * 70_000 + b" HTTP/1.1"),
        "declared": good.bytes(b"content-length: %d" % (MOST_BODY + 1), length=False),
        "declared, expecting": good.bytes(
            b"content-length: %d" % (1 << 50), b"expect: 100-continue", body=b"", length=False
        ),
        "chunk declared": good.bytes(b"transfer-encoding: chunked", body=chunk + good.body, length=False),
        "beyond 64 bits": good.bytes(b"content-length: %d" % (1 << 64), length=False),
    }
    name = rng.choice(tuple(shapes))
    return _made(name, shapes[name], BAD)


def _beside(good: Good, rng: Random) -> Attempt:
    """Ask for what stands beside model requests, with anything for a body."""
    prefix = good.path[: -len(bodies.target(good.wire, stream=":stream" in good.path))]
    below = rng.choice(_BESIDE)
    method = rng.choice(("GET", "POST", "HEAD", "DELETE"))
    body = rng.choice((b"", good.body, rng.randbytes(300), b"[" * 9_000))
    first = f"{method} {prefix}{below} HTTP/1.1".encode()
    return _made(f"{method} {below[:40]}", good.bytes(body=body, first=first), BAD, method=method)


_BESIDE = (
    "",
    "/",
    "/v1/models",
    "/v1/models/x%00y",
    "/v1beta/models/m",
    "/v1beta/models/\\:generateContent:x",
    "/v1/messages/count_tokens",
    "/v1/responses/input_tokens",
    "/v1beta/models/m:countTokens",
    "/v1/messages/batches",
    "/gates/x",
    "/gates/" + "%ff" * 2_000,
    "/" * 5_000,
)

# ---- HTTP

_FIRST_LINES: tuple[tuple[bytes, Span], ...] = (
    *((b"POST %b " + version, BAD) for version in (b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/9.9")),
    *((b"POST %b " + version, BAD) for version in (b"HTTP/1", b"http/1.1", b"HTTQ/1.1", b"HTTP/1.1x", b"HTTP/11", b"")),
    (b"POST %b", BAD),
    (b"POST", BAD),
    (b"%b", BAD),
    (b" POST %b HTTP/1.1", BAD),
    (b"POST\t%b\tHTTP/1.1", BAD),
    (b"POST %b HTTP/1.1 x", BAD),
    (b"POST %b %b HTTP/1.1", BAD),
    (b"POST  %b  HTTP/1.1", EITHER),
    (b"POST %b RTSP/1.0", EITHER),  # httptools reads it, and doesn't tell
    *(
        (method + b" %b HTTP/1.1", BAD)
        for method in (b"GET", b"HEAD", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE")
    ),
    *(
        (method + b" %b HTTP/1.1", BAD)
        for method in (b"CONNECT", b"BREW", b"post", b"P\x00ST", b"PRI", b"SOURCE", b"M-SEARCH")
    ),
    (b"CONNECT 127.0.0.1:80 HTTP/1.1", BAD),
    (b"POST %b\x00 HTTP/1.1", BAD),
    (b"POST %b%00 HTTP/1.1", BAD),
    (b"POST %b#part HTTP/1.1", BAD),
    (b"POST %b\xc3\xa9 HTTP/1.1", BAD),
    (b"POST %b/ HTTP/1.1", BAD),
    (b"POST %b/.. HTTP/1.1", BAD),
    (b"POST /%b HTTP/1.1", EITHER),
    (b"POST /..%b HTTP/1.1", EITHER),
    (b"POST /x/../%b HTTP/1.1", EITHER),
    (b"POST \\%b HTTP/1.1", BAD),
    (b"POST * HTTP/1.1", BAD),
    (b"POST / HTTP/1.1", BAD),
    (b"POST ? HTTP/1.1", BAD),
    (b"POST http:// HTTP/1.1", BAD),
    (b"POST http://[::1%b HTTP/1.1", BAD),
    (b"POST http://x:99999%b HTTP/1.1", BAD),
    (b"POST https://elsewhere.invalid%b HTTP/1.1", EITHER),
    (b"POST ftp://x%b HTTP/1.1", EITHER),
)
_LINES: tuple[bytes, ...] = (
    b"no colon",
    b": no name",
    b"",
    b"a b: c",
    b"a : b",
    b"\x00: a",
    b"a: b\x00c",
    b"a: b\rc",
    b"a: b\nc",
    b"a: \x01\x7f",
    b"a\xff: b",
    b"a(b): c",
    b"a: b\r\n folded",
    b"a: b\r\n\tfolded",
    b" a: b",
    b"host: y",
    b"content-length: 1",
    b"content-length: 0\r\ncontent-length: 0",
    b"transfer-encoding: chunked",
    b"transfer-encoding: identity",
    b"transfer-encoding : chunked",
    b"transfer-encoding: xchunked",
    b"transfer-encoding:\x0bchunked",
    b"transfer-encoding: chunked\r\ntransfer-encoding: identity",
)
_LENGTHS: tuple[bytes, ...] = (
    b"-1",
    b"+%d",
    b"0x%x",
    b"%d, %d",
    b"%d %d",
    b"",
    b" ",
    b"1e3",
    b"%d.0",
    b"9" * 40,
    b"\xd9\xa1",
)
_CHUNKED = b"transfer-encoding: chunked"
_CODINGS: tuple[bytes, ...] = (
    b"gzip, chunked",
    b"chunked, gzip",
    b"chunked, chunked",
    b"gzip",
    b"xchunked",
    b"identity",
    b"",
)
_SIZES: tuple[bytes, ...] = (
    b"zz",
    b"-%x",
    b"+%x",
    b"0x%x",
    b"%x ",
    b" %x",
    b"",
    b"%x\n",
    b"f" * 17,
    b"%x\x00",
    b"1%x",
    b"_%x",
)


def _first_line(good: Good, rng: Random) -> Attempt:
    line, span = rng.choice(_FIRST_LINES)
    method = line.split(b" ")[0].decode("latin-1")
    return _made(repr(line)[2:-1], good.bytes(first=line), span, method=method if method == "HEAD" else "POST")


def _line(good: Good, rng: Random) -> Attempt:
    line = rng.choice(_LINES)
    return _made(repr(line)[2:-1], good.bytes(line), BAD)


def _framing(good: Good, rng: Random) -> Attempt:
    """Smuggling: a body whose end two readers see at two places."""
    size, body = len(good.body), good.body
    way = rng.choice(("length", "coding", "size", "end", "old", "bare"))
    if way == "length":
        said = rng.choice(_LENGTHS)
        said = said % ((size,) * said.count(b"%"))
        return _made(f"{way} {said!r}", good.bytes(b"content-length: " + said, length=False), BAD)
    if way == "coding":
        coding = rng.choice(_CODINGS)
        chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        return _made(f"{way} {coding!r}", good.bytes(b"transfer-encoding: " + coding, body=chunks, length=False), BAD)
    if way == "size":
        said = rng.choice(_SIZES)
        said = said % ((size,) * said.count(b"%"))
        chunks = b"%b\r\n%b\r\n0\r\n\r\n" % (said, body)
        return _made(f"{way} {said!r}", good.bytes(_CHUNKED, body=chunks, length=False), BAD)
    if way == "end":
        end = rng.choice((b"", b"\r\n", b"\r\n0\r\n", b"x\r\n0\r\n\r\n", b"\r\n0\r\nno colon\r\n\r\n", b"\n0\n\n"))
        return _made(f"{way} {end!r}", good.bytes(_CHUNKED, body=b"%x\r\n%b%b" % (size, body, end), length=False), BAD)
    if way == "old":
        chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        return _made(way, good.bytes(_CHUNKED, body=chunks, length=False, first=b"POST %b HTTP/1.0"), BAD)
    data = good.bytes().replace(b"\r\n", rng.choice((b"\n", b"\r", b"\n\r")))
    return _made(way, data, BAD)


def _no_http(good: Good, rng: Random) -> Attempt:
    noise = bytearray(good.bytes())
    for _ in range(rng.randint(1, 5)):
        noise[rng.randrange(len(noise))] = rng.randrange(256)
    shapes: Mapping[str, tuple[bytes, Span]] = {
        "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(200), BAD),
        "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + rng.randbytes(50), BAD),
        "zeros": (bytes(rng.randrange(1, 5_000)), BAD),
        "noise": (rng.randbytes(rng.randrange(1, 5_000)), BAD),
        "bytes turned over": (bytes(noise), (0, TURNS)),
        "body first": (good.body + good.bytes(), BAD),
        "a response": (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", BAD),
    }
    name = rng.choice(tuple(shapes))
    return _made(name, *shapes[name])


_KINDS: Mapping[str, tuple[int, Callable[[Good, Random], Attempt]]] = {
    "good": (12, _good),
    "gone": (8, _gone),
    "silent": (3, _silent),
    "followed": (4, _followed),
    "body": (34, _mutated),
    "encoding": (8, _encoded),
    "large": (3, _large),
    "beside": (4, _beside),
    "first line": (9, _first_line),
    "header line": (7, _line),
    "framing": (8, _framing),
    "no HTTP": (4, _no_http),
}
