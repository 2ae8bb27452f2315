"""Event-stream framing, shared by the wire formats: one JSON value is one event, and long text is cut into pieces."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON, dumps

_MOST_PIECES = 8


@dataclass(frozen=True, slots=True)
class Event:
    """One event, ready to be written. `delta` marks a piece of the answer: those are what faults and holds count."""

    data: bytes
    delta: bool = False


DONE = Event(b"data: [DONE]\n\n")
"""What ends a Chat Completions stream."""


def event(name: str | None, value: JSON, *, delta: bool = False) -> Event:
    """Frame one JSON value as an event, with or without an `event:` line."""
    head = f"event: {name}\n" if name else ""
    return Event(f"{head}data: {dumps(value)}\n\n".encode(), delta)


def pieces(text: str) -> tuple[str, ...]:
    """Cut a text into at most eight pieces of nearly the same length, none of them empty."""
    count = min(_MOST_PIECES, len(text))
    return tuple(text[len(text) * k // count : len(text) * (k + 1) // count] for k in range(count))
