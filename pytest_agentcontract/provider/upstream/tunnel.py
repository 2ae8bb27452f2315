"""A connection to a proxy that is asked to lead on to an upstream."""

from __future__ import annotations

import asyncio
from typing import Final, cast

from pytest_agentcontract.provider.upstream.ways import Way

_END: Final = b"\r\n\r\n"
_MOST_HEAD: Final = 64 * 1024


class Tunnel(asyncio.Protocol):
    """What is said until the way is free."""

    def __init__(self) -> None:
        self._head = b""
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over a new connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Collect the proxy's answer."""
        self._head += data
        if not self._answer.done() and (_END in self._head or len(self._head) > _MOST_HEAD):
            self._answer.set_result(self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give up waiting."""
        if not self._answer.done():
            self._answer.set_exception(exc or ConnectionAbortedError("it closed the connection"))

    async def dig(self, way: Way, authorization: str) -> None:
        """Ask to be led on; raise OSError if the proxy won't."""
        to = f"{f'[{way.host}]' if ':' in way.host else way.host}:{way.port}"
        credentials = f"proxy-authorization: {authorization}\r\n" if authorization else ""
        self._transport.write(f"CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n{credentials}\r\n".encode("latin-1"))
        said = (await self._answer).partition(b"\r\n")[0]
        if said.split(b" ", 2)[1:2] != [b"200"]:
            raise ConnectionRefusedError(f"the proxy answered {said[:100].decode('latin-1')!r}")
