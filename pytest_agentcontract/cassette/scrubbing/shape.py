"""One shape of a secret: how it is found in bytes, and at what borders it may stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

_WRITTEN_OUT: Final = rb"(?<=[%=][0-9A-Fa-f]{2})|(?<=\[m)|(?<=[\[;0-9][0-9]m)"
"""The end of a letter's code, of a percent sign or of a mail, and of a terminal's colour: what follows stands apart."""

APART: Final = rb"(?:(?<![A-Za-z0-9_-])|" + _WRITTEN_OUT + rb")"
"""The border before what begins as random text might: three letters of base64 are soon found."""

BEHIND: Final = rb"(?:(?<![A-Za-z0-9])|" + _WRITTEN_OUT + rb")"
"""The border before what begins as random text hardly ever does: it may follow any sign."""

SAYS: Final = rb"[\"'\\]{0,4}+(?:%(?:25){0,3}3[Dd]|=3D|[ \t]{0,4}+(?:=>|[:=]))[ \t]{0,4}+[\"'\\]{0,4}+"
"""What stands between a name and its value: in a URL, a header, an assignment, JSON or YAML."""


class Found(NamedTuple):
    """A secret in some bytes: what it is, and from where to where it stands."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape. The secret is the pattern's only group, or all of it if it has none.

    Every match has one of the `hints`, plain bytes, `before` bytes behind its begin.
    """

    name: str
    kind: str
    hints: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    before: int = 0

    def find(self, data: bytes) -> Iterator[Found]:
        """Yield what has this shape."""
        for hint in self.hints:
            at = data.find(hint)
            while at >= 0:
                match = self.pattern.match(data, at - self.before) if at >= self.before else None
                if match:
                    yield Found(self.kind, *match.span(self.pattern.groups))
                at = data.find(hint, match.end() if match else at + 1)


def shape(name: str, kind: str, pattern: bytes, *hints: bytes, before: int = 0) -> Shape:
    """Build a shape."""
    return Shape(name, kind, hints, re.compile(pattern), before)
