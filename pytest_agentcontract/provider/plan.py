"""What happens on a connection, as values: bytes to write, waits, gates, and the end of it all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.provider.body import Body
from pytest_agentcontract.provider.http import head
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.wire.faults import Ending, Pace
from pytest_agentcontract.wire.sse import Event

FINAL: Mapping[str, str] = {"x-should-retry": "false"}
"""What tells the providers' own clients that asking again is of no use."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cut:
    """The answer breaks off here; after a `clean` ending the connection stays."""

    ending: Ending


Step: TypeAlias = bytes | Pause | Hold | Cut


def document(status: int, body: JSON, headers: Mapping[str, str] | None = None) -> bytes:
    """Render a whole response with a JSON body."""
    content = dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(content)), **(headers or {})}
    return head(status, lines) + content


def paced(body: Body, parts: Iterable[Event], pace: Pace, *, opened: bool) -> Iterator[Step]:
    """Send parts of a body, `opened` by its headers, as slowly as the pace says."""
    if opened:
        yield Pause(pace.first)
        yield body.opening
    if not pace.between:
        yield body.sent(parts)
        return
    for number, part in enumerate(parts):
        if number or not opened:
            yield Pause(pace.between)
        yield body.sent([part])


def merged(steps: Iterable[Step]) -> Iterator[Step]:
    """Drop the steps that do nothing, and join bytes that follow each other: one write takes less than two."""
    waiting: list[bytes] = []
    for step in steps:
        if isinstance(step, bytes):
            waiting.append(step)
        elif step != Pause(0.0):
            yield from _joined(waiting)
            waiting.clear()
            yield step
    yield from _joined(waiting)


def _joined(waiting: list[bytes]) -> Iterator[bytes]:
    if any(waiting):
        yield b"".join(waiting)
