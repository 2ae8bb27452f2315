"""The client's connections: one for requests that follow each other, and never one that the peer has given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_agentcontract.reference.transport import Connections, ModelError, Url

LENGTH = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
CHUNKS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"


@dataclass
class Peer:
    """Says one answer after the other, and counts the connections; None hangs up without a word."""

    answers: list[bytes | None]
    hangs_up_after: int = 100
    requests: int = 0
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer on one connection."""
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            for _ in range(self.hangs_up_after):
                await reader.readuntil(b"\r\n\r\n")
                answer = self.answers[self.requests]
                self.requests += 1
                if answer is None:
                    break
                writer.write(answer)
        writer.close()
        self.gone.set()


def talk(peer: Peer, scene: Callable[[Connections], Coroutine[Any, Any, None]]) -> None:
    """Let a scene play against a peer."""

    async def play() -> None:
        server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
        connections = Connections(Url.parse(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        try:
            await scene(connections)
        finally:
            connections.close()
            server.close()
            await asyncio.wait_for(peer.gone.wait(), 5)

    asyncio.run(play())


async def ask(connections: Connections, *, pieces: int = 100) -> bytes:
    """Make one request, and read so many pieces of its answer."""
    said = b""
    async with connections.post("/", {}, b"") as response:
        while pieces and (piece := await response.read()):
            said, pieces = said + piece, pieces - 1
    return said


@pytest.mark.parametrize("answer", [LENGTH, CHUNKS])
def test_requests_in_a_row_share_a_connection(answer: bytes) -> None:
    """A connection whose answer was read to its end serves the next request, which reads nothing of the one before."""

    async def scene(connections: Connections) -> None:
        assert [await ask(connections) for _ in range(3)] == [b"hi"] * 3

    peer = Peer([answer] * 3)
    talk(peer, scene)
    assert peer.connections == 1


def test_a_stream_that_is_left_at_its_last_event_is_read_to_its_end() -> None:
    """Who knows by the last event that nothing follows leaves only the mark of the end unread."""

    async def scene(connections: Connections) -> None:
        assert [await ask(connections, pieces=2) for _ in range(2)] == [b"hi"] * 2

    peer = Peer([CHUNKS] * 2)
    talk(peer, scene)
    assert peer.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        LENGTH.replace(b"200 OK", b"429 No"),
        LENGTH.replace(b"\r\n\r\n", b"\r\nConnection: Close\r\n\r\n"),
        LENGTH.replace(b"1.1", b"1.0"),
        LENGTH + b"more",
    ],
    ids=["an error", "said so", "old", "says more"],
)
def test_another_connection_is_made(answer: bytes) -> None:
    """After an error, for a peer that will hang up, and where more came than belongs to the answer."""

    async def scene(connections: Connections) -> None:
        assert [await ask(connections) for _ in range(2)] == [b"hi"] * 2

    peer = Peer([answer] * 2)
    talk(peer, scene)
    assert peer.connections == 2


def test_an_answer_that_was_not_read_is_in_nobodys_way() -> None:
    """A stream that is left in its middle takes its connection along."""

    async def scene(connections: Connections) -> None:
        assert [await ask(connections, pieces=1), await ask(connections)] == [b"h", b"hi"]

    peer = Peer([CHUNKS] * 2)
    talk(peer, scene)
    assert peer.connections == 2


def test_a_connection_that_the_peer_closed_meanwhile_is_not_used() -> None:
    """A peer may close a connection on which nothing is asked; nobody learns of it."""
    peer = Peer([LENGTH] * 2, hangs_up_after=1)

    async def scene(connections: Connections) -> None:
        first = await ask(connections)
        async with asyncio.timeout(5):
            while connections.waiting:  # noqa: ASYNC110 (the end of a stream has no event)
                await asyncio.sleep(0)
        assert [first, await ask(connections)] == [b"hi"] * 2

    talk(peer, scene)
    assert peer.connections == 2


def test_a_request_that_breaks_is_not_sent_again() -> None:
    """Hanging up in place of an answer is a fault to be seen, also on a connection that has served before."""

    async def scene(connections: Connections) -> None:
        await ask(connections)
        with pytest.raises(ModelError, match="the connection failed"):
            await ask(connections)

    peer = Peer([LENGTH, None])
    talk(peer, scene)
    assert (peer.connections, peer.requests) == (1, 2)
