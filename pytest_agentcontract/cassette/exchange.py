"""What a cassette holds, as values: recorded exchanges, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Header lines in order, names as they were sent."""

Ending: TypeAlias = Literal["whole", "reset", "closed", "hung-up"]
"""How an answer came to its end: by the provider's word, by his RST or too early FIN, or because the client left."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of an answer's body, its content encoding undone, `gap` seconds after what was sent before them.

    The first one comes so long after the request.
    """

    gap: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request and its answer. `url` is the provider's own, with its query; bodies have no content encoding.

    A `status` of 0 says that the provider's answer never began.
    """

    method: str
    url: str
    request_headers: Headers
    request_body: bytes
    status: int
    reason: str
    headers: Headers
    pieces: tuple[Piece, ...]
    ending: Ending = "whole"

    @property
    def body(self) -> bytes:
        """The answer's body, as far as it came."""
        return b"".join(piece.data for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Origin:
    """How a cassette was made: base URLs by the name of their provider, and what its maker notes.

    `elided` lists JSON pointers into request bodies (`*` is any one key, `**` any number) whose texts were taken out:
    no request is matched by what stands there.
    """

    upstreams: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    elided: tuple[str, ...] = ()

    @property
    def texts(self) -> Iterator[tuple[str, str]]:
        """All that its maker wrote, and where."""
        yield "the note", self.note
        for number, (name, url) in enumerate(self.upstreams.items(), 1):
            yield f"the name of upstream {number}", name
            yield f"the URL of upstream {number}", url
        for number, pointer in enumerate(self.elided, 1):
            yield f"the elided pointer {number}", pointer


@dataclass(frozen=True, slots=True)
class Cassette:
    """A whole cassette, its exchanges in the order in which they ended."""

    exchanges: tuple[Recorded, ...] = ()
    origin: Origin = Origin()
