"""Serves a cassette: each request is answered by what was recorded for it, piece by piece, and ended as it ended.

Nothing here opens a connection: what the cassette does not hold is refused, or handed to the guest beyond.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from pytest_agentcontract.cassette.exchange import Ending, Recorded
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.matching.miss import Miss
from pytest_agentcontract.cassette.upstreams import client_path, upstream_url
from pytest_agentcontract.errors import WireError
from pytest_agentcontract.provider.encoding import decoded
from pytest_agentcontract.provider.http import Connection, Incoming
from pytest_agentcontract.provider.refusal import refusal

if TYPE_CHECKING:
    from pytest_agentcontract.provider.server import Guest

Pace: TypeAlias = Literal["recorded", "zero"]
"""Whether an answer takes the time that it took, or none."""

PATIENCE = 10.0
"""So many seconds a client is waited for that left while it was recorded, and does not leave now."""

_MOST_MISSED: Final = 1_000
_OF_ONE_HOP: Final = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "proxy-authenticate", "proxy-connection"}
    | {"te", "trailer", "trailers", "transfer-encoding", "upgrade"}
)
_ELSEWHERE: Final = frozenset({"alt-svc"})
"""Headers that send the client to another server: nothing may go out."""

_ONWARD: Final = "location"
_WAITS: Final = frozenset({"retry-after", "retry-after-ms"})
_BODILESS: Final = frozenset({204, 304})
_BREAKS: Final = re.compile(r"[\r\n\0]+")


class Replayer:
    """A guest that answers from an index. `misses` lists what it had no answer for, in order of arrival.

    `upstreams` are the base URLs that stand behind the paths of clients. A request that is missed goes to the guest
    `beyond`, if there is one.
    """

    def __init__(
        self, index: Index, upstreams: Mapping[str, str], pace: Pace = "zero", beyond: Guest | None = None
    ) -> None:
        self.misses: list[Miss] = []
        self._index, self._upstreams, self._pace, self._beyond = index, upstreams, pace, beyond

    def serve(self, connection: Connection, incoming: Incoming, path: str) -> Coroutine[None, None, None] | None:
        """Answer one request: at once, if that takes no time."""
        connection.owner = self
        url = upstream_url(self._upstreams, path, incoming.query)
        headers, body = tuple(incoming.headers.items()), _plain(incoming)
        recorded = None if url is None else self._index.take(incoming.method, url, headers, body)
        if recorded is not None:
            return self._replay(connection, incoming, self._here_and_now(recorded, incoming.path.removesuffix(path)))
        if self._beyond is not None:
            answering = self._beyond.serve(connection, incoming, path)
            connection.owner = self  # whoever dismisses this guest ends what the other one answers for it
            return answering
        miss = self._index.miss(incoming.method, url or path, headers, body)
        if len(self.misses) < _MOST_MISSED:
            self.misses.append(miss)
        connection.write(refusal(path, 400, str(miss), head_only=incoming.method == "HEAD"))
        return None

    def close(self) -> None:
        """End the guest beyond; what is being replayed ends with its connection."""
        if self._beyond is not None:
            self._beyond.close()

    def _here_and_now(self, recorded: Recorded, place: str) -> Recorded:
        """Turn the headers that send a client elsewhere, or make it wait: to our own paths, and to no time at all.

        What sends it to an upstream would let it go out; at the recorded pace it waits as it did.
        """

        def turned(name: str, value: str) -> str:
            path = client_path(self._upstreams, value) if name.lower() == _ONWARD else ""
            waits = name.lower() in _WAITS and self._pace == "zero"
            return place + path if path else "0" if waits else value

        return replace(recorded, headers=tuple((name, turned(name, value)) for name, value in recorded.headers))

    def _replay(
        self, connection: Connection, incoming: Incoming, recorded: Recorded
    ) -> Coroutine[None, None, None] | None:
        answer = _Answer(recorded, incoming)
        if self._pace == "zero" and recorded.ending == "whole":
            connection.write(b"".join([answer.opening, *answer.pieces, answer.closing]))
            return None
        return _played(connection, answer, self._pace)


class _Answer:
    """A recorded answer as it is written to one client. A body that must not come whole is framed so that it shows."""

    def __init__(self, recorded: Recorded, incoming: Incoming) -> None:
        self.recorded = recorded
        self._whole, self._old = recorded.ending == "whole", incoming.version == "1.0"
        self._empty = incoming.method == "HEAD" or recorded.status in _BODILESS
        kinds = (value for name, value in recorded.headers if name.lower() == "content-type")
        streamed = len(recorded.pieces) > 1 or any(kind.startswith("text/event-stream") for kind in kinds)
        self._chunked = (streamed or not self._whole) and not self._old

    @property
    def opening(self) -> bytes:
        """The status line and the headers; nothing, where no answer began."""
        if not self.recorded.status:
            return b""
        kept = [line for line in self.recorded.headers if line[0].lower() not in _OF_ONE_HOP | _ELSEWHERE]
        lines = [f"{name}: {value}" for name, value in [*kept, *self._framed_by]]
        first = f"HTTP/1.1 {self.recorded.status} {self.recorded.reason}"
        clean = [_BREAKS.sub(" ", line) for line in [first, *lines]]
        return "".join(f"{line}\r\n" for line in [*clean, ""]).encode("latin-1", "replace")

    @property
    def pieces(self) -> tuple[bytes, ...]:
        """The pieces of the body, each a chunk of its own where it is sent in chunks."""
        if self._empty:
            return ()
        data = [piece.data for piece in self.recorded.pieces]
        return tuple(b"%x\r\n%b\r\n" % (len(each), each) if self._chunked and each else each for each in data)

    @property
    def closing(self) -> bytes:
        """What stands after the last piece."""
        return b"0\r\n\r\n" if self._chunked and self._whole and not self._empty else b""

    @property
    def _framed_by(self) -> tuple[tuple[str, str], ...]:
        if self._empty:
            return tuple(line for line in self.recorded.headers if line[0].lower() == "content-length")
        if self._chunked:
            return (("transfer-encoding", "chunked"),)
        length = len(self.recorded.body) + (not self._whole)  # of a body that breaks off, some is always missing
        return (("content-length", str(length)),)


async def _played(connection: Connection, answer: _Answer, pace: Pace) -> None:
    """Write an answer that takes its time, or that does not end well."""
    before, pieces = answer.opening, answer.pieces
    for gap, piece in zip((piece.gap for piece in answer.recorded.pieces), pieces, strict=False):
        if pace == "recorded":
            await asyncio.sleep(gap)
        connection.write(before + piece)
        before = b""
    connection.write(before + answer.closing)
    await _end(connection, answer.recorded.ending)


async def _end(connection: Connection, ending: Ending) -> None:
    if ending == "reset":
        await connection.reset()
        return
    if ending == "hung-up":
        await asyncio.sleep(PATIENCE)  # which ends when the client leaves: so does the connection's task
    if ending != "whole":
        connection.close()


def _plain(incoming: Incoming) -> bytes:
    try:
        return decoded(incoming.body, incoming.headers.get("content-encoding", ""))
    except WireError:
        return incoming.body
