"""Event streams, shared by the wire formats: framing what we send, and reading what a provider sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.wire.turn import DELTAS

_HOLE = "\ue000"
_QUOTED_HOLE = f'"{_HOLE}"'
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r(?!\n|\Z))")
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event, ready to be written. `delta` marks a piece of the answer: those are what faults and holds count."""

    data: bytes
    delta: bool = False


DONE = Event(b"data: [DONE]\n\n")
"""What ends a Chat Completions stream."""


def event(name: str | None, value: JSON, *, delta: bool = False) -> Event:
    """Frame one JSON value as an event, with or without an `event:` line."""
    return framed(name, dumps(value), delta=delta)


def framed(name: str | None, document: str, *, delta: bool = False) -> Event:
    """Frame a JSON document as an event."""
    head = f"event: {name}\n" if name else ""
    return Event(f"{head}data: {document}\n\n".encode(), delta)


def series(name: str | None, around: Callable[[str], JSON], texts: Sequence[str]) -> Iterator[Event]:
    """Frame each text as a delta of its own."""
    return (framed(name, document, delta=True) for document in documents(around, texts))


def documents(around: Callable[[str], JSON], texts: Sequence[str]) -> Iterator[str]:
    """Render each text and what stands `around` it, which is the same for all, and rendered once."""
    if not texts:
        return
    before, *rest = dumps(around(_HOLE)).split(_QUOTED_HOLE)
    for text in texts:
        # The hole may stand in what is around it, too.
        yield f"{before}{dumps(text)}{rest[0]}" if len(rest) == 1 else dumps(around(text))


def pieces(text: str, most: int = DELTAS) -> tuple[str, ...]:
    """Cut a text into at most `most` pieces of nearly the same length, none of them empty."""
    count = min(most, len(text))
    return tuple(text[len(text) * k // count : len(text) * (k + 1) // count] for k in range(count))


@dataclass(frozen=True, slots=True)
class Frame:
    """One event as it was read: its name ("" where it has none) and its data, lines joined by a line feed."""

    name: str
    data: str


class Reader:
    """Reads a stream by the rules of its standard, however its bytes are cut; what is no finished event waits."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun = False
        self._name, self._data = "", list[str]()

    def feed(self, data: bytes) -> tuple[Frame, ...]:
        """Take the next bytes; return the events that they finish. Raise UnicodeDecodeError for what is no UTF-8."""
        self._rest += data
        return tuple(self._finished())

    @property
    def unfinished(self) -> bool:
        """Whether something stands after the last finished event."""
        return bool(self._rest.strip() or self._name or self._data)

    def _finished(self) -> Iterator[Frame]:
        if not self._begun and len(self._rest) >= len(_BOM):
            self._rest, self._begun = self._rest.removeprefix(_BOM), True
        at = 0
        for line in _LINE.finditer(self._rest):
            at = line.end()
            if line[1]:
                self._take(line[1].decode())
                continue
            if self._data:
                yield Frame(self._name, "\n".join(self._data))
            self._name, self._data = "", []
        self._rest = self._rest[at:]

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)


def frames(chunks: Iterable[bytes]) -> Iterator[Frame]:
    """Read a stream that came in these chunks."""
    reader = Reader()
    for chunk in chunks:
        yield from reader.feed(chunk)
