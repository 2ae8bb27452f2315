"""Connections to the upstreams: opened directly or through a proxy, and kept while they are of use."""

from __future__ import annotations

import asyncio
import os
import ssl
from importlib.util import find_spec
from typing import Final

from pytest_agentcontract.errors import ProviderError
from pytest_agentcontract.provider.upstream.line import Line
from pytest_agentcontract.provider.upstream.proxies import Proxy
from pytest_agentcontract.provider.upstream.tunnel import Tunnel
from pytest_agentcontract.provider.upstream.ways import Way

_TIME_TO_CONNECT: Final = 30.0
_NEXT_ADDRESS_AFTER: Final = 0.25
_LONGEST_IDLE: Final = 4.0
"""Servers close what is idle for 5 seconds or more: a connection is given up before the other side may do so."""


def trust() -> ssl.SSLContext:
    """Trust what `SSL_CERT_FILE` or `SSL_CERT_DIR` name; else the machine's roots, or certifi's if it lists none."""
    context = ssl.create_default_context()
    chosen = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    if not chosen and not context.cert_store_stats()["x509_ca"] and find_spec("certifi"):
        import certifi  # noqa: PLC0415 - it need not be there

        context.load_verify_locations(certifi.where())
    context.set_alpn_protocols(["http/1.1"])
    return context


class Upstream:
    """Open connections by their way. All of it is called in the loop's thread.

    Where one of the ways is `secure`, the roots are read at once: it takes longer than any stream should wait.
    """

    def __init__(self, *, secure: bool) -> None:
        self._trusted = trust() if secure else None
        self._idle: dict[Way, list[Line]] = {}
        self._open: set[Line] = set()

    async def line(self, way: Way) -> Line:
        """Return a connection that nobody uses, or open one; raise ProviderError where that can't be done."""
        waiting = self._idle.get(way, [])
        while waiting:
            line = waiting.pop()
            if line.fit(_LONGEST_IDLE):
                return line
            line.drop()
        line = await self._opened(way)
        self._open = {known for known in self._open if not known.lost.is_set()} | {line}
        return line

    def back(self, way: Way, line: Line) -> None:
        """Take a connection back, to keep it if it may be used again."""
        if line.fit(_LONGEST_IDLE):
            self._idle.setdefault(way, []).append(line)
        else:
            line.drop()

    async def close(self) -> None:
        """End all connections, and wait until they are ended."""
        for line in self._open:
            line.drop()
        await asyncio.gather(*(line.lost.wait() for line in self._open))

    async def _opened(self, way: Way) -> Line:
        try:
            async with asyncio.timeout(_TIME_TO_CONNECT):
                if way.proxy is not None and way.secure:
                    return await self._through(way, way.proxy)
                return await self._straight(way)
        except TimeoutError as error:
            raise ProviderError(f"{way} can't be reached within {_TIME_TO_CONNECT:g} seconds") from error
        except OSError as error:
            raise ProviderError(f"{way} can't be reached: {str(error) or type(error).__name__}") from error

    async def _straight(self, way: Way) -> Line:
        host, port = (way.proxy.host, way.proxy.port) if way.proxy else (way.host, way.port)
        opening = asyncio.get_running_loop().create_connection(
            Line, host, port, ssl=self._tls() if way.secure else None, happy_eyeballs_delay=_NEXT_ADDRESS_AFTER
        )
        return (await opening)[1]

    async def _through(self, way: Way, proxy: Proxy) -> Line:
        """Speak TLS with the upstream through a tunnel."""
        loop = asyncio.get_running_loop()
        transport, tunnel = await loop.create_connection(Tunnel, proxy.host, proxy.port)
        line = Line()
        try:
            await tunnel.dig(way, proxy.authorization)
            secured = await loop.start_tls(transport, line, self._tls(), server_hostname=way.host)
        except BaseException:
            transport.abort()
            raise
        if secured is None:
            raise ConnectionAbortedError("the connection ended while TLS began")
        line.connection_made(secured)
        return line

    def _tls(self) -> ssl.SSLContext:
        self._trusted = self._trusted or trust()
        return self._trusted
