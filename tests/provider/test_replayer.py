"""A cassette is served over HTTP: what was recorded, as it came and as it ended, and nothing else."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Headers, Piece, Recorded
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.served import upstreams_of
from pytest_agentcontract.provider import replayer
from pytest_agentcontract.provider.http import Connection, Incoming
from pytest_agentcontract.provider.replayer import Replayer
from pytest_agentcontract.provider.server import Provider

MESSAGES = "https://api.anthropic.com/v1/messages"
EVENTS = (("Content-Type", "text/event-stream"),)
JSON = (("content-type", "application/json"),)


def entry(body: object = None, *pieces: bytes, **more: Any) -> Recorded:
    """Return an exchange; what is not bytes is its request's JSON document. No two pieces come after the same gap."""
    content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
    parts = tuple(Piece(0.25 * number, data) for number, data in enumerate(pieces, 1))
    given = {"method": "POST", "url": MESSAGES, "request_headers": (), "status": 200, "reason": "OK", "headers": EVENTS}
    return Recorded(**{**given, "request_body": content, "pieces": parts, **more})


@dataclass
class Stage:
    """A replayer at a place of the server's, and clients for it."""

    guest: Replayer
    index: Index
    place: str
    port: int
    clients: ExitStack = field(default_factory=ExitStack)

    def ask(
        self, body: object = None, path: str = "/anthropic/v1/messages", method: str = "POST", headers: Headers = ()
    ) -> http.client.HTTPResponse:
        """Ask over a connection of its own, and return the answer once its head is there."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        self.clients.callback(line.close)
        content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        line.request(method, self.place + path, None if method == "GET" else content, dict(headers))
        return line.getresponse()

    def raw(self, *, version: str = "1.1", method: str = "POST", body: bytes = b"{}") -> socket.socket:
        """Send a request over a bare connection."""
        line = self.clients.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=5))
        head = f"{method} {self.place}/anthropic/v1/messages HTTP/{version}\r\nhost: x\r\ncontent-length: {len(body)}"
        line.sendall(f"{head}\r\n\r\n".encode() + body)
        return line


def read(line: socket.socket) -> tuple[bytes, str]:
    """Read to the end, and say how the other side ended it."""
    got = b""
    try:
        while piece := line.recv(65536):
            got += piece
    except ConnectionResetError:
        return got, "rst"
    return got, "fin"


def read_until(line: socket.socket, mark: bytes) -> bytes:
    """Read until some bytes have come."""
    got = b""
    while mark not in got:
        piece = line.recv(65536)
        assert piece, got
        got += piece
    return got


@pytest.fixture
def staged(provider: Provider) -> Iterator[Callable[..., Stage]]:
    """Return a function that puts a cassette on; all is dismissed after the test."""
    stages: list[Stage] = []

    def put_on(*entries: Recorded, **more: Any) -> Stage:
        cassette, place = Cassette(entries), provider.place()
        index = Index(cassette, Scrubber({}).scrub)
        guest = Replayer(index, upstreams_of(cassette), **more)
        provider.admit(guest, place)
        stages.append(Stage(guest, index, place, provider.port))
        return stages[-1]

    yield put_on
    for stage in stages:
        stage.clients.close()
        provider.dismiss(stage.guest, stage.place)


# ---- what is sent


def test_the_recorded_answer(staged: Callable[..., Stage]) -> None:
    """Status, reason, headers in their order, and the body; each entry once."""
    headers = (("Content-Type", "text/plain"), ("X-One", "é"), ("X-One", "2"))
    stage = staged(entry({"q": 1}, b"body", status=418, reason="I'm a teapot", headers=headers))
    answer = stage.ask({"q": 1})
    assert (answer.status, answer.reason, answer.read()) == (418, "I'm a teapot", b"body")
    assert answer.getheaders() == [*headers, ("content-length", "4")]
    assert stage.index.unplayed == {}
    assert stage.guest.misses == []


def test_headers_of_the_way_are_made_anew(staged: Callable[..., Stage]) -> None:
    """What was true of the recorded bytes on their way is not true of these; none sends a client elsewhere."""
    stale = [("Content-Encoding", "gzip"), ("Content-Length", "9"), ("Transfer-Encoding", "gzip, chunked")]
    stale += [("Connection", "close"), ("Keep-Alive", "timeout=5"), ("Trailer", "x"), ("Alt-Svc", 'h3=":443"')]
    answer = staged(entry({}, b"{}", headers=(*stale, *JSON))).ask()
    assert answer.getheaders() == [("content-type", "application/json"), ("content-length", "2")]
    assert answer.read() == b"{}"


def test_headers_are_one_line_each(staged: Callable[..., Stage]) -> None:
    """A line break in a file that somebody edited ends no header."""
    answer = staged(entry({}, b"{}", reason="O\r\nK", headers=(("x-a", "b\r\n\r\nc"),))).ask()
    assert (answer.reason, answer.getheader("x-a"), answer.read()) == ("O K", "b c", b"{}")


def test_every_piece_is_a_chunk(staged: Callable[..., Stage]) -> None:
    """Of a stream, and of whatever came in several pieces; one without bytes ends nothing."""
    pieces = b"data: 1\n\n", b"", "é".encode()[:1], "é".encode()[1:] + b"\xff"
    line = staged(entry({}, *pieces)).raw()
    got = read_until(line, b"0\r\n\r\n")
    assert b"transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n1\r\n\xc3\r\n2\r\n\xa9\xff\r\n0\r\n\r\n" in got


def test_a_connection_is_used_again(staged: Callable[..., Stage]) -> None:
    """After an answer that came whole, framed either way."""
    stage = staged(entry({"q": 1}, b"one"), entry({"q": 2}, b"two", headers=JSON), entry({"q": 3}, b"three"))
    line = http.client.HTTPConnection("127.0.0.1", stage.port, timeout=5)
    stage.clients.callback(line.close)
    answers = []
    for number in (1, 2, 3):
        line.request("POST", f"{stage.place}/anthropic/v1/messages", json.dumps({"q": number}))
        answers.append((line.getresponse().read(), line.sock is None))
    assert answers == [(b"one", False), (b"two", False), (b"three", False)]


@pytest.mark.parametrize("pieces", [(b"one", b"two"), (b"onetwo",)])
def test_a_client_of_http_1_0(staged: Callable[..., Stage], pieces: tuple[bytes, ...]) -> None:
    """It gets no chunks: the length says where the end is, and the connection ends."""
    got, end = read(staged(entry({}, *pieces)).raw(version="1.0"))
    assert end == "fin"
    assert got.endswith(b"content-length: 6\r\n\r\nonetwo")


def test_an_answer_without_a_body(staged: Callable[..., Stage]) -> None:
    """To HEAD, or with a status that has none: the connection goes on."""
    length = (("content-length", "99"),)
    stage = staged(
        entry({}, method="HEAD", headers=length), entry({"q": 1}, status=204, reason="No Content", headers=())
    )
    line = stage.raw(method="HEAD")
    assert read_until(line, b"\r\n\r\n") == b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"
    answer = stage.ask({"q": 1})
    assert (answer.status, answer.getheaders()) == (204, [])
    line.sendall(b"HEAD %b/x HTTP/1.1\r\nhost: x\r\n\r\n" % stage.place.encode())
    got = read_until(line, b"\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 400 ")
    assert got.endswith(b"\r\n\r\n")
    line.sendall(b"HEAD %b/y HTTP/1.1\r\nhost: x\r\n\r\n" % stage.place.encode())
    assert read_until(line, b"\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_a_compressed_request(staged: Callable[..., Stage]) -> None:
    """It is compared as what it says; what can't be opened as what it is."""
    stage = staged(entry({"q": 1}, b"one"), entry(b"no gzip", b"two"))
    gzipped = zlib.compress(b'{"q": 1}', wbits=31)
    assert stage.ask(gzipped, headers=(("content-encoding", "gzip"),)).read() == b"one"
    assert stage.ask(b"no gzip", headers=(("content-encoding", "gzip"),)).read() == b"two"


def test_one_path_for_each_provider(staged: Callable[..., Stage]) -> None:
    """With its query, in any order and with any key; the stored URL is the upstream's."""
    stage = staged(
        entry({}, b"chat", url="https://api.openai.com/v1/chat/completions"),
        entry(
            {}, b"gemini", url="https://generativelanguage.googleapis.com/v1beta/models/m:generateContent?alt=sse&a=1"
        ),
        entry(b"", b"models", url="https://api.openai.com/v1/models", method="GET"),
    )
    assert stage.ask(path="/openai/v1/chat/completions").read() == b"chat"
    assert stage.ask(path="/gemini/v1beta/models/m:generateContent?a=1&key=secret&alt=sse").read() == b"gemini"
    assert stage.ask(path="/openai/v1/models", method="GET").read() == b"models"


def test_a_client_is_sent_on_to_this_server(staged: Callable[..., Stage]) -> None:
    """Not to the provider, where the recorded answer sent it; who is somewhere else stays there."""
    there = (("Location", f"{MESSAGES}/2?a=b"), ("x-from", MESSAGES)), (("location", "https://example.org/"),)
    stage = staged(*(entry({"q": at}, headers=headers, status=307) for at, headers in enumerate(there)))
    answer = stage.ask({"q": 0})
    assert answer.getheader("location") == f"{stage.place}/anthropic/v1/messages/2?a=b"
    assert answer.getheader("x-from") == MESSAGES
    assert stage.ask({"q": 1}).getheader("location") == "https://example.org/"


# ---- when it is sent


def test_pieces_come_one_by_one(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    """At recorded pace each is sent after its own gap, and not before; the head comes with the first."""
    gaps: list[float] = []
    gate = threading.Semaphore(0)

    async def slept(gap: float) -> None:
        gaps.append(gap)
        assert await asyncio.to_thread(gate.acquire, timeout=5)

    monkeypatch.setattr(replayer, "asyncio", SimpleNamespace(sleep=slept))
    line = staged(entry({}, b"one", b"two", b"three"), pace="recorded").raw()
    seen = []
    for mark in (b"one", b"two", b"three"):
        gate.release()
        seen.append(read_until(line, mark))
    assert seen[0].startswith(b"HTTP/1.1 200 OK")
    assert [seen[0].partition(b"\r\n\r\n")[2].strip(), *map(bytes.strip, seen[1:])][:2] == [b"3\r\none", b"3\r\ntwo"]
    assert gaps == [0.25, 0.5, 0.75]


@pytest.mark.parametrize("ending", ["whole", "closed"])
def test_zero_pace(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """Nobody waits."""

    async def slept(_gap: float) -> None:
        pytest.fail("the replayer waits")

    monkeypatch.setattr(replayer, "asyncio", SimpleNamespace(sleep=slept))
    line = staged(entry({}, b"one", b"two", ending=ending)).raw()
    assert b"3\r\none\r\n3\r\ntwo\r\n" in read_until(line, b"two\r\n")


@pytest.mark.parametrize("header", ["retry-after", "Retry-After-Ms"])
@pytest.mark.parametrize(("pace", "told"), [("zero", "0"), ("recorded", "20")])
def test_how_long_a_client_is_to_wait(staged: Callable[..., Stage], header: str, pace: str, told: str) -> None:
    """A client that is told to wait before it asks again waits as long as everything else takes."""
    stage = staged(entry(None, b"{}", status=429, headers=((header, "20"),)), pace=pace)
    assert stage.ask().getheader(header) == told


def test_answers_come_at_the_same_time(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes long does not keep another client waiting."""
    gate = threading.Semaphore(0)

    async def slept(gap: float) -> None:
        if gap == 0.5:
            await asyncio.to_thread(gate.acquire, timeout=5)

    monkeypatch.setattr(replayer, "asyncio", SimpleNamespace(sleep=slept))
    stage = staged(entry({}, b"slow", b"end"), entry({"q": 1}, b"fast"), pace="recorded")
    slow = stage.raw()
    read_until(slow, b"slow")
    assert stage.ask({"q": 1}).read() == b"fast"
    gate.release()
    read_until(slow, b"end")


# ---- how it ends


@pytest.mark.parametrize("pace", ["zero", "recorded"])
@pytest.mark.parametrize(
    ("ending", "status", "end"),
    [("reset", 200, "rst"), ("closed", 200, "fin"), ("reset", 0, "rst"), ("closed", 0, "fin")],
)
def test_an_answer_that_broke_off(
    staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch, ending: str, status: int, end: str, pace: str
) -> None:
    """It breaks off again, in the same manner; before its beginning, if it did so."""
    pieces = (b"one", b"two") if status else ()
    got, seen = read(staged(entry({}, *pieces, status=status, ending=ending), pace=pace).raw())
    assert seen == end
    assert got.endswith(b"3\r\none\r\n3\r\ntwo\r\n") if status else got == b""


@pytest.mark.parametrize("headers", [EVENTS, JSON])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_what_breaks_off_is_never_taken_for_whole(staged: Callable[..., Stage], headers: Headers, version: str) -> None:
    """However an answer is framed, it shows that some of it is missing."""
    got, end = read(staged(entry({}, b"cut", headers=headers, ending="closed")).raw(version=version))
    assert end == "fin"
    whole = b"content-length: 4\r\n\r\ncut" if version == "1.0" else b"chunked\r\n\r\n3\r\ncut\r\n"
    assert got.endswith(whole)
    again = staged(entry({}, b"cut", headers=headers, ending="closed")).ask()
    with pytest.raises(http.client.IncompleteRead):
        again.read()


def test_a_client_that_left_is_waited_for(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets what it got, and then nothing until it leaves; then nothing is left of it."""
    left = threading.Event()

    async def slept(gap: float) -> None:
        assert gap == replayer.PATIENCE
        try:
            await asyncio.sleep(5)
        finally:
            left.set()

    monkeypatch.setattr(replayer, "asyncio", SimpleNamespace(sleep=slept))
    line = staged(entry({}, b"one", ending="hung-up")).raw()
    assert read_until(line, b"one\r\n").endswith(b"3\r\none\r\n")
    line.settimeout(0.05)
    with pytest.raises(TimeoutError):
        line.recv(1)
    assert not left.is_set()
    line.close()
    assert left.wait(5)


def test_a_client_that_does_not_leave(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience has an end, and so has the connection."""
    monkeypatch.setattr(replayer, "PATIENCE", 0.0)
    got, end = read(staged(entry({}, b"one", ending="hung-up")).raw())
    assert (got.endswith(b"3\r\none\r\n"), end) == (True, "fin")


def test_a_client_that_leaves_early(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is not waited for, and others are served."""
    left = threading.Event()

    async def slept(gap: float) -> None:
        try:
            await asyncio.sleep(0 if gap == 0.25 else 5)
        finally:
            if gap == 0.5:
                left.set()

    monkeypatch.setattr(replayer, "asyncio", SimpleNamespace(sleep=slept))
    stage = staged(entry({}, b"one", b"two"), entry({"q": 1}, b"next"), pace="recorded")
    line = stage.raw()
    read_until(line, b"one")
    line.close()
    assert left.wait(5)
    assert stage.ask({"q": 1}).read() == b"next"


# ---- what it does not hold


@pytest.mark.parametrize(
    ("path", "url", "kind"),
    [
        ("/anthropic/v1/messages", MESSAGES, lambda body: (body["type"], body["error"]["type"])),
        ("/openai/v1/responses", "https://api.openai.com/v1/responses", lambda body: body["error"]["type"]),
        (
            "/gemini/v1beta/models",
            "https://generativelanguage.googleapis.com/v1beta/models",
            lambda body: body["error"]["code"],
        ),
        ("/nobody/there", "/nobody/there", lambda body: body["error"]["type"]),
    ],
)
def test_a_miss_is_told_loudly(
    staged: Callable[..., Stage], path: str, url: str, kind: Callable[[Any], object]
) -> None:
    """To the client in its provider's words, and not to be asked again; to the test as a value."""
    stage = staged(entry({"q": 1}, b"one"))
    answer = stage.ask({"q": 2}, path)
    told = json.loads(answer.read())
    assert (answer.status, answer.getheader("x-should-retry")) == (400, "false")
    assert kind(told) in {("error", "invalid_request_error"), "invalid_request_error", 400}
    [miss] = stage.guest.misses
    assert miss.url == url
    assert json.dumps(str(miss), ensure_ascii=False)[1:-1] in json.dumps(told, ensure_ascii=False)
    assert (miss.nearest, miss.difference.part) == (0, "body" if url == MESSAGES else "URL")


def test_a_miss_spoils_nothing(staged: Callable[..., Stage]) -> None:
    """What is asked next is answered, on the same connection too."""
    stage = staged(entry({"q": 1}, b"one"))
    line = stage.raw(body=b'{"q": 2}')
    assert b"HTTP/1.1 400 " in read_until(line, b"}")
    assert stage.ask({"q": 1}).read() == b"one"
    assert stage.ask({"q": 1}).status == 400
    assert [miss.played for miss in stage.guest.misses] == [0, 1]


@dataclass
class Beyond:
    """A guest who answers what the cassette does not hold."""

    asked: list[str] = field(default_factory=list)
    closed: int = 0
    doing: Callable[[Connection], Any] = lambda _: None

    def serve(self, connection: Connection, _incoming: Incoming, path: str) -> Any:
        """Note what was asked, and answer."""
        connection.owner = self
        self.asked.append(path)
        connection.write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nbeyond")
        return self.doing(connection)

    def close(self) -> None:
        """Count."""
        self.closed += 1


def test_a_miss_goes_to_the_guest_beyond(staged: Callable[..., Stage]) -> None:
    """Where there is one: new requests and those that repeat; nothing is missed then."""
    beyond = Beyond()
    stage = staged(entry({"q": 1}, b"one"), beyond=beyond)
    assert [stage.ask({"q": number}).read() for number in (1, 2, 1)] == [b"one", b"beyond", b"beyond"]
    assert beyond.asked == ["/anthropic/v1/messages"] * 2
    assert stage.guest.misses == []
    stage.guest.close()
    assert beyond.closed == 1


def test_who_dismisses_the_replayer_ends_what_is_beyond(provider: Provider) -> None:
    """Nothing is answered any more when `dismiss` returns."""
    begun, ended = threading.Event(), threading.Event()

    async def answer() -> None:
        begun.set()
        try:
            await asyncio.sleep(5)
        finally:
            ended.set()

    guest, place = (
        Replayer(Index(Cassette(), Scrubber({}).scrub), {}, "zero", Beyond(doing=lambda _: answer())),
        provider.place(),
    )
    provider.admit(guest, place)
    with socket.create_connection(("127.0.0.1", provider.port), timeout=5) as line:
        line.sendall(b"GET %b/x HTTP/1.1\r\nhost: x\r\n\r\n" % place.encode())
        assert begun.wait(5)
        provider.dismiss(guest, place)
        assert ended.is_set()


# ---- where it goes

_CONNECTED: list[str] = []


def _watch(event: str, _args: object) -> None:
    if event == "socket.connect":
        _CONNECTED.append(threading.current_thread().name)


def test_nothing_goes_out(staged: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's thread opens no connection, whatever is asked: what is recorded, missed or unknown."""
    sys.addaudithook(_watch)
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    stage = staged(entry({}, b"one", headers=(("location", MESSAGES),), status=307), entry({"q": 1}, ending="closed"))
    _CONNECTED.clear()
    asked = [stage.ask().status, stage.ask({"q": 2}).status, stage.ask(path="/elsewhere/x").status]
    read(stage.raw(body=b'{"q": 1}'))
    assert asked == [307, 400, 400]
    assert set(_CONNECTED) == {threading.current_thread().name}

    went = threading.Event()

    async def call(_: Connection) -> None:
        _reader, writer = await asyncio.open_connection("127.0.0.1", stage.port)
        writer.close()
        went.set()

    staged(beyond=Beyond(doing=call)).ask().read()
    assert went.wait(5)
    assert "scripted provider" in _CONNECTED, "the watch sees what goes out"
