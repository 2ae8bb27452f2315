"""A hostile client as a value: what it sends, how it ends, and how many turns it may be served."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

Span: TypeAlias = tuple[int, int]
"""How many turns may be served at least and at most: (1, 1) is a good request, (0, 0) a bad one."""

GOOD, BAD, EITHER = (1, 1), (0, 0), (0, 1)

Ending: TypeAlias = Literal["half-close", "wait", "reset", "silence", "hang-up"]
"""What a client does once all is sent.

It shuts its side and reads to the end, waits for one answer on the open connection, resets, says nothing more for as
long as it may, or closes without reading.
"""

TURNS = 3
"""How many turns every agent's script has: no attempt may be served more."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One connection. `pieces` are sent one after the other; `span` is how many turns it may be served.

    To what is `due` an answer comes in any case: more is not needed to see what is wrong with it. To what is `native`,
    every error is about a model request: it must be one that the wire's own clients understand.
    """

    number: int
    shape: str
    wire: str
    method: str
    pieces: tuple[bytes, ...]
    span: Span
    ending: Ending = "half-close"
    native: bool = False
    due: bool = False


@dataclass(frozen=True, slots=True)
class Good:
    """A good request in its parts."""

    wire: str
    path: str
    document: dict[str, object]

    @property
    def body(self) -> bytes:
        """The body as it is sent."""
        return json.dumps(self.document).encode()

    def bytes(
        self,
        *lines: bytes,
        body: bytes | None = None,
        first: bytes = b"POST %b HTTP/1.1",
        length: bool = True,
    ) -> bytes:
        """Render it, with other lines, another body or another first line."""
        content = self.body if body is None else body
        head = [first.replace(b"%b", self.path.encode("utf-8", "surrogatepass")), b"host: x", *lines]
        head += [b"content-length: %d" % len(content)] if length else []
        return b"\r\n".join(head) + b"\r\n\r\n" + content


def made(
    shape: str, data: bytes, span: Span, *, ending: Ending = "half-close", native: bool = False, method: str = "POST"
) -> Attempt:
    """Make an attempt of one piece, before it has a number and a wire."""
    return Attempt(0, shape, "", method, (data,), span, ending, native)
