"""The body of a success: its parts, and how HTTP frames them. Faults and gates work on these values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.provider.http import head
from pytest_agentcontract.wire.formats import WireFormat
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import Event
from pytest_agentcontract.wire.turn import Turn

Framing: TypeAlias = Literal["length", "chunked", "close"]
"""How a client knows where the body ends: by its length, by the last chunk, or with the connection (HTTP/1.0)."""

_LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Body:
    """A success in parts, not yet framed. A document that is sent whole has two: its halves, the first is the delta."""

    headers: Mapping[str, str]
    parts: tuple[Event, ...]
    framing: Framing

    @property
    def opening(self) -> bytes:
        """The status line and the headers."""
        return head(200, {**self.headers, **self._framed_by})

    @property
    def ending(self) -> bytes:
        """What stands after the last part."""
        return _LAST_CHUNK if self.framing == "chunked" else b""

    @property
    def whole(self) -> bytes:
        """All of the response; what is written at once is one chunk."""
        data = b"".join([part.data for part in self.parts])
        return self.opening + (self.sent([Event(data)]) if data else b"") + self.ending

    @property
    def streamed(self) -> bool:
        """Whether the parts are events of a stream."""
        return self.framing != "length"

    def sent(self, parts: Iterable[Event]) -> bytes:
        """Frame some of the parts."""
        if self.framing == "chunked":
            return b"".join(b"%x\r\n%b\r\n" % (len(part.data), part.data) for part in parts)
        return b"".join(part.data for part in parts)

    def after(self, deltas: int) -> int:
        """Return how many parts are sent with the first `deltas` deltas; with none, all before the first delta.

        Where nothing is a delta it is the first part, unless that is all there is: what is cut is never whole.
        """
        places = [at for at, part in enumerate(self.parts) if part.delta]
        if not places:
            return min(1, len(self.parts) - 1)
        return places[min(deltas, len(places)) - 1] + 1 if deltas else places[0]

    def of(self, parts: Iterable[Event]) -> Body:
        """Return a body with other parts; its length is theirs."""
        return replace(self, parts=tuple(parts))

    @property
    def _framed_by(self) -> dict[str, str]:
        if self.framing == "length":
            return {"content-length": str(sum(len(part.data) for part in self.parts))}
        return {"transfer-encoding": "chunked"} if self.framing == "chunked" else {"connection": "close"}


def rendered(turn: Turn, request: Request, wire: WireFormat, serial: int, *, chunked: bool) -> Body:
    """Render an answer as its request asked: as one document, or as a stream of events."""
    name = f"req_{serial:08d}"
    named = {"request-id": name, "x-request-id": name}
    if request.stream:
        kind = {"content-type": "text/event-stream", "cache-control": "no-cache"}
        return Body(kind | named, wire.encode_stream(turn, request, serial), "chunked" if chunked else "close")
    whole = dumps(wire.encode_whole(turn, request, serial)).encode()
    half = len(whole) // 2
    halves = Event(whole[:half], delta=True), Event(whole[half:])
    return Body({"content-type": "application/json"} | named, halves, "length")
