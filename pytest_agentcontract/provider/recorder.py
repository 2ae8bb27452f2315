"""A guest at the provider who asks the real one: the client hears it as it speaks, and every exchange is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

from pytest_agentcontract.cassette.exchange import Ending, Recorded
from pytest_agentcontract.cassette.upstreams import upstream_url
from pytest_agentcontract.errors import ProviderError
from pytest_agentcontract.provider.http import Connection, Incoming
from pytest_agentcontract.provider.refusal import refusal
from pytest_agentcontract.provider.relay import Relay, meant
from pytest_agentcontract.provider.upstream.line import Result
from pytest_agentcontract.provider.upstream.pool import Upstream
from pytest_agentcontract.provider.upstream.ways import Way, request, way_to

_MOST_TOLD: Final = 1_000
_BAD_GATEWAY: Final = 502
_NOT_FOUND: Final = 404


class Recorder:
    """Forwards what is asked below a base URL to `upstreams`, base URLs by the name of their provider.

    `take` gets every exchange in a thread of its own, in the order of their ends, before the client hears of the end;
    what it raises is raised again by `close`. `told` says what could not be asked, for which the client got a native
    error that forbids to ask again and nothing was recorded, and what else there is to know. Raise UsageError for a
    proxy of the environment that can't be used.
    """

    def __init__(
        self, upstreams: Mapping[str, str], take: Callable[[Recorded], object], environ: Mapping[str, str]
    ) -> None:
        self.told: list[str] = []
        self._upstreams, self._take = upstreams, take
        ways = [way_to(url, environ) for url in upstreams.values()]
        self._ways: Mapping[tuple[str, str], Way] = {(way.scheme, way.netloc): way for way in ways}
        self._upstream = Upstream(secure=any(way.secure for way in ways))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: Exception | None = None
        # Scrubbing a long exchange takes longer than any other stream should wait.
        self._taking = ThreadPoolExecutor(1, "recorder")

    def serve(self, connection: Connection, incoming: Incoming, path: str) -> Coroutine[None, None, None] | None:
        """Answer one request below the base URL."""
        connection.owner = self
        self._loop = asyncio.get_running_loop()
        url = upstream_url(self._upstreams, path, incoming.query)
        if url is None:
            known = ", ".join(f"/{name}" for name in self._upstreams)
            message = f"nobody is asked at {incoming.method} {path}: providers stand at {known}"
            self._refuse(connection, incoming, path, _NOT_FOUND, message)
            return None
        return self._pass_on(connection, incoming, path, url)

    def close(self) -> None:
        """End the connections to the upstreams, and wait until everything is taken; raise what `take` raised.

        What is still being answered is not recorded any more: dismiss the recorder first.
        """
        self._taking.shutdown()
        loop, self._loop = self._loop, None
        if loop is not None and loop.is_running():
            asyncio.run_coroutine_threadsafe(self._upstream.close(), loop).result()
        if self._failure is not None:
            raise self._failure

    async def _pass_on(self, connection: Connection, incoming: Incoming, path: str, url: str) -> None:
        """Ask the upstream, and give the answer the end that it has there."""
        relay = Relay(connection, incoming)
        try:
            result = await self._heard(incoming, url, relay)
        except ProviderError as error:
            self._refuse(connection, incoming, path, _BAD_GATEWAY, str(error))
        except asyncio.CancelledError:
            self._keep(relay, url, "whole" if relay.whole else "hung-up")
            raise
        except Exception as failure:  # noqa: BLE001 - a fault of ours, raised again by close()
            self._fail(failure)
            connection.abort()
        else:
            await self._end(connection, incoming, path, relay, url, result)

    async def _heard(self, incoming: Incoming, url: str, relay: Relay) -> Result:
        parts = urlsplit(url)
        way = self._ways[parts.scheme, parts.netloc]
        line = await self._upstream.line(way)
        asked = request(way, incoming.method, url, meant(incoming.headers), incoming.body)
        try:
            return await line.ask(asked, relay, head_only=incoming.method == "HEAD")
        finally:
            self._upstream.back(way, line)

    async def _end(
        self, connection: Connection, incoming: Incoming, path: str, relay: Relay, url: str, result: Result
    ) -> None:
        if result == "garbled":
            message = f"{incoming.method} {path}: the provider's answer can't be read as HTTP"
            if not relay.has_begun:
                self._refuse(connection, incoming, path, _BAD_GATEWAY, message)
                return
            self._tell(f"{message} to its end, and is recorded as far as it can")
            result = "closed"
        await asyncio.shield(asyncio.wrap_future(self._keep(relay, url, result)))
        if result == "whole":
            relay.finish()
        elif result == "reset":
            await connection.reset()
        else:
            connection.close()

    def _keep(self, relay: Relay, url: str, ending: Ending) -> Future[None]:
        """Have an exchange taken, after those that ended before it."""
        try:
            return self._taking.submit(self._record, relay, url, ending)
        except RuntimeError:  # it is shut down
            self._tell(f"{url} was still being answered when the recording ended, and is not recorded")
            return _done()

    def _record(self, relay: Relay, url: str, ending: Ending) -> None:
        try:
            self._take(relay.recorded(url, ending))
        except Exception as failure:  # noqa: BLE001 - the client gets its answer nevertheless; raised again by close()
            self._fail(failure)

    def _refuse(self, connection: Connection, incoming: Incoming, path: str, status: int, message: str) -> None:
        self._tell(message)
        connection.write(refusal(path, status, message, head_only=incoming.method == "HEAD"))

    def _tell(self, message: str) -> None:
        if len(self.told) < _MOST_TOLD:
            self.told.append(message)

    def _fail(self, failure: Exception) -> None:
        self._failure = self._failure or failure


def _done() -> Future[None]:
    nothing: Future[None] = Future()
    nothing.set_result(None)
    return nothing
