"""One connection to an upstream: it asks, and what it hears is told to a listener while it is being read."""

from __future__ import annotations

import asyncio
from typing import Final, Literal, Protocol, TypeAlias, cast

import httptools

Lines: TypeAlias = list[tuple[bytes, bytes]]
"""Header lines in order, as they were sent."""

Framing: TypeAlias = Literal["none", "length", "chunked", "close"]
"""How the end of a body is known; `none` where there is no body."""

Result: TypeAlias = Literal["whole", "reset", "closed", "garbled"]
"""How an answer ended; `garbled` is what can't be read as HTTP."""

_OK: Final = 200
_BODILESS: Final = frozenset({204, 304})


class Listener(Protocol):
    """Who is told of an answer. What is told between two calls of `flush` came in one read."""

    def interim(self, status: int, reason: bytes, headers: Lines) -> None:
        """Hear an answer before the answer (1xx)."""

    def begun(self, status: int, reason: bytes, headers: Lines, framing: Framing) -> None:
        """Hear the head of the answer."""

    def came(self, data: bytes) -> None:
        """Hear some bytes of its body."""

    def ended(self, trailers: Lines) -> None:
        """Hear that it came whole."""

    def flush(self) -> None:
        """Hear that this was all for now."""


class Line(asyncio.Protocol):
    """Asks one thing at a time. `lost` is set when the connection is ended."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._listener: Listener | None = None
        self._result: asyncio.Future[Result] = self._loop.create_future()
        self._result.set_result("whole")
        self._reusable, self._since = True, self._loop.time()

    def ask(self, request: bytes, listener: Listener, *, head_only: bool = False) -> asyncio.Future[Result]:
        """Send a request; what is returned is done when the answer has ended."""
        self._listener, self._head_only, self._reusable = listener, head_only, False
        self._parser = httptools.HttpResponseParser(self)
        self._result = self._loop.create_future()
        self._framing: Framing | None = None
        self._reason, self._headers = b"", Lines()
        self._transport.write(request)
        return self._result

    def fit(self, longest_idle: float) -> bool:
        """Tell whether something else can be asked here, after so many idle seconds at most."""
        return self._reusable and not self._transport.is_closing() and self._loop.time() - self._since < longest_idle

    def drop(self) -> None:
        """End the connection at once, and hear nothing more."""
        self._listener = None
        self._transport.abort()

    # ---- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over a new connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Read on; who speaks without being asked is not asked again."""
        if self._listener is None:
            self.drop()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            self._result.set_exception(error.__context__ or error)
            self.drop()
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._end("garbled")
        if self._listener is not None:
            self._listener.flush()
        if self._result.done():
            self._listener = None

    def connection_lost(self, exc: Exception | None) -> None:
        """End the answer: a body without a length is whole now, any other is cut."""
        if self._listener is not None and exc is None and self._framing == "close":
            self._whole()
            self._listener.flush()
        else:
            self._end("closed" if exc is None else "reset")
        self._listener, self._reusable = None, False
        self.lost.set()

    # ---- what httptools calls

    def on_message_begin(self) -> None:
        """Note what is said beyond the answer: then nothing more is asked here."""
        self._reusable = self._reusable and not self._result.done()
        self._reason, self._headers = b"", Lines()

    def on_status(self, reason: bytes) -> None:
        """Collect the reason, which may come in pieces."""
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one line of the head, or one of the trailers."""
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Tell the head of the answer, or of what comes before it."""
        listener, status = self._listener, self._parser.get_status_code()
        if listener is None or self._result.done():
            return
        if status < _OK:
            listener.interim(status, self._reason, self._headers)
            return
        self._framing = "none" if self._head_only or status in _BODILESS else _framing(self._headers)
        listener.begun(status, self._reason, self._headers, self._framing)
        self._headers = Lines()
        if self._framing == "none":
            self._whole()

    def on_body(self, data: bytes) -> None:
        """Pass bytes on; behind an answer that has no body they are nobody's."""
        if self._result.done():
            self._reusable = False
        elif self._listener is not None:
            self._listener.came(data)

    def on_message_complete(self) -> None:
        """Note that the answer is whole."""
        if self._parser.get_status_code() >= _OK and not self._result.done():
            self._whole()

    # ---- inside

    def _whole(self) -> None:
        self._reusable, self._since = self._parser.should_keep_alive(), self._loop.time()
        if self._listener is not None:
            self._listener.ended(self._headers)
        self._end("whole")

    def _end(self, result: Result) -> None:
        if not self._result.done():
            self._result.set_result(result)


def _framing(headers: Lines) -> Framing:
    said = {name.lower(): value.lower() for name, value in headers}
    if said.get(b"transfer-encoding", b"").endswith(b"chunked"):
        return "chunked"
    return "length" if b"content-length" in said else "close"
