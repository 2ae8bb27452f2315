"""The provider we play: one listener on the loopback in a thread of its own, and a URL prefix for every case."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import threading
from collections import defaultdict
from collections.abc import Coroutine
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from pytest_agentcontract.errors import ProviderError
from pytest_agentcontract.provider.http import Connection, Incoming, break_off, head

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_agentcontract.jsonvalue import JSONObject
    from pytest_agentcontract.provider.seat import Seat
    from pytest_agentcontract.scenario.observation import Exchange
    from pytest_agentcontract.scenario.script import Script

HOST = "127.0.0.1"
_BACKLOG = 512
_NOT_FOUND = head(404, {"content-length": "0", "x-should-retry": "false"})
_MOST_MISSED = 1_000


class Guest(Protocol):
    """Who sits at a path and answers what is asked below it, in the server's thread, in one step or by a coroutine.

    What he is handed as a path begins with a slash and has no query. He marks the connections that he answers as his
    own (`connection.owner`). He may be closed twice.
    """

    def serve(self, connection: Connection, incoming: Incoming, path: str) -> Coroutine[None, None, None] | None:
        """Answer one request."""

    def close(self) -> object:
        """End; called from any thread but the server's own."""


class Provider:
    """A context manager; inside it, `open` gives every case a seat. Its methods may be called from any thread.

    `port` 0 is any free one. `missed` lists what was asked where nobody sits, method and path, in order of arrival;
    `late`, in words, what came when its test was over, or is no test's; `broken`, by place, what is no whole request.
    """

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self.missed: list[str] = []
        self.late: list[str] = []
        self.broken: defaultdict[str, list[str]] = defaultdict(list)
        self._tests: dict[str, str] = {}
        self._over: dict[str, str] = {}
        self._seats: dict[str, Guest] = {}
        self._connections: set[Connection] = set()
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted provider", daemon=True)
        # Signals are for the main thread and its handlers: while Python ends, one that this thread takes would kill.
        allowed = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, allowed)
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except OSError as error:
            self._end_loop()
            message = f"the scripted provider can't listen on {HOST}{f':{self.port}' if self.port else ''}: {error}"
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

    def place(self, test: str = "") -> str:
        """Return a path that no seat has had, for `open`; until then, what is asked below it is missed.

        It may belong to a `test`: what comes after `leave`, or after its seat was closed, is late.
        """
        path = f"/case/{next(self._numbers)}-{os.urandom(4).hex()}"
        if test:
            self._tests[path] = test
        return path

    def leave(self, path: str) -> None:
        """Take note that nobody sits at a path any more."""
        self._seats.pop(path, None)
        if path in self._tests:
            self._over[path] = self._tests.pop(path)

    def admit(self, guest: Guest, at: str) -> None:
        """Let a guest answer what is asked below a path."""
        self._seats[at] = guest

    def dismiss(self, guest: Guest, at: str) -> None:
        """Break off what a guest is still answering, and take note that nobody sits there any more."""
        asyncio.run_coroutine_threadsafe(break_off(guest, self._connections), self._loop).result()
        self.leave(at)

    def open(
        self, script: Script, *wires: str, at: str | None = None, heard: Callable[[Exchange | str], object] = id
    ) -> Seat:
        """Seat a script behind a base URL of its own, speaking these wire formats.

        `at` is the path to sit at in place of a new one; "" takes whatever belongs to no other seat. `heard` is called
        in the server's thread with every exchange once it is decided what the client gets of it, before the last bytes
        are sent, and with the method and path of what is served by nobody.
        """
        # The words of cases and wire formats are many classes to make: a provider starts without them.
        from pytest_agentcontract.provider.seat import Seat  # noqa: PLC0415
        from pytest_agentcontract.wire.formats import FORMATS  # noqa: PLC0415

        for unknown in (wire for wire in wires if wire not in FORMATS):
            message = f"{unknown!r} is no wire format"
            raise ProviderError(message, remedy=f"The provider speaks {', '.join(FORMATS)}.")
        path = self.place() if at is None else at
        spoken = [FORMATS[wire] for wire in wires]
        forget = partial(self.leave, path)
        seat = Seat(script, spoken, self.url(path), self._loop, self._connections, forget)
        seat.heard = heard
        self._seats[path] = seat
        return seat

    def url(self, path: str) -> str:
        """Return the URL of a path of ours."""
        return f"http://{HOST}:{self.port}{path}"

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        # create_server and not a socket of our own: asyncio then knows it for TCP and the 40 ms of Nagle are no issue.
        return await loop.create_server(
            lambda: Connection(self._handle, self._connections, self._take_broken), HOST, self.port, backlog=_BACKLOG
        )

    def _handle(self, connection: Connection, incoming: Incoming) -> Coroutine[None, None, None] | None:
        place = _place(incoming.path)
        seat, path = self._seats.get(place), incoming.path[len(place) :] or "/"
        if seat is None and place not in self._over:
            seat, path = self._seats.get(""), incoming.path
        if seat is not None:
            return seat.serve(connection, incoming, path)
        if place in self._over:
            connection.write(self._too_late(self._over[place], f"{incoming.method} {path}"))
            return None
        if len(self.missed) < _MOST_MISSED:
            self.missed.append(f"{incoming.method} {incoming.path}")
        connection.write(_NOT_FOUND)
        return None

    def _take_broken(self, path: str, wrong: str) -> None:
        """Take note of what is no whole request: the path tells whose it is, else it is his who is alone."""
        place, asked = _place(path), f"what came over a connection{path and f' for {path}'} {wrong}"
        alone = next(iter(self._tests)) if len(self._tests) == 1 else ""
        if place in self._over:
            asked = f"{asked}, after its test was over: {self._over[place]}"
        owner = place if place in self._tests else "" if place in self._over else alone
        found = self.broken[owner] if owner else self.late
        if len(found) < _MOST_MISSED:
            found.append(asked)

    def _too_late(self, test: str, asked: str) -> bytes:
        from pytest_agentcontract.provider.plan import FINAL, document  # noqa: PLC0415 - as in `open`

        message = f"{asked} was asked after its test was over: {test}"
        if len(self.late) < _MOST_MISSED:
            self.late.append(message)
        error: JSONObject = {"type": "invalid_request_error", "message": message}
        return document(400, {"type": "error", "error": error}, FINAL)

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


def _place(path: str) -> str:
    """Return the part of a path that names whose it is."""
    return "/".join(path.split("/", 3)[:3])
