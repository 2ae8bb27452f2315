"""Hostile clients from a seed: kinds of them, by their weights; each attempt is made again from its number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random

from pytest_agentcontract.provider.heads import MOST_BODY, MOST_HEADERS
from pytest_agentcontract.wire.formats import FORMATS
from tests.provider.fuzz import bodies, broken, documents
from tests.provider.fuzz.clients import BAD, GOOD, TURNS, Attempt, Ending, Good, Span, made

_BOMBS = 1_500
"""One attempt of so many is a body that unfolds to more than may be: each costs half a second."""


def attempt(seed: int, number: int, prefix: str, mark: str) -> Attempt:
    """Make one of the attempts of a seed; `prefix` is where the seat is, `mark` the sign of the agent that asks."""
    rng = Random(f"{seed}/{number}")  # noqa: S311 - it has to be repeatable
    wire, stream = rng.choice(tuple(FORMATS)), rng.random() < 0.3
    good = Good(
        wire, prefix + documents.target(wire, stream=stream), documents.document(wire, mark, rng, stream=stream)
    )
    if number % _BOMBS == _BOMBS // 2:
        body, encoding = rng.choice(bodies.bombs())
        data = good.bytes(b"content-encoding: " + encoding.encode(), body=body)
        return Attempt(number, f"{encoding} bomb", wire, "POST", (data,), BAD, native=True)
    kind = rng.choices(tuple(_KINDS), tuple(weight for weight, _ in _KINDS.values()))[0]
    client = _KINDS[kind][1](good, rng)
    client = replace(client, number=number, shape=f"{kind}: {client.shape}", wire=wire)
    return replace(client, pieces=tuple(_split(client.pieces, rng)))


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
    return made(name, data, span, ending=ending, native=True)


def _gone(good: Good, rng: Random) -> Attempt:
    """Hang up at any point of a good request, or after it."""
    data = good.bytes() * rng.choice((1, 1, 3))
    ending: Ending = rng.choice(("reset", "reset", "hang-up", "half-close"))
    at = rng.choice((0, 1, rng.randrange(len(data)), rng.randrange(len(data)), len(data)))
    if at < len(good.bytes()):
        return made(f"{ending} at {at}", data[:at], BAD, ending=ending)
    return made(f"{ending} at {at}", data[:at], (0, TURNS), ending=ending)


def _silent(good: Good, rng: Random) -> Attempt:
    data = good.bytes()
    return made("slow loris", data[: rng.randrange(len(data))], BAD, ending="silence")


def _followed(good: Good, rng: Random) -> Attempt:
    """Send rubbish after a good request: that one must get its answer all the same."""
    rubbish = rng.choice(
        (b"\x00" * 99, b"GET\r\n\r\n", b"x" * 9_999, rng.randbytes(500), b"POST / HTTP/1.1\r\na b\r\n\r\n")
    )
    return made("rubbish", good.bytes() + rubbish, GOOD)


# ---- bodies


def _mutated(good: Good, rng: Random) -> Attempt:
    name, body, span = bodies.mutated(good.wire, good.document, rng)
    encodings = rng.random() < 0.1
    if encodings:
        encoding, body, said, other = bodies.encoded(body, rng)
        name, span = f"{name}, {encoding}", (0, min(span[1], other[1]))
        return made(name, good.bytes(b"content-encoding: " + said.encode("latin-1"), body=body), span, native=True)
    return made(name, good.bytes(body=body), span, ending=rng.choice(("half-close", "wait")), native=True)


def _encoded(good: Good, rng: Random) -> Attempt:
    name, body, said, span = bodies.encoded(good.body, rng)
    lines = [b"content-encoding: " + said.encode("latin-1")] if said else []
    return made(name, good.bytes(*lines, body=body), span, native=True)


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
    return made(name, shapes[name], BAD)


_KINDS: Mapping[str, tuple[int, Callable[[Good, Random], Attempt]]] = {
    "good": (12, _good),
    "gone": (8, _gone),
    "silent": (3, _silent),
    "followed": (4, _followed),
    "body": (34, _mutated),
    "encoding": (8, _encoded),
    "large": (3, _large),
    "beside": (4, broken.beside),
    "first line": (9, broken.first_line),
    "header line": (7, broken.line),
    "framing": (8, broken.framing),
    "no HTTP": (4, broken.no_http),
}
