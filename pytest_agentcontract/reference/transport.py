"""HTTP/1.1 POSTs over asyncio streams, their bodies read as they come; a connection serves one request after another.

A request that was sent is never sent again by itself: a peer that hangs up may have taken it. One that hung up while
nobody asked is left, and another connection made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pytest_agentcontract.errors import UsageError

_PIECE = 1 << 16
_LONGEST_LINE = 1 << 16
_OK = 200
_LAST_CHUNK = b"0\r\n\r\n"
_BROKEN = (OSError, EOFError, ValueError)
"""What reading raises where a peer hangs up, or sends what is no HTTP."""


class ModelError(Exception):
    """The model could not be asked, or its answer did not arrive whole."""

    def __init__(self, detail: str, *, passing: bool = True) -> None:
        super().__init__(detail)
        self.detail, self.passing = detail, passing


@dataclass(frozen=True, slots=True)
class Url:
    """A base URL, taken apart once."""

    host: str
    port: int
    tls: bool
    path: str

    @classmethod
    def parse(cls, base_url: str) -> Url:
        """Read a base URL; a trailing slash changes nothing."""
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{base_url!r} is no base URL", remedy="Write it like http://127.0.0.1:8000.")
        tls = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if tls else 80), tls, parts.path.rstrip("/"))


class _Connection:
    """One connection, and what has arrived on it without having been asked for yet."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.pending = bytearray()

    @property
    def usable(self) -> bool:
        """Whether another request can go out: the peer has neither hung up nor said more than was asked."""
        return not (self.pending or self._reader.at_eof() or self._writer.is_closing())

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self._writer.write(data)

    async def until(self, mark: bytes) -> bytes:
        """Return what stands before a mark, and pass over the mark."""
        while (end := self.pending.find(mark)) < 0:
            if len(self.pending) > _LONGEST_LINE:
                raise ValueError("a line of the response is too long")
            await self._more()
        return self._taken(end + len(mark))[:end]

    async def exactly(self, size: int) -> bytes:
        """Return so many bytes."""
        while len(self.pending) < size:
            await self._more()
        return self._taken(size)

    async def some(self, most: int) -> bytes:
        """Return what has arrived, at most so much, or nothing where the peer has hung up."""
        if not self.pending and most:
            self.pending += await self._reader.read(_PIECE)
        return self._taken(most)

    def drop(self) -> None:
        """End the connection at once."""
        self._writer.transport.abort()

    def _taken(self, size: int) -> bytes:
        taken = bytes(self.pending[:size])
        del self.pending[:size]
        return taken

    async def _more(self) -> None:
        piece = await self._reader.read(_PIECE)
        if not piece:
            raise EOFError("the response broke off")
        self.pending += piece


@dataclass(slots=True)
class Response:
    """A response whose head has arrived."""

    status: int
    headers: Mapping[str, str]
    _connection: _Connection
    _lasting: bool
    _chunked: bool
    _left: int | None

    def done(self) -> bool:
        """Pass over the mark of the body's end, if it has arrived; tell whether another request may follow."""
        if self._chunked and self._connection.pending == _LAST_CHUNK:
            self._connection.pending.clear()
            self._left = 0
        return self._left == 0 and self._lasting

    async def read(self) -> bytes:
        """Return the next piece of the body, or nothing at its end; a body that breaks off is a ModelError."""
        try:
            return await (self._chunk() if self._chunked else self._piece())
        except _BROKEN as error:
            raise _lost(error) from error

    async def read_all(self) -> bytes:
        """Return what is left of the body."""
        pieces = []
        while piece := await self.read():
            pieces.append(piece)
        return b"".join(pieces)

    async def _piece(self) -> bytes:
        piece = await self._connection.some(_PIECE if self._left is None else min(_PIECE, self._left))
        if self._left is not None:
            if self._left and not piece:
                raise EOFError("the response broke off")
            self._left -= len(piece)
        return piece

    async def _chunk(self) -> bytes:
        if self._left == 0:
            return b""
        size = int((await self._connection.until(b"\n")).split(b";")[0], 16)
        chunk = await self._connection.exactly(size + 2)
        self._left = None if size else 0
        return chunk[:-2]


@dataclass(slots=True)
class Connections:
    """The connections to one provider that wait for another request; a run has its own, and closes them at its end."""

    url: Url
    _idle: list[_Connection] = field(default_factory=list)

    @asynccontextmanager
    async def post(self, path: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Response]:
        """Send one request and yield its response; one that fails is a ModelError."""
        try:
            connection = await self._take()
        except OSError as error:
            raise _lost(error) from error
        response = None
        try:
            connection.send(_head(self.url, path, headers, len(body)) + body)
            try:
                response = await _response(connection)
            except _BROKEN as error:
                raise _lost(error) from error
            yield response
        finally:
            if response is not None and response.done():
                self._idle.append(connection)
            else:
                connection.drop()

    def close(self) -> None:
        """End all connections that wait."""
        while self._idle:
            self._idle.pop().drop()

    @property
    def waiting(self) -> int:
        """How many connections could serve another request at once."""
        return sum(connection.usable for connection in self._idle)

    async def _take(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            connection.drop()
        return _Connection(*await asyncio.open_connection(self.url.host, self.url.port, ssl=self.url.tls or None))


def _lost(error: Exception) -> ModelError:
    return ModelError(f"the connection failed: {str(error) or type(error).__name__}")


def _head(url: Url, path: str, headers: Mapping[str, str], length: int) -> bytes:
    lines = [
        f"POST {url.path}{path} HTTP/1.1",
        f"host: {url.host}:{url.port}",
        "content-type: application/json",
        f"content-length: {length}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _response(connection: _Connection) -> Response:
    head = (await connection.until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get("content-length")
    chunked = headers.get("transfer-encoding", "").lower() == "chunked"
    version, status, *_ = head[0].split(" ", 2)
    # Peers that answer with an error like to hang up after it, and not all of them say so.
    lasting = version == "HTTP/1.1" and int(status) == _OK and headers.get("connection", "").lower() != "close"
    left = None if length is None or chunked else int(length)
    return Response(int(status), headers, connection, lasting, chunked, left)
