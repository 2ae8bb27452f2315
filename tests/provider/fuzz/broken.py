"""What is no HTTP, or not what it seems: first lines, header lines, framing, noise; and what stands beside requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from tests.provider.fuzz.clients import BAD, EITHER, TURNS, Attempt, Good, Span, made
from tests.provider.fuzz.documents import target


def beside(good: Good, rng: Random) -> Attempt:
    """Ask for what stands beside model requests, with anything for a body."""
    prefix = good.path[: -len(target(good.wire, stream=":stream" in good.path))]
    below = rng.choice(_BESIDE)
    method = rng.choice(("GET", "POST", "HEAD", "DELETE"))
    body = rng.choice((b"", good.body, rng.randbytes(300), b"[" * 9_000))
    first = f"{method} {prefix}{below} HTTP/1.1".encode()
    client = made(f"{method} {below[:40]}", good.bytes(body=body, first=first), BAD, method=method)
    return replace(client, due=True)


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


def first_line(good: Good, rng: Random) -> Attempt:
    """Say what is no method, no target or no version, or none that is spoken here."""
    line, span = rng.choice(_FIRST_LINES)
    method = line.split(b" ")[0].decode("latin-1")
    client = made(repr(line)[2:-1], good.bytes(first=line), span, method=method if method == "HEAD" else "POST")
    return replace(client, due=True)


def line(good: Good, rng: Random) -> Attempt:
    """Add a line that is no header, or one header too many."""
    line = rng.choice(_LINES)
    return replace(made(repr(line)[2:-1], good.bytes(line), BAD), due=True)


def framing(good: Good, rng: Random) -> Attempt:
    """Smuggling: a body whose end two readers see at two places."""
    size, body = len(good.body), good.body
    way = rng.choice(("length", "coding", "size", "end", "old", "bare"))
    if way == "length":
        said = rng.choice(_LENGTHS)
        said = said % ((size,) * said.count(b"%"))
        return made(f"{way} {said!r}", good.bytes(b"content-length: " + said, length=False), BAD)
    if way == "coding":
        coding = rng.choice(_CODINGS)
        chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        return made(f"{way} {coding!r}", good.bytes(b"transfer-encoding: " + coding, body=chunks, length=False), BAD)
    if way == "size":
        said = rng.choice(_SIZES)
        said = said % ((size,) * said.count(b"%"))
        chunks = b"%b\r\n%b\r\n0\r\n\r\n" % (said, body)
        return made(f"{way} {said!r}", good.bytes(_CHUNKED, body=chunks, length=False), BAD)
    if way == "end":
        end = rng.choice((b"", b"\r\n", b"\r\n0\r\n", b"x\r\n0\r\n\r\n", b"\r\n0\r\nno colon\r\n\r\n", b"\n0\n\n"))
        return made(f"{way} {end!r}", good.bytes(_CHUNKED, body=b"%x\r\n%b%b" % (size, body, end), length=False), BAD)
    if way == "old":
        chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        return made(way, good.bytes(_CHUNKED, body=chunks, length=False, first=b"POST %b HTTP/1.0"), BAD)
    data = good.bytes().replace(b"\r\n", rng.choice((b"\n", b"\r", b"\n\r")))
    return made(way, data, BAD)


def no_http(good: Good, rng: Random) -> Attempt:
    """Speak something else."""
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
    return made(name, *shapes[name])
