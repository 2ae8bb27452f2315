"""One HTTP/1.1 POST over asyncio streams, its body read as it comes. Each request has a connection: none is stale."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_agentcontract.errors import UsageError

_PIECE = 1 << 16
_BROKEN = (OSError, EOFError, ValueError, asyncio.LimitOverrunError)
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


@dataclass(slots=True)
class Response:
    """A response whose head has arrived."""

    status: int
    headers: Mapping[str, str]
    _reader: asyncio.StreamReader
    _left: int | None

    async def read(self) -> bytes:
        """Return the next piece of the body, or nothing at its end; a body that breaks off is a ModelError."""
        chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        try:
            return await (self._chunk() if chunked else self._piece())
        except _BROKEN as error:
            raise _lost(error) from error

    async def read_all(self) -> bytes:
        """Return what is left of the body."""
        pieces = []
        while piece := await self.read():
            pieces.append(piece)
        return b"".join(pieces)

    async def _piece(self) -> bytes:
        piece = await self._reader.read(_PIECE if self._left is None else min(_PIECE, self._left))
        if self._left is not None:
            if self._left and not piece:
                raise EOFError("the response broke off")
            self._left -= len(piece)
        return piece

    async def _chunk(self) -> bytes:
        size = int((await self._reader.readline()).split(b";")[0], 16)
        chunk = await self._reader.readexactly(size + 2)
        return chunk[:-2]


@asynccontextmanager
async def post(url: Url, path: str, headers: Mapping[str, str], body: bytes) -> AsyncIterator[Response]:
    """Send one request and yield its response, then drop the connection; one that fails is a ModelError."""
    try:
        reader, writer = await asyncio.open_connection(url.host, url.port, ssl=url.tls or None)
    except OSError as error:
        raise _lost(error) from error
    try:
        writer.write(_head(url, path, headers, len(body)) + body)
        try:
            response = await _response(reader)
        except _BROKEN as error:
            raise _lost(error) from error
        yield response
    finally:
        writer.transport.abort()


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


async def _response(reader: asyncio.StreamReader) -> Response:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = headers.get("content-length")
    return Response(int(head[0].split(" ", 2)[1]), headers, reader, None if length is None else int(length))
