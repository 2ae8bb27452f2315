"""One answer on its way to a client: every read is passed on at once, and noted for the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic as _clock
from typing import Final

from pytest_agentcontract.cassette.exchange import Ending, Headers, Piece, Recorded
from pytest_agentcontract.errors import WireError
from pytest_agentcontract.provider.encoding import decoded, unwound
from pytest_agentcontract.provider.http import Connection, Incoming
from pytest_agentcontract.provider.upstream.line import Framing, Lines

_FOR_ONE_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
     "transfer-encoding", "upgrade"}
)  # fmt: skip
_OURS: Final = frozenset({"host", "expect", "content-length"})
_ENCODED: Final = frozenset({"content-encoding", "content-length"})
_UNASKED: Final = frozenset({100, 101})
"""The client was told to go on already, and changes no protocol through us."""


def meant(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those headers of a request that are meant for its other end, and not written anew for it."""
    named = _named(headers.get("connection", ""))
    return {name: value for name, value in headers.items() if name not in _FOR_ONE_HOP | _OURS | named}


class Relay:
    """Listens to an upstream, and speaks to the client in the upstream's own framing.

    The end of an answer is held back until `finish`: who has heard it may look for the record. Trailers are passed on,
    and not recorded.
    """

    def __init__(self, connection: Connection, incoming: Incoming) -> None:
        self._connection, self._incoming = connection, incoming
        self._out: list[bytes] = []
        self._pieces: list[tuple[float, bytes]] = []
        self._asked_at = _clock()
        self.whole = False
        self._status, self._reason, self._headers, self._trailers = 0, b"", Lines(), Lines()
        self._framing: Framing = "none"

    @property
    def has_begun(self) -> bool:
        """Whether the head of the answer has come."""
        return bool(self._status)

    # ---- what a listener does

    def interim(self, status: int, reason: bytes, headers: Lines) -> None:
        """Pass on what comes before the answer, to who may know it."""
        if status not in _UNASKED and self._incoming.version != "1.0":
            self._out.append(_head(status, reason, headers))

    def begun(self, status: int, reason: bytes, headers: Lines, framing: Framing) -> None:
        """Pass on the head, without what was said to us alone."""
        self._status, self._reason = status, reason
        self._framing = "close" if framing == "chunked" and self._incoming.version == "1.0" else framing
        named = _named(", ".join(value.decode("latin-1") for name, value in headers if name.lower() == b"connection"))
        alone = _FOR_ONE_HOP | named
        self._headers = [(name, value) for name, value in headers if name.decode("latin-1").lower() not in alone]
        self._out.append(_head(status, reason, [*self._headers, *_FRAMED_BY.get(self._framing, ())]))

    def came(self, data: bytes) -> None:
        """Pass on and note some bytes of the body."""
        self._pieces.append((_clock(), data))
        self._out.append(b"%x\r\n%b\r\n" % (len(data), data) if self._framing == "chunked" else data)

    def ended(self, trailers: Lines) -> None:
        """Note that there is no more to come."""
        self.whole, self._trailers = True, trailers

    def flush(self) -> None:
        """Send what came in one read by one write, unless the client would know it for the last."""
        if not self.whole or self._framing in ("chunked", "close"):
            self._send()

    # ---- at the end

    def finish(self) -> None:
        """Let the client hear the end."""
        if self._framing == "chunked":
            self._out.append(b"0\r\n%b\r\n" % _lines(self._trailers))
        self._send()
        if self._framing == "close":
            self._connection.close()

    def _send(self) -> None:
        if self._out:
            self._connection.write(b"".join(self._out))
            self._out.clear()

    def recorded(self, url: str, ending: Ending) -> Recorded:
        """Return the exchange, its content encodings undone; a body that is not what it is called stays as it came."""
        asked, body = _plain_request(self._incoming)
        headers, data = self._plain_answer(ending)
        return Recorded(
            self._incoming.method,
            url,
            asked,
            body,
            self._status,
            self._reason.decode("latin-1"),
            headers,
            tuple(self._timed(data)),
            ending,
        )

    def _plain_answer(self, ending: Ending) -> tuple[Headers, Sequence[bytes]]:
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in self._headers)
        data = tuple(piece for _, piece in self._pieces)
        encoding = ", ".join(value for name, value in headers if name.lower() == "content-encoding")
        if not encoding or not data:
            return headers, data
        try:
            data = unwound(data, encoding, cut=ending != "whole")
        except WireError:
            return headers, data
        return tuple(line for line in headers if line[0].lower() not in _ENCODED), data

    def _timed(self, data: Sequence[bytes]) -> Iterator[Piece]:
        """Put the gaps before the pieces; what a decoder held back comes with a later one."""
        before = self._asked_at
        for (at, _), plain in zip(self._pieces, data, strict=True):
            if plain:
                yield Piece(at - before, plain)
                before = at


_FRAMED_BY: Final[Mapping[Framing, Lines]] = {
    "chunked": [(b"transfer-encoding", b"chunked")],
    "close": [(b"connection", b"close")],
}


def _plain_request(incoming: Incoming) -> tuple[Headers, bytes]:
    headers = meant(incoming.headers)
    try:
        body = decoded(incoming.body, headers.get("content-encoding", "")) if incoming.body else b""
    except WireError:
        return tuple(headers.items()), incoming.body
    headers.pop("content-encoding", None)
    return tuple(headers.items()), body


def _named(connection: str) -> frozenset[str]:
    """Return the headers that a `connection` header takes for this hop alone."""
    return frozenset(name.strip().lower() for name in connection.split(","))


def _head(status: int, reason: bytes, headers: Lines) -> bytes:
    return b"HTTP/1.1 %d %b\r\n%b\r\n" % (status, reason, _lines(headers))


def _lines(headers: Lines) -> bytes:
    return b"".join([b"%b: %b\r\n" % line for line in headers])
