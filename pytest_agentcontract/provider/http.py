"""One HTTP/1.1 connection: httptools reads the requests, and answers are raw bytes: every byte is ours to decide."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias, cast

import httptools

from pytest_agentcontract.provider.heads import MOST_BODY, MOST_HEADERS, Head, RefusedError

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found"}
_CLOSING = {"connection": "close", "content-length": "0", "x-should-retry": "false"}
_RST_ON_CLOSE = struct.pack("ii", 1, 0)
_TIME_TO_READ = 0.02


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Render a status line and header lines."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n{lines}\r\n".encode("latin-1", "replace")


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request as it came in. `path` has no query, `query` no question mark; header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    version: str
    keep_alive: bool


Handler: TypeAlias = Callable[["Connection", Incoming], Coroutine[None, None, None] | None]
"""Answers a request: at once, or by the coroutine that it returns."""


class Connection(asyncio.Protocol):
    """Reads requests, hands them to `handle` one after the other, and writes what it is told.

    It reads no further while a request waits for the answer to the one before, or answers wait for their reader. Who
    ends his side has hung up, unless the answer is written already: a half-closed connection looks like a closed one,
    and nobody may be taken to have got what he didn't wait for. Of a request that it can't read, or that breaks off, it
    tells `broken`: the path, as far as it was read, and what is wrong.
    """

    _headers: dict[str, str]

    def __init__(
        self, handle: Handler, alive: set[Connection], broken: Callable[[str, str], object] = lambda *_: None
    ) -> None:
        self._handle, self._alive, self._broken = handle, alive, broken
        self._waiting: deque[Incoming] = deque()
        self.task: asyncio.Task[None] | None = None
        self.owner: object = None
        self._deaf = self._full = False
        self._refusal = 0
        self._parser = httptools.HttpRequestParser(self)
        self._reset()

    # ---- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over a new connection; small writes leave at once."""
        self._transport = cast("asyncio.Transport", transport)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._alive.add(self)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; what it can't read is refused, and nothing after it is read."""
        if self._deaf:
            return
        self._size += len(data)  # before the parser sees it: a request that ends here starts the count anew
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            self._pass_over(data[offer.args[0] :])
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, RefusedError):
                raise
            self._refuse(error.__context__.status)
        except httptools.HttpParserError:
            self._refuse(400)
        else:
            self._check_size()
        if self._waiting:
            self._mind()

    def pause_writing(self) -> None:
        """Answer no more while the client doesn't read."""
        self._full = True
        self._mind()

    def resume_writing(self) -> None:
        """Go on with what waits."""
        self._full = False
        if self.task is None:
            self._answer()
        self._mind()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Give up whatever was being answered, and tell of a request that never came to its end."""
        if self._begun and not self._deaf:
            self._broken(
                self._head.target()[0], f"broke off in the middle of its {'head' if self._in_head else 'body'}"
            )
        self._alive.discard(self)
        if self.task is not None:
            self.task.cancel()

    # ---- what httptools calls

    def on_message_begin(self) -> None:
        """Note that there is something to come to an end."""
        self._begun = True

    def on_url(self, url: bytes) -> None:
        """Collect the target, which may come in pieces."""
        self._head.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header line."""
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._headers[key] = self._head.repeated(key, text) if key in self._headers else text

    def on_headers_complete(self) -> None:
        """Refuse a head that is no request's; ask for the body if the client waits to be asked."""
        status = self._head.fault(self._parser.get_method(), self._parser.get_http_version(), self._size)
        if status:
            raise RefusedError(status)
        self._in_head = False
        self._headers = {}  # what stands behind a body in chunks is nobody's header
        if self._head.headers.get("expect", "").lower() == "100-continue" and self.task is None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """Collect a piece of the body."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Hand the request over, after those that came before it on this connection."""
        parser = self._parser
        if parser.should_upgrade():
            return
        self._waiting.append(
            Incoming(
                parser.get_method().decode("latin-1"),
                *self._head.target(),
                self._head.headers,
                b"".join(self._body),
                parser.get_http_version(),
                parser.should_keep_alive() and parser.get_http_version() != "1.0",
            )
        )
        self._reset()
        if self.task is None:
            self._answer()

    # ---- what a handler calls

    @property
    def closing(self) -> bool:
        """Whether nothing that is written arrives any more."""
        return self._transport.is_closing()

    @property
    def hung_up(self) -> bool:
        """Whether the client has ended its side, also if that was not read yet."""
        if self.closing:
            return True
        with socket.socket(fileno=os.dup(self._socket.fileno())) as line:
            line.settimeout(0)
            try:
                return not line.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                return False
            except OSError:
                return True

    def write(self, data: bytes) -> None:
        """Send bytes; to a client that is gone, nothing."""
        self._transport.write(data)

    def close(self) -> None:
        """End the connection by FIN, after what was written."""
        self._deaf = True
        self._transport.close()

    async def reset(self) -> None:
        """End the connection by RST, once the client had time to read what was written."""
        self._deaf = True
        await asyncio.sleep(_TIME_TO_READ)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST_ON_CLOSE)
        self._transport.abort()

    def abort(self) -> None:
        """End the connection and whatever is being answered on it."""
        self._deaf = True
        self._transport.abort()
        if self.task is not None:
            self.task.cancel()

    # ---- inside

    @property
    def _socket(self) -> socket.socket:
        return cast("socket.socket", self._transport.get_extra_info("socket"))

    def _reset(self) -> None:
        self._head, self._in_head, self._begun = Head(), True, False
        self._headers = self._head.headers
        self._size: int = 0
        self._body: list[bytes] = []

    def _pass_over(self, rest: bytes) -> None:
        """Pass over an offer to change protocols (h2c), as we may: read the request again without the offer.

        The parser stops at it, before the body.
        """
        method, version = self._parser.get_method(), self._parser.get_http_version()
        again = self._head.without_offer(method, version, keep_alive=self._parser.should_keep_alive())
        self._parser = httptools.HttpRequestParser(self)
        self._reset()
        self.data_received(again + rest)

    def _check_size(self) -> None:
        if self._size > (MOST_HEADERS if self._in_head else MOST_BODY):
            self._refuse(431 if self._in_head else 413)

    def _mind(self) -> None:
        """Read on, or not."""
        if self._waiting or self._full:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _refuse(self, status: int) -> None:
        """Refuse what was read last, after the answers to what came before; what follows is not read."""
        if self._deaf:
            return
        self._deaf, self._refusal = True, status
        self._broken(self._head.target()[0], f"is no HTTP request that is taken here, and was refused with {status}")
        if self.task is None:
            self._answer()

    def _answer(self) -> None:
        """Answer what waits, in order; an answer that takes time becomes a task, and the rest waits for it."""
        while self._waiting and not self._full and not self.closing:
            incoming = self._waiting.popleft()
            answering = self._handle(self, incoming)
            if answering is not None:
                self._begin(answering, incoming)
                return
            self._answered(incoming)
        if self._refusal and not self._waiting and not self.closing:
            self._transport.write(head(self._refusal, _CLOSING))
            self.close()

    def _begin(self, answering: Coroutine[None, None, None], incoming: Incoming) -> None:
        self.task = asyncio.get_running_loop().create_task(self._go_on(answering, incoming))
        # A client that leaves at once cancels the task before its first step: the answer is not begun then.
        self.task.add_done_callback(lambda _: answering.close())

    async def _go_on(self, answering: Coroutine[None, None, None], incoming: Incoming) -> None:
        await answering
        self.task = None
        self._answered(incoming)
        self._answer()
        self._mind()

    def _answered(self, incoming: Incoming) -> None:
        if not incoming.keep_alive:
            self.close()


async def break_off(guest: object, connections: AbstractSet[Connection]) -> None:
    """End the connections that a guest answers, and wait until nothing is being answered on them."""
    mine = [connection for connection in connections if connection.owner is guest]
    tasks = [connection.task for connection in mine if connection.task is not None]
    for connection in mine:
        connection.abort()
    if tasks:
        await asyncio.wait(tasks)
