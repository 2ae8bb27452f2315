"""The server's HTTP: what any client may send, and what no client should."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from pytest_agentcontract.errors import ProviderError
from pytest_agentcontract.provider.heads import MOST_BODY, MOST_HEADERS
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, Hold, ScriptedTurn
from pytest_agentcontract.scenario.profile import Profile, ResultRule
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.wire.faults import Pace

Play = Callable[..., Any]
ONE, TWO = ScriptedTurn("one"), ScriptedTurn("two")


def connect(table: Any) -> http.client.HTTPConnection:
    """Open a connection that is kept."""
    return http.client.HTTPConnection("127.0.0.1", table.port, timeout=5)


def still_serves(table: Any) -> bool:
    """Tell whether the next client is served."""
    with closing(connect(table)) as connection:
        return bool(ask(connection, table)[1]["content"][0]["text"] == "one")


def ask(connection: http.client.HTTPConnection, table: Any, **extra: Any) -> tuple[int, Any]:
    """Ask over a kept connection."""
    connection.request("POST", table.path, json.dumps(table.body()), **extra)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def test_a_connection_is_kept(play: Play) -> None:
    """Several requests go over one connection, whole and streamed."""
    table = play(ONE, TWO, ScriptedTurn("three"))
    connection = connect(table)
    assert ask(connection, table)[1]["content"][0]["text"] == "one"
    used = connection.sock
    connection.request("POST", table.path, json.dumps(table.body(stream=True)))
    streamed = connection.getresponse()
    assert streamed.getheader("content-type") == "text/event-stream"
    assert b"message_stop" in streamed.read()
    assert ask(connection, table)[1]["content"][0]["text"] == "three"
    assert connection.sock is used
    connection.close()


def test_pipelined_requests_are_answered_in_order(play: Play) -> None:
    """Also when they come in one packet, or byte by byte."""
    table = play(ONE, TWO, ScriptedTurn("three"))
    line = table.raw(table.request() + table.request())
    for byte in table.request().replace(b"host: x", b"connection: close"):
        line.socket.sendall(bytes([byte]))
    got = line.read_to_end()
    assert got.count(b"HTTP/1.1 200 OK") == 3
    assert got.index(b'"one"') < got.index(b'"two"') < got.index(b'"three"')
    assert line.end == "fin"


def test_a_body_may_come_in_chunks_and_be_announced(play: Play) -> None:
    """Chunked bodies and `Expect: 100-continue` are understood."""
    table = play(ONE, TWO)
    body = json.dumps(table.body()).encode()
    head = f"POST {table.path}?beta=true HTTP/1.1\r\nhost: x\r\n".encode()
    line = table.raw(head + b"transfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n")
    assert line.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    line.socket.sendall(b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (body[:5], len(body) - 5, body[5:]))
    assert b'"one"' in line.read_until(b'"one"')


@pytest.mark.parametrize("size", [MOST_HEADERS - 500, MOST_HEADERS + 10, 3_000_000])
def test_a_long_request_is_followed_by_the_next(play: Play, size: int) -> None:
    """Only a head is limited to what a head may be: bodies are not counted to it, nor to the next request's."""
    table = play(ONE, TWO)
    line = table.raw(table.request(padding="x" * size) + table.request())
    assert b'"two"' in line.read_until(b'"two"')


def test_an_old_client_gets_a_stream_without_chunks(play: Play) -> None:
    """HTTP/1.0 knows no chunks: the stream ends with the connection."""
    table = play(ONE)
    got = table.raw(table.request(stream=True).replace(b"HTTP/1.1", b"HTTP/1.0")).read_to_end()
    assert b"chunked" not in got
    assert got.endswith(b'data: {"type": "message_stop"}\n\n')


def test_an_offer_to_change_protocols_is_passed_over(play: Play) -> None:
    """Java's client offers HTTP/2 on every first request, and goes on with HTTP/1.1."""
    table = play(ONE, TWO, ScriptedTurn("three"))
    offer = b"host: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAA"
    line = table.raw(table.request().replace(b"host: x", offer) + table.request())
    assert b'"two"' in line.read_until(b'"two"')
    for byte in table.request().replace(b"host: x", offer):
        line.socket.sendall(bytes([byte]))
    assert b'"three"' in line.read_until(b'"three"')


@pytest.mark.parametrize(
    ("method", "below", "status"),
    [
        ("HEAD", "/", 200),
        ("HEAD", "", 200),
        ("GET", "/v1/completions", 404),
        ("GET", "/v1/messages", 404),
        ("POST", "/v1/models", 404),
        ("POST", "/v1/messages/../../x", 404),
        ("OPTIONS", "/v1/messages", 404),
    ],
)
def test_other_paths_are_harmless(play: Play, method: str, below: str, status: int) -> None:
    """They are answered in the wire format's own words and leave no exchange."""
    table = play(ONE)
    connection = connect(table)
    prefix = table.path.removesuffix("/v1/messages")
    connection.request(method, prefix + below)
    response = connection.getresponse()
    body = response.read()
    assert response.status == status
    assert method == "HEAD" or json.loads(body)["error"]["type"] == "not_found_error"
    assert ask(connection, table)[0] == 200
    assert len(table.close()) == 1
    connection.close()


@pytest.mark.parametrize("target", ["/", "/case/", "/case/1-00000000/v1/messages", "/other", "*"])
def test_outside_of_any_seat_there_is_nothing(play: Play, target: str) -> None:
    """A wrong URL is told from a wrong answer."""
    line = play(ONE).raw(f"GET {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    assert line.read_to_end().startswith(b"HTTP/1.1 404 ")


def test_an_absolute_target_is_understood(play: Play) -> None:
    """A client that takes us for a proxy names the whole URL."""
    table = play(ONE)
    line = table.raw(table.request().replace(b"POST /", f"POST http://127.0.0.1:{table.port}/".encode(), 1))
    assert b'"one"' in line.read_until(b'"one"')


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"\xff\xfe\xfd",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b"[" * 100_000,
        gzip.compress(b"{}"),
        b'{"model": 1}',
    ],
    ids=["empty", "half", "array", "string", "no UTF-8", "NaN", "twice", "deep", "gzip", "wrong type"],
)
def test_a_body_that_is_no_request_is_refused_and_written_down(play: Play, body: bytes) -> None:
    """The refusal is final and in the wire format's own words; the connection lives on."""
    table = play(ONE)
    connection = connect(table)
    connection.request("POST", table.path, body)
    response = connection.getresponse()
    error = json.loads(response.read())["error"]
    assert (response.status, response.getheader("x-should-retry")) == (400, "false")
    assert error["type"] == "invalid_request_error"
    assert ask(connection, table)[0] == 200
    connection.close()
    first, second = table.close()
    assert (first.kind, first.agent, second.kind) == ("unexpected", "", "turn")
    assert "can't be read" in first.note


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/1.1\r\nno colon here\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"\x00" * 1000,
        b"POST /#part HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n",
        b"POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=[
        *("TLS", "HTTP/2", "short line", "no colon", "negative length", "smuggling", "bad chunk", "zeros"),
        *("fragment", "two hosts", "old chunks"),
    ],
)
def test_garbage_is_refused_at_once(play: Play, garbage: bytes) -> None:
    """Such a connection is ended, and the next one is served."""
    table = play(ONE)
    line = table.raw(garbage)
    assert line.read_to_end().startswith(b"HTTP/1.1 400 ")
    assert still_serves(table)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: x\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 501),
        (b"POST / HTTP/2.0\r\nhost: x\r\n\r\n", 505),
        (b"POST / HTTP/0.9\r\nhost: x\r\n\r\n", 505),
        (b"POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n" % (MOST_BODY + 1), 413),
    ],
    ids=["CONNECT", "coding", "two codings", "newer", "older", "declared"],
)
def test_what_is_not_spoken_here_is_refused_by_its_head(play: Play, request_: bytes, status: int) -> None:
    """The body is not waited for, and not asked for."""
    table = play(ONE)
    assert table.raw(request_).read_to_end().startswith(b"HTTP/1.1 %d " % status)
    assert still_serves(table)


def test_what_stands_behind_the_chunks_is_no_header(play: Play) -> None:
    """A trailer changes nothing of how the body is read."""
    table = play(ONE)
    head, _, body = (
        table.request().replace(b"content-length", b"transfer-encoding: chunked\r\nx").partition(b"\r\n\r\n")
    )
    line = table.raw(head + b"\r\n\r\n%x\r\n%b\r\n0\r\ncontent-encoding: gzip\r\n\r\n" % (len(body), body))
    assert b'"one"' in line.read_until(b'"one"')


def test_an_answer_is_whole_although_rubbish_follows_its_request(play: Play) -> None:
    """Also one that takes time: the refusal comes after it."""
    table = play(ScriptedTurn("one", pace=Pace(between=0.02)))
    got = table.raw(table.request(stream=True) + b"\x00rubbish").read_to_end()
    answer, refusal = got.split(b"0\r\n\r\n")
    assert b"message_stop" in answer
    assert refusal.startswith(b"HTTP/1.1 400 ")


def test_a_client_that_reads_nothing_is_answered_no_further(play: Play, provider: Provider) -> None:
    """What it sends waits at its side: nobody's memory is filled."""
    table = play(ScriptedTurn("x" * 100_000, repeat=True))
    line = table.raw(b"")
    line.socket.setblocking(False)  # noqa: FBT003 - the standard library's signature
    sent, request = 0, table.request() * 50
    idle_since = time.monotonic()
    while time.monotonic() - idle_since < 0.5:
        try:
            sent += line.socket.send(request)
            idle_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
        assert sent < 100_000_000
    (connection,) = [one for one in provider._connections if one.owner is table.seat]
    assert connection._transport.get_write_buffer_size() < 1_000_000
    assert len(connection._waiting) * len(table.request()) < 1_000_000


def test_an_old_client_that_would_stay_sees_the_end_of_a_stream(play: Play) -> None:
    """A stream without chunks ends with its connection, whatever the client asked for."""
    table = play(ONE)
    request = (
        table.request(stream=True).replace(b"HTTP/1.1", b"HTTP/1.0").replace(b"host: x", b"connection: keep-alive")
    )
    assert table.raw(request).read_to_end().endswith(b'data: {"type": "message_stop"}\n\n')


def test_half_a_connection_is_enough_for_an_answer(play: Play) -> None:
    """A client may end its side once it has asked."""
    table = play(ONE)
    line = table.raw(table.request())
    line.socket.shutdown(socket.SHUT_WR)
    assert b'"one"' in line.read_to_end()


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (lambda said: gzip.compress(said) + b"rest", "gzip"),
        (lambda said: zstd.compress(said) + b"rest", "zstd"),
        (lambda said: said, "gzip"),
        (zlib.compress, "gzip"),
        (gzip.compress, "deflate"),
        (lambda said: said.decode().encode("utf-16"), "identity"),
        (lambda said: b"\xef\xbb\xbf" + said, "identity"),
        (lambda said: said.replace(b"Hi", b"Hi\xed\xa0\x80"), "identity"),
    ],
    ids=["rest of gzip", "rest of zstd", "plain", "zlib", "no zlib", "UTF-16", "BOM", "surrogate"],
)
def test_an_encoding_is_what_it_is_called(play: Play, packed: Callable[[bytes], bytes], encoding: str) -> None:
    """A body that is anything else is refused, however readable it may be."""
    table = play(ONE)
    with closing(connect(table)) as connection:
        body = packed(json.dumps(table.body()).encode())
        connection.request("POST", table.path, body, {"content-encoding": encoding})
        assert connection.getresponse().status == 400
    assert still_serves(table)


def test_a_refusal_is_written_down_in_a_few_words(play: Play) -> None:
    """What is wrong may be as long as it likes: neither the answer nor the record repeats all of it."""
    table = play(ONE)
    with closing(connect(table)) as connection:
        for body in ({**table.body(), "x": 1, "messages": [{"role": "r" * 100_000}]}, {"messages": "x" * 100_000}):
            connection.request("POST", table.path, json.dumps(body))
            assert len(connection.getresponse().read()) < 2_000
    for exchange in table.close():
        assert (exchange.request.body, len(exchange.note) <= 1_000) == (None, True)


def test_a_gate_that_the_script_has_not_is_no_gate(play: Play) -> None:
    """A name with a slip in it is told, and not kept for ever."""
    table = play(ScriptedTurn("one", hold=Hold(1, "released", "door")))
    with closing(connect(table)) as connection:
        connection.request("POST", table.path.removesuffix("/v1/messages") + "/gates/dor", b"")
        assert connection.getresponse().status == 404
    assert table.seat.missed == ("POST /gates/dor",)
    assert table.seat._released == set()


@pytest.mark.parametrize("shape", ["one line", "many lines"])
def test_a_huge_head_is_refused(play: Play, shape: str) -> None:
    """Headers have a limit."""
    table = play(ONE)
    lines = b"x: " + b"y" * MOST_HEADERS if shape == "one line" else b"a: b\r\n" * (MOST_HEADERS // 4)
    line = table.raw(b"POST / HTTP/1.1\r\n" + lines)
    got = line.read_to_end()
    assert got.startswith(b"HTTP/1.1 431 ") or line.end == "rst"
    assert still_serves(table)


def test_a_request_that_breaks_off_leaves_nothing(play: Play) -> None:
    """Half a head, half a body, nothing at all: hung up by FIN or RST."""
    table = play(ONE)
    whole = table.request()
    for size in (0, 10, len(whole) - 5):
        for linger in (b"", struct.pack("ii", 1, 0)):
            line = table.raw(whole[:size])
            if linger:
                line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            line.socket.close()
    assert still_serves(table)
    assert len(table.close()) == 1


def test_small_writes_leave_at_once(play: Play) -> None:
    """Nagle's delay would cost each answer on a kept connection 40 ms: not one would be faster."""
    table = play(ScriptedTurn("x", repeat=True))
    connection = connect(table)
    times = []
    for _ in range(9):
        begun = time.monotonic()
        ask(connection, table)
        times.append(time.monotonic() - begun)
    assert min(times) < 0.03
    connection.close()


def test_it_stops_with_streams_open_and_leaves_nothing() -> None:
    """Held streams, idle and half-open connections end at once; the thread and the port are gone."""
    held = ScriptedTurn("abcdefgh", hold=Hold(1, "end"), repeat=True)
    case = Case("g/n", "t", "w", (), Given("json", "p"), {"root": (held,)}, Expect())
    threads = threading.active_count()
    provider = Provider()
    with provider:
        script = Script(
            case,
            Profile("p", "command", {}, ResultRule(), frozenset()),
            Nonces("n", "s"),
            Path("w"),
        )
        seat = provider.open(script, "anthropic-messages")
        path = seat.base_url.partition(str(provider.port))[2]
        body = json.dumps(
            {"model": "m", "stream": True, "messages": [{"role": "user", "content": script.prompt}]}
        ).encode()
        request = b"POST %b/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (path.encode(), len(body), body)
        lines = [socket.create_connection(("127.0.0.1", provider.port), timeout=5) for _ in range(24)]
        for line in lines[:8]:
            line.sendall(request)
            assert b"text_delta" in line.recv(65536)
        for line in lines[8:16]:
            line.sendall(request[:30])
        begun = time.monotonic()
    assert time.monotonic() - begun < 2
    assert [len(line.recv(10)) for line in lines] == [0] * 24
    assert threading.active_count() == threads
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", provider.port), timeout=1)
    exchanges = seat.close()
    assert [(e.kind, e.delivered, e.sent.input_tokens if e.sent else None) for e in exchanges] == [
        ("turn", False, 10)
    ] * 8
    for line in lines:
        line.close()


def test_an_unknown_wire_format_is_named(provider: Provider) -> None:
    """The message lists those that the provider speaks."""
    with pytest.raises(ProviderError, match=r"'smoke-signals' is no wire format\n.*anthropic-messages, openai-chat"):
        provider.open(None, "smoke-signals")
