"""The client hears through the recorder what the upstream said, in its framing; and that is what is recorded."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.provider.recording.conftest import BODY, PATIENCE, Caller, Studio, once, parsed

Record = Callable[..., Studio]

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Frame some bytes."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def test_chunks_of_odd_sizes_come_as_they_were(studio: Record) -> None:
    """One byte, half a character, many, one with an extension: each is a chunk again and a piece of the record."""
    data = [b"d", b"ata: \xc3", b"\xbc" * 1, b"x" * 70_001, b"\xff\xfe\x00", b"\n\n"]
    framed = [chunk(piece) for piece in data]
    framed[0] = b"001;ext=1\r\nd\r\n"
    stage = studio(once(CHUNKED + framed[0] + framed[1] + framed[2], *framed[3:], LAST))
    answer = parsed(stage.ask("connection: close").read(), closed=True)
    assert (answer.whole, answer.status, answer.body) == (True, 200, b"".join(data))
    recorded = stage.recorded()
    assert (recorded.status, recorded.reason, recorded.ending) == (200, "OK", "whole")
    assert [piece.data for piece in recorded.pieces][:3] == data[:3]
    assert recorded.body == b"".join(data)
    assert recorded.headers == (("content-type", "text/event-stream"),)


def test_a_length_stays_a_length(studio: Record) -> None:
    """Names of headers keep their case, repeated ones stay apart, and what is for one hop goes no further."""
    head = OK + b"Content-Length: 5\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n"
    stage = studio(once(head + b"he", b"llo"))
    data = stage.ask("connection: close").read()
    assert data == OK + b"Content-Length: 5\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\nhello"
    recorded = stage.recorded()
    assert recorded.headers == (("Content-Length", "5"), ("Set-Cookie", "a=1"), ("set-cookie", "b=2"))
    assert recorded.body == b"hello"


def test_a_body_without_length_ends_with_the_connection(studio: Record) -> None:
    """The end of such a body is a FIN: it is whole."""
    client = studio(once(b"HTTP/1.0 200 Fine\r\ncontent-type: x/y\r\n\r\nsome", b" more")).ask()
    assert client.read() == b"HTTP/1.1 200 Fine\r\ncontent-type: x/y\r\nconnection: close\r\n\r\nsome more"
    assert client.end == "fin"


def test_a_body_without_length_that_is_reset_is_no_whole_one(studio: Record) -> None:
    """Nobody may take a torn body for a short one."""

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(OK + b"\r\nsome")
        heard.wait(PATIENCE)
        caller.reset()

    heard = threading.Event()
    stage = studio(scene)
    client = stage.ask()
    client.read(until=b"some")
    heard.set()
    client.read()
    assert (client.end, stage.recorded().ending) == ("rst", "reset")


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_body_has_none(studio: Record, status: int) -> None:
    """Whatever length it names: the next request on the connection is answered, too."""
    head = b"HTTP/1.1 %d No\r\ncontent-length: 7\r\n\r\n" % status if status == 304 else b"HTTP/1.1 204 No\r\n\r\n"

    def scene(caller: Caller) -> None:
        while caller.request():
            caller.say(head)

    stage = studio(scene)
    client = stage.ask()
    for _ in range(2):
        assert client.read(until=b"\r\n\r\n") == head
        recorded = stage.recorded()
        assert (recorded.status, recorded.body, recorded.pieces, recorded.ending) == (status, b"", (), "whole")
        client.say(stage.request())


def test_head_gets_a_head(studio: Record) -> None:
    """The length that it names is that of a body which doesn't come."""
    head = OK + b"content-length: 1000\r\n\r\n"

    def scene(caller: Caller) -> None:
        while asked := caller.request():
            caller.say(head if asked.startswith(b"HEAD / HTTP/1.1\r\n") else b"HTTP/1.1 500 No\r\n\r\n")

    stage = studio(scene)
    client = stage.ask(method="HEAD", below="/anthropic/")
    for _ in range(2):
        assert client.read(until=b"\r\n\r\n") == head
        recorded = stage.recorded()
        assert (recorded.method, recorded.headers, recorded.ending) == ("HEAD", (("content-length", "1000"),), "whole")
        client.say(stage.request(method="HEAD", below="/anthropic/"))


def test_what_comes_before_the_answer_is_passed_on(studio: Record) -> None:
    """Early hints are for the client; to go on, and to speak another protocol, was said to us."""
    early = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    stage = studio(once(b"HTTP/1.1 100 Continue\r\n\r\n" + early + CHUNKED, chunk(b"x"), LAST))
    answer = parsed(stage.ask("connection: close").read(), closed=True)
    assert (answer.interim, answer.status, answer.body, answer.whole) == ([103], 200, b"x", True)
    recorded = stage.recorded()
    assert (recorded.status, recorded.headers) == (200, (("content-type", "text/event-stream"),))


def test_a_client_that_waits_to_be_asked_is_asked(studio: Record) -> None:
    """The upstream need not be: it gets the request whole."""
    stage = studio(once(OK + b"content-length: 0\r\n\r\n"))
    client = stage.ask("expect: 100-continue", "connection: close", f"content-length: {len(BODY)}", body=b"")
    assert client.read(until=b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.say(BODY)
    assert client.read() == OK + b"content-length: 0\r\n\r\n"
    assert stage.recorded().request_body == BODY


def test_trailers_are_passed_on(studio: Record) -> None:
    """They are no headers, and the body has its end behind them."""
    stage = studio(once(CHUNKED, chunk(b"x"), b"0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n"))
    data = stage.ask("connection: close").read()
    assert data.endswith(chunk(b"x") + b"0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n")
    assert stage.recorded().headers == (("content-type", "text/event-stream"),)


def test_huge_headers_pass(studio: Record) -> None:
    """Policies and cookies can be long."""
    lines = b"".join(b"x-%d: %b\r\n" % (number, b"y" * 1_000) for number in range(200))
    stage = studio(once(OK + lines + b"content-length: 2\r\n\r\nok"))
    assert stage.ask("connection: close").read() == OK + lines + b"content-length: 2\r\n\r\nok"
    assert len(stage.recorded().headers) == 201


@pytest.mark.parametrize(
    "framing",
    [b"transfer-encoding: chunked\r\n\r\n1\r\nx\r\n2\r\nyz\r\n0\r\n\r\n", b"content-length: 3\r\n\r\nxyz", b"\r\nxyz"],
    ids=["chunked", "length", "close"],
)
def test_an_old_client_gets_no_chunks(studio: Record, framing: bytes) -> None:
    """HTTP/1.0 knows the end of the connection, and hears nothing before the answer."""
    stage = studio(once(b"HTTP/1.1 103 Early\r\n\r\n" + OK + framing))
    data = stage.ask(version="1.0").read()
    assert data.endswith(b"\r\n\r\nxyz")
    assert b"chunked" not in data
    assert b"103" not in data
    assert stage.recorded().body == b"xyz"


def test_every_read_is_passed_on_at_once(studio: Record) -> None:
    """The upstream says the next byte only when the client has heard the one before."""

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(CHUNKED)
        for number in range(50):
            assert turns.acquire(timeout=PATIENCE)
            caller.say(chunk(b"<%d>" % number))
        assert turns.acquire(timeout=PATIENCE)
        caller.say(LAST)

    turns = threading.Semaphore(0)
    stage = studio(scene)
    client = stage.ask()
    client.read(until=b"\r\n\r\n")
    for number in range(50):
        turns.release()
        assert client.read(until=b">\r\n") == chunk(b"<%d>" % number)
    turns.release()
    assert client.read(until=LAST) == LAST
    recorded = stage.recorded()
    assert [piece.data for piece in recorded.pieces] == [b"<%d>" % number for number in range(50)]
    assert all(piece.gap >= 0 for piece in recorded.pieces)


def test_gaps_are_those_of_the_upstream(studio: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is counted from the request, each other one from what came before it."""
    stage = studio(once(CHUNKED + chunk(b"a") + chunk(b"b") + chunk(b"c") + LAST))
    ticks = iter([100.0, 100.5, 100.5, 103.0])
    monkeypatch.setattr("pytest_agentcontract.provider.relay._clock", lambda: next(ticks))
    stage.ask("connection: close").read()
    assert [piece.gap for piece in stage.recorded().pieces] == [0.5, 0.0, 2.5]


def test_the_upstream_is_asked_as_the_client_asked(studio: Record) -> None:
    """Method, target, query, end-to-end headers and body; the length is ours to say, and no encoding is asked for."""
    heard: list[bytes] = []

    def scene(caller: Caller) -> None:
        heard.append(caller.request())
        caller.say(OK + b"content-length: 0\r\n\r\n")

    stage = studio(scene)
    sent = ["X-Api-Key: k", "Accept-Encoding: gzip, br", "connection: close, x-mine", "X-Mine: 1", "te: trailers",
            "x-agent: child"]  # fmt: skip
    stage.ask(*sent, below="/openai/v1/a%20b/%C3%BC?q=1&key=%2F").read()
    head, _, body = heard[0].partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert (first, body) == (b"POST /v1/a%20b/%C3%BC?q=1&key=%2F HTTP/1.1", BODY)
    netloc = stage.recorder._upstreams["anthropic"].removeprefix("http://").encode()
    assert sorted(lines) == sorted(
        [
            b"host: " + netloc,
            b"x-api-key: k",
            b"accept-encoding: identity",
            b"x-agent: child",
            b"content-length: %d" % len(BODY),
        ]
    )
    recorded = stage.recorded()
    assert recorded.url == f"http://{netloc.decode()}/v1/a%20b/%C3%BC?q=1&key=%2F"
    assert recorded.request_headers == (("x-api-key", "k"), ("accept-encoding", "gzip, br"), ("x-agent", "child"))
    assert (recorded.method, recorded.request_body) == ("POST", BODY)


def test_a_request_in_chunks_goes_on_with_its_length(studio: Record) -> None:
    """What is asked upstream is whole."""
    heard: list[bytes] = []

    def scene(caller: Caller) -> None:
        heard.append(caller.request())
        caller.say(OK + b"content-length: 0\r\n\r\n")

    stage = studio(scene)
    client = stage.ask("transfer-encoding: chunked", "connection: close", body=b"")
    client.say(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    client.read()
    assert b"\r\ncontent-length: 5\r\n" in heard[0]
    assert b"chunked" not in heard[0]
    assert heard[0].endswith(b"\r\n\r\nabcde")


def test_64_parallel_streams_are_recorded_whole(studio: Record) -> None:
    """All are open at once, and each comes to its own end."""
    everybody = threading.Barrier(64, timeout=PATIENCE)

    def scene(caller: Caller) -> None:
        mark = caller.request().partition(b"\r\n\r\n")[2]
        caller.say(CHUNKED + chunk(mark))
        everybody.wait()
        for number in range(20):
            caller.say(chunk(b"%b-%d " % (mark, number)))
        caller.say(LAST)

    def told(number: int) -> bytes:
        return b"<%d>" % number + b"".join(b"<%d>-%d " % (number, turn) for turn in range(20))

    stage = studio(scene)
    clients = [stage.ask("connection: close", body=b"<%d>" % number) for number in range(64)]
    answers: list[Any] = [parsed(client.read(), closed=True) for client in clients]
    assert [answer.body for answer in answers] == [told(number) for number in range(64)]
    recorded = [stage.recorded() for _ in clients]
    assert {one.request_body: one.body for one in recorded} == {b"<%d>" % n: told(n) for n in range(64)}
    assert {one.ending for one in recorded} == {"whole"}
