"""What comes encoded is passed on as it is, and recorded with its encoding undone, piece by piece."""

from __future__ import annotations

import gzip
import sys
import threading
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.provider.encoding import decoded, unwound
from tests.provider.recording.conftest import BODY, PATIENCE, Caller, Studio, once, parsed

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Record = Callable[..., Studio]

OK = b"HTTP/1.1 200 OK\r\n"
EVENTS = ["data: ü\n\n".encode(), b"data: \xff\xfe\n\n", "data: €".encode()[:-1], b"\xac\n\n", b"data: end\n\n"]


def _zlib(bits: int) -> Callable[[], Any]:
    return lambda: zlib.compressobj(wbits=bits)


class _Brotli:
    """An encoder with the face of zlib's."""

    def __init__(self) -> None:
        self._stream = brotli.Compressor()

    def compress(self, data: bytes) -> Any:
        return self._stream.process(data)

    def flush(self, mode: object = None) -> Any:
        return self._stream.finish() if mode is None else self._stream.flush()


class _Zstd:
    """An encoder with the face of zlib's."""

    def __init__(self) -> None:
        self._stream = zstd.ZstdCompressor()

    def compress(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def flush(self, mode: object = None) -> bytes:
        end = mode is None
        return self._stream.flush(zstd.ZstdCompressor.FLUSH_FRAME if end else zstd.ZstdCompressor.FLUSH_BLOCK)


ENCODERS: dict[str, tuple[str, Callable[[], Any]]] = {
    "gzip": ("gzip", _zlib(16 + zlib.MAX_WBITS)),
    "deflate": ("deflate", _zlib(zlib.MAX_WBITS)),
    "bare deflate": ("deflate", _zlib(-zlib.MAX_WBITS)),
    "br": ("br", _Brotli),
    "zstd": ("zstd", _Zstd),
}
ALL = pytest.mark.parametrize(("encoding", "encoder"), ENCODERS.values(), ids=ENCODERS)


def encoded(encoder: Callable[[], Any]) -> list[bytes]:
    """Encode the events so that each can be read when it came; the last piece is the end."""
    stream = encoder()
    return [stream.compress(event) + stream.flush(zlib.Z_SYNC_FLUSH) for event in EVENTS] + [stream.flush()]


@ALL
def test_an_encoded_stream_is_recorded_plain(studio: Record, encoding: str, encoder: Callable[[], Any]) -> None:
    """The client gets what the upstream sent, in its chunks; the record the events, in theirs."""
    sent = encoded(encoder)
    head = OK + f"Content-Encoding: {encoding}\r\nx-y: z\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    stage = studio(once(head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in sent) + b"0\r\n\r\n"))
    answer = parsed(stage.ask("connection: close").read(), closed=True)
    assert (answer.body, answer.chunks, answer.whole) == (b"".join(sent), len(sent), True)
    assert (b"Content-Encoding", encoding.encode()) in answer.headers
    recorded = stage.recorded()
    assert [piece.data for piece in recorded.pieces] == EVENTS
    assert recorded.headers == (("x-y", "z"),)


@ALL
def test_an_encoded_stream_that_is_cut_is_recorded_as_far_as_it_can_be_read(
    studio: Record, encoding: str, encoder: Callable[[], Any]
) -> None:
    """Two events came whole, and half of what followed."""
    sent = encoded(encoder)
    heard = threading.Event()
    said = sent[0] + sent[1] + sent[2][:1]

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(OK + f"content-encoding: {encoding}\r\ncontent-length: 999\r\n\r\n".encode() + said)
        assert heard.wait(PATIENCE)
        caller.reset()

    stage = studio(scene)
    client = stage.ask()
    client.read(until=said)
    heard.set()
    client.read()
    recorded = stage.recorded()
    assert (recorded.ending, client.end) == ("reset", "rst")
    assert recorded.body == EVENTS[0] + EVENTS[1]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"x")[:-1]),
        ("gzip", b"plain"),
        ("x-own", b"\x00\x01"),
        ("gzip", gzip.compress(b"x") + b"y"),
    ],
    ids=["short", "not encoded", "unknown", "more behind it"],
)
def test_what_is_not_what_it_is_called_is_recorded_as_it_came(studio: Record, encoding: str, body: bytes) -> None:
    """Header and all: no guess stands in a record."""
    stage = studio(once(OK + f"content-encoding: {encoding}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body))
    assert parsed(stage.ask("connection: close").read(), closed=True).body == body
    recorded = stage.recorded()
    assert (recorded.body, dict(recorded.headers)["content-encoding"]) == (body, encoding)


def test_encodings_in_a_row_are_undone_last_first(studio: Record) -> None:
    """Also over two headers."""
    body = gzip.compress(brotli.compress(b"plain"))
    lines = f"content-encoding: br\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    stage = studio(once(OK + lines + body))
    stage.ask("connection: close").read()
    recorded = stage.recorded()
    assert (recorded.body, recorded.headers) == (b"plain", ())


@ALL
def test_an_encoded_request_goes_on_as_it_is(studio: Record, encoding: str, encoder: Callable[[], Any]) -> None:
    """It is recorded plain."""
    heard: list[bytes] = []

    def scene(caller: Caller) -> None:
        heard.append(caller.request())
        caller.say(OK + b"content-length: 0\r\n\r\n")

    stream = encoder()
    body = stream.compress(BODY) + stream.flush()
    stage = studio(scene)
    stage.ask(f"content-encoding: {encoding}", "connection: close", body=body).read()
    head, _, sent = heard[0].partition(b"\r\n\r\n")
    assert (sent, f"content-encoding: {encoding}".encode() in head) == (body, True)
    recorded = stage.recorded()
    assert (recorded.request_body, recorded.request_headers) == (BODY, ())


def test_a_request_that_is_not_what_it_is_called_is_the_upstreams_to_refuse(studio: Record) -> None:
    """It goes on, and is recorded as it came."""
    stage = studio(once(b"HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n\r\n"))
    answer = parsed(stage.ask("content-encoding: br", "connection: close").read(), closed=True)
    recorded = stage.recorded()
    assert (answer.status, recorded.request_body) == (400, BODY)
    assert recorded.request_headers == (("content-encoding", "br"),)


@ALL
def test_a_body_may_be_cut_anywhere(encoding: str, encoder: Callable[[], Any]) -> None:
    """Byte by byte, every piece brings to light what can be known by then, and nothing is lost."""
    whole = b"".join(encoded(encoder))
    pieces = [whole[at : at + 1] for at in range(len(whole))]
    assert b"".join(unwound(pieces, encoding)) == b"".join(EVENTS)
    assert decoded(whole, encoding) == b"".join(EVENTS)
    for end in range(1, len(whole) - 1):
        assert b"".join(EVENTS).startswith(b"".join(unwound(pieces[:end], encoding, cut=True)))
        with pytest.raises(WireError):
            unwound([*pieces[:end], b""], encoding)


@ALL
def test_more_than_a_body_may_hold_is_never_decoded(
    monkeypatch: pytest.MonkeyPatch, encoding: str, encoder: Callable[[], Any]
) -> None:
    """In one piece or in many."""
    monkeypatch.setattr("pytest_agentcontract.provider.encoding.MOST_BODY", 5_000)
    stream = encoder()
    fits = [stream.compress(b"x" * 2_500) + stream.flush(zlib.Z_SYNC_FLUSH) for _ in range(2)]
    assert len(b"".join(unwound(fits, encoding, cut=True))) == 5_000
    more = [*fits, stream.compress(b"y") + stream.flush()]
    for pieces in (more, [b"".join(more)]):
        with pytest.raises(WireError, match="more than 5000 bytes"):
            unwound(pieces, encoding)
