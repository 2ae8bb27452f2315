"""An answer ends for the client as it ended for us, and is recorded so; what can't be asked is told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

import pytest

from pytest_agentcontract.provider.server import Provider
from tests.provider.recording.conftest import PATIENCE, Caller, Studio, Upstream, once, parsed

Record = Callable[..., Studio]

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
HALF = "data: ü".encode()[:-1]
FIRST = b"%x\r\n%b\r\n" % (len(HALF), HALF)
LENGTH = OK + b"content-length: 100\r\n\r\n"


@pytest.mark.parametrize(("opening", "said"), [(CHUNKED, FIRST), (LENGTH, HALF)], ids=["chunked", "length"])
@pytest.mark.parametrize(("ending", "end"), [("reset", "rst"), ("closed", "fin")])
def test_a_cut_is_passed_on(studio: Record, opening: bytes, said: bytes, ending: str, end: str) -> None:
    """In the middle of a character, by RST or by FIN: what came is kept."""
    heard = threading.Event()

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(opening + said)
        assert heard.wait(PATIENCE)
        if ending == "reset":
            caller.reset()

    stage = studio(scene)
    client = stage.ask()
    got = client.read(until=said)
    heard.set()
    got += client.read()
    assert client.end == end
    answer = parsed(got, closed=True)
    assert (answer.whole, answer.body) == (False, HALF)
    recorded = stage.recorded()
    assert (recorded.ending, recorded.status, recorded.body) == (ending, 200, HALF)
    assert stage.kept.empty()


@pytest.mark.parametrize(("ending", "end"), [("reset", "rst"), ("closed", "fin")])
@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\ncontent-le"], ids=["nothing", "half a head"])
def test_an_answer_that_never_begins(studio: Record, ending: str, end: str, said: bytes) -> None:
    """The client hears nothing but the end; the record says so."""

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(said)
        if ending == "reset":
            caller.reset()

    stage = studio(scene)
    client = stage.ask()
    assert (client.read(), client.end) == (b"", end)
    recorded = stage.recorded()
    assert (recorded.status, recorded.ending, recorded.pieces, recorded.headers) == (0, ending, (), ())


def test_a_chunk_that_is_cut_is_kept_as_far_as_it_came(studio: Record) -> None:
    """Half a chunk is passed on and recorded."""
    stage = studio(once(CHUNKED + b"64\r\nhalf"))
    client = stage.ask()
    answer = parsed(client.read(), closed=True)
    assert (answer.body, answer.whole) == (b"half", False)
    assert (stage.recorded().body, client.end) == (b"half", "fin")


@pytest.mark.parametrize("begun", [True, False], ids=["in the answer", "before the answer"])
def test_a_client_that_hangs_up_ends_the_question(studio: Record, *, begun: bool) -> None:
    """The upstream sees it leave, and what came is kept."""
    gone, asked = threading.Event(), threading.Event()

    def scene(caller: Caller) -> None:
        caller.request()
        asked.set()
        if begun:
            caller.say(CHUNKED + FIRST)
        caller.left()
        gone.set()

    stage = studio(scene)
    client = stage.ask()
    assert asked.wait(PATIENCE)
    if begun:
        client.read(until=FIRST)
    client.socket.close()
    recorded = stage.recorded()
    assert (recorded.ending, recorded.status, recorded.body) == ("hung-up", 200 if begun else 0, HALF if begun else b"")
    assert gone.wait(PATIENCE)


def test_the_end_of_a_recording_is_the_end_of_what_is_open(provider: Provider, studio: Record) -> None:
    """What is still being answered is broken off, and kept as far as it came."""
    gone = threading.Event()

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(CHUNKED + FIRST)
        caller.left()
        gone.set()

    stage = studio(scene)
    client = stage.ask()
    client.read(until=FIRST)
    provider.dismiss(stage.recorder, stage.path)
    assert (stage.kept.get_nowait().ending, gone.wait(PATIENCE)) == ("hung-up", True)
    client.read()
    assert client.end


def test_connections_are_used_again(studio: Record, upstream: Callable[..., Upstream]) -> None:
    """As long as the upstream keeps them: many answers of every framing, one connection."""

    def scene(caller: Caller) -> None:
        while asked := caller.request():
            if b"HEAD" in asked[:4]:
                caller.say(OK + b"content-length: 10\r\n\r\n")
            else:
                caller.say(
                    CHUNKED + FIRST + b"0\r\n\r\n" + b"" if b"chunk" in asked else OK + b"content-length: 1\r\n\r\nx"
                )

    server = upstream(scene)
    stage = studio(server.url)
    for body in (b"chunk", b"length", b"chunk"):
        assert parsed(stage.ask("connection: close", body=body).read(), closed=True).whole
        stage.ask("connection: close", method="HEAD", below="/anthropic/").read()
    assert server.connections == 1


@pytest.mark.parametrize("said", [b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx",
                                  b"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx",
                                  b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n\r\n"],
                         ids=["close", "old", "says more"])  # fmt: skip
def test_a_connection_that_is_not_to_be_used_again_is_not(
    studio: Record, upstream: Callable[..., Upstream], said: bytes
) -> None:
    """Whoever closes it, or says more than was asked."""

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(said)
        assert caller.request() == b""

    server = upstream(scene)
    stage = studio(server.url)
    for _ in range(2):
        assert parsed(stage.ask("connection: close").read(), closed=True).body == b"x"
    assert server.connections == 2


def test_a_connection_that_the_upstream_ended_meanwhile_is_not_used(
    studio: Record, upstream: Callable[..., Upstream]
) -> None:
    """The next question opens another one."""
    server = upstream(once(OK + b"content-length: 1\r\n\r\nx"))
    stage = studio(server.url)
    for number in range(5):
        assert parsed(stage.ask("connection: close").read(), closed=True).body == b"x"
        stage.recorded()
        for player in server._players:
            player.join(PATIENCE)
        # what has arrived at the socket before our question is read before our question is asked
        assert server.connections == number + 1


def native(data: bytes, status: int) -> str:
    """Return the message of an Anthropic error that forbids to ask again."""
    answer = parsed(data, closed=True)
    assert (answer.status, answer.whole, dict(answer.headers)[b"x-should-retry"]) == (status, True, b"false")
    error = json.loads(answer.body)
    assert (error["type"], set(error["error"])) == ("error", {"type", "message"})
    return str(error["error"]["message"])


def test_an_upstream_that_does_not_listen(studio: Record) -> None:
    """502, told, and not recorded."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    stage = studio(f"http://127.0.0.1:{port}")
    message = native(stage.ask("connection: close").read(), 502)
    assert f"http://127.0.0.1:{port} can't be reached: " in message
    assert (stage.recorder.told, stage.kept.empty()) == ([message], True)


def test_a_provider_that_nobody_knows(studio: Record) -> None:
    """404 in words; a HEAD gets no body."""
    stage = studio("http://127.0.0.1:1")
    answer = parsed(stage.ask("connection: close", below="/nobody/v1?x=1").read(), closed=True)
    assert answer.status == 404
    assert json.loads(answer.body)["error"]["message"] == (
        "nobody is asked at POST /nobody/v1: providers stand at /anthropic, /openai, /gemini"
    )
    head = stage.ask("connection: close", method="HEAD", below="/openai").read()
    assert head.startswith(b"HTTP/1.1 404 ")
    assert head.endswith(b"\r\n\r\n")
    assert len(stage.recorder.told) == 2


@pytest.mark.parametrize("said", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
                                  b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nmore"],
                         ids=["no HTTP", "no length", "another protocol"])  # fmt: skip
def test_an_upstream_that_speaks_something_else(studio: Record, said: bytes) -> None:
    """502, told, and not recorded."""
    stage = studio(once(said))
    assert "can't be read as HTTP" in native(stage.ask("connection: close").read(), 502)
    assert (len(stage.recorder.told), stage.kept.empty()) == (1, True)


def test_a_body_that_turns_to_garbage_is_cut_there(studio: Record) -> None:
    """It is recorded as far as it could be read, and told."""
    stage = studio(once(CHUNKED + FIRST + b"what\r\n"))
    client = stage.ask()
    answer = parsed(client.read(), closed=True)
    assert (answer.whole, answer.body, client.end) == (False, HALF, "fin")
    assert (stage.recorded().ending, len(stage.recorder.told)) == ("closed", 1)


def test_what_the_tape_raises_is_raised_at_the_end(studio: Record) -> None:
    """The client has its answer; who closes the recorder hears of it, every time."""
    stage = studio(once(OK + b"content-length: 1\r\n\r\nx"))

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    stage.recorder._take = full
    assert parsed(stage.ask("connection: close").read(), closed=True).body == b"x"
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            stage.recorder.close()
    stage.recorder._failure = None


@pytest.mark.parametrize(
    ("said", "method"),
    [
        (CHUNKED + FIRST + b"0\r\n\r\n", "POST"),
        (OK + b"content-length: 4\r\n\r\nlast", "POST"),
        (b"HTTP/1.1 204 No\r\n\r\n", "POST"),
        (OK + b"content-length: 4\r\n\r\n", "HEAD"),
    ],
    ids=["chunked", "length", "no body", "head"],
)
def test_an_answer_is_recorded_before_its_end_is_heard(studio: Record, said: bytes, method: str) -> None:
    """Whoever has read it finds it in the record."""

    def scene(caller: Caller) -> None:
        while caller.request():
            caller.say(said)

    stage = studio(scene)
    client = stage.ask(method=method)
    for _ in range(30):
        client.read(until=said[-4:])
        assert stage.kept.get_nowait().ending == "whole"
        client.say(stage.request(method=method))
    client.read(until=said[-4:])


def test_no_stream_waits_for_the_record_of_another(studio: Record) -> None:
    """While one exchange is being taken, the others go on; its own end waits, and nothing else of it."""

    def scene(caller: Caller) -> None:
        while caller.request():
            caller.say(CHUNKED + FIRST)
            assert turns.acquire(timeout=PATIENCE)
            caller.say(b"0\r\n\r\n")

    def take(recorded: object) -> None:
        taking.set()
        assert go_on.wait(PATIENCE)
        stage.kept.put(recorded)

    turns, taking, go_on = threading.Semaphore(0), threading.Event(), threading.Event()
    stage = studio(scene)
    stage.recorder._take = take
    first = stage.ask()
    first.read(until=FIRST)
    turns.release()
    assert taking.wait(PATIENCE)
    second = stage.ask()
    assert second.read(until=FIRST).endswith(FIRST)
    first.socket.settimeout(0)
    with pytest.raises(BlockingIOError):
        first.socket.recv(1)
    first.socket.settimeout(PATIENCE)
    go_on.set()
    turns.release()
    for client in (first, second):
        assert client.read(until=b"0\r\n\r\n") == b"0\r\n\r\n"
    assert stage.kept.qsize() == 2


def test_what_is_answered_beyond_the_end_of_a_recording_is_told(studio: Record) -> None:
    """Who closes the recorder before he dismisses it hears what he missed; the client gets its answer."""

    def scene(caller: Caller) -> None:
        caller.request()
        caller.say(CHUNKED + FIRST)
        assert closed.wait(PATIENCE)
        caller.say(b"0\r\n\r\n")

    closed = threading.Event()
    stage = studio(scene)
    client = stage.ask("connection: close")
    client.read(until=FIRST)
    stage.recorder._taking.shutdown()
    closed.set()
    assert client.read() == b"0\r\n\r\n"
    (told,) = stage.recorder.told
    assert "/v1/messages was still being answered when the recording ended" in told
    assert stage.kept.empty()
