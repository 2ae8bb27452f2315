"""Faults as data: what goes wrong with one delivery of a scripted answer.

Places are counted in content deltas, so that the same number means the same on every wire. A response that is not
streamed has none: it counts as one delta.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Ending: TypeAlias = Literal["fin", "rst", "clean"]
"""How a connection ends: closed, reset, or not at all, where only the rest of the answer is left out."""

Inside: TypeAlias = Literal["event", "character"]


@dataclass(frozen=True, slots=True)
class StatusFault:
    """Answer with an error status and the wire format's native error body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "scripted fault"

    def __str__(self) -> str:
        return f"status {self.status}"


@dataclass(frozen=True, slots=True)
class CutFault:
    """Break the answer off after `after_deltas` content deltas; 0 is before the first byte of the response.

    `inside` cuts later by a part: in the middle of the next delta's event, or of the first character there that takes
    several bytes. A `clean` ending keeps the HTTP framing whole: the answer lacks its end (after all deltas), or is a
    success that holds nothing (after 0).
    """

    after_deltas: int
    ending: Ending = "fin"
    inside: Inside | None = None

    def __str__(self) -> str:
        if self.ending == "clean":
            return f"no more after {self.after_deltas} deltas, as if that were all"
        place = f", inside the next {self.inside}" if self.inside else ""
        return f"cut by {self.ending.upper()} after {self.after_deltas} deltas{place}"


@dataclass(frozen=True, slots=True)
class MalformedFault:
    """Spoil the event after `after_deltas` content deltas: half of its JSON is missing. The rest follows as usual."""

    after_deltas: int = 0

    def __str__(self) -> str:
        return f"a malformed event after {self.after_deltas} deltas"


@dataclass(frozen=True, slots=True)
class ErrorFault:
    """Report an error inside the stream, after `after_deltas` content deltas, in the wire format's own words."""

    after_deltas: int
    status: int = 529
    message: str = "scripted fault"

    def __str__(self) -> str:
        return f"error {self.status} inside the stream after {self.after_deltas} deltas"


@dataclass(frozen=True, slots=True)
class SilenceFault:
    """Say nothing more after `after_deltas` content deltas (0: not even a status line), and keep the line open."""

    after_deltas: int = 0

    def __str__(self) -> str:
        return f"silence after {self.after_deltas} deltas"


@dataclass(frozen=True, slots=True)
class ContentTypeFault:
    """Send the whole answer under a content type that is not its own."""

    content_type: str

    def __str__(self) -> str:
        return f"sent as {self.content_type}"


Fault: TypeAlias = StatusFault | CutFault | MalformedFault | ErrorFault | SilenceFault | ContentTypeFault


@dataclass(frozen=True, slots=True)
class Pace:
    """How slowly an answer comes: seconds before its first byte, and between two of its events. No fault at all."""

    first: float = 0.0
    between: float = 0.0


UNPACED = Pace()


def shows_content(fault: Fault) -> bool:
    """Tell whether a client is sent any of the answer before the fault strikes."""
    match fault:
        case StatusFault():
            return False
        case ContentTypeFault() | MalformedFault():
            return True
        case _:
            return fault.after_deltas > 0
