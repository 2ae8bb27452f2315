"""Server-sent events, read from pieces of any size."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class EventReader:
    """Turns bytes into the data of each complete event; one that its blank line does not end is never given out."""

    _tail: bytes = b""
    _data: list[bytes] = field(default_factory=list)

    def feed(self, piece: bytes) -> list[bytes]:
        """Take a piece and return the data of the events that it completed."""
        *lines, self._tail = (self._tail + piece).split(b"\n")
        return [data for line in lines if (data := self._line(line.rstrip(b"\r"))) is not None]

    def _line(self, line: bytes) -> bytes | None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        if line or not self._data:
            return None
        data, self._data = b"\n".join(self._data), []
        return data
