"""The provider we play: one listener on the loopback in a thread of its own, and a URL prefix for every case."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pytest_agentcontract.errors import ProviderError
from pytest_agentcontract.provider.http import Connection, Incoming, head

if TYPE_CHECKING:
    from pytest_agentcontract.provider.seat import Seat
    from pytest_agentcontract.scenario.script import Script

HOST = "127.0.0.1"
_BACKLOG = 512
_NOT_FOUND = head(404, {"content-length": "0"})


class Provider:
    """A context manager; inside it, `open` gives every case a seat. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self.port = 0
        self._seats: dict[str, Seat] = {}
        self._connections: set[Connection] = set()
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted provider", daemon=True)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except OSError as error:
            self._end_loop()
            message = f"the scripted provider can't listen on {HOST}: {error}"
            raise ProviderError(
                message, remedy="The suite needs a loopback interface that accepts connections."
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for seat in tuple(self._seats.values()):
            seat.close()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._end_loop()

    def open(self, script: Script, *wires: str) -> Seat:
        """Seat a script behind a base URL of its own, speaking these wire formats."""
        # The words of cases and wire formats are many classes to make: a provider starts without them.
        from pytest_agentcontract.provider.seat import Seat  # noqa: PLC0415
        from pytest_agentcontract.wire.formats import FORMATS  # noqa: PLC0415

        for unknown in (wire for wire in wires if wire not in FORMATS):
            message = f"{unknown!r} is no wire format"
            raise ProviderError(message, remedy=f"The provider speaks {', '.join(FORMATS)}.")
        key = f"{next(self._numbers)}-{os.urandom(4).hex()}"
        url = f"http://{HOST}:{self.port}/case/{key}"
        seat = Seat(script, [FORMATS[wire] for wire in wires], url, self._loop, lambda: self._seats.pop(key, None))
        self._seats[key] = seat
        return seat

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        # create_server and not a socket of our own: asyncio then knows it for TCP and the 40 ms of Nagle are no issue.
        return await loop.create_server(lambda: Connection(self._handle, self._connections), HOST, 0, backlog=_BACKLOG)

    async def _handle(self, connection: Connection, incoming: Incoming) -> None:
        _, _, key, *rest = [*incoming.path.split("/", 3), "", ""][:4]
        seat = self._seats.get(key) if incoming.path.startswith("/case/") else None
        if seat is not None:
            await seat.serve(connection, incoming, "/" + "".join(rest))
        else:
            connection.write(_NOT_FOUND)

    async def _stop(self) -> None:
        self._server.close()
        tasks = [connection.task for connection in self._connections if connection.task is not None]
        for connection in tuple(self._connections):
            connection.abort()
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.sleep(0)

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
