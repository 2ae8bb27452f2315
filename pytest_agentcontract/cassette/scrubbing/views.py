"""Bytes as a reader sees them, and where each of them stands in what was sent.

A secret can hide behind escapes, percent signs, or the frames of a stream, which bring it piece by piece. A view undoes
that, and `origin` leads from what was found there back to the bytes that have to go.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

Span: TypeAlias = tuple[int, int]

DEEPEST: Final = 3
"""How often JSON may stand as a string in JSON, and still be looked into."""


class _Segment(NamedTuple):
    """Bytes of a view from `start` on, and the bytes of its source that they were read from."""

    start: int
    source: int
    source_end: int
    verbatim: bool


class View:
    """What is read, and from which view or (None) that it is the original itself.

    Its segments are asked for when the first secret was found: most texts have none, and many escapes.
    """

    def __init__(
        self, data: bytes, source: View | None = None, segments: Callable[[], list[_Segment]] = list[_Segment]
    ) -> None:
        self.data, self.source, self._ask = data, source, segments

    @cached_property
    def _segments(self) -> list[_Segment]:
        return self._ask()

    @property
    def is_original(self) -> bool:
        """Whether nothing was undone here."""
        return self.source is None

    def origin(self, start: int, end: int) -> tuple[Span, ...]:
        """Return where in the original the bytes from `start` to `end` stand, in order; neighbours are one span."""
        if self.source is None:
            return ((start, end),)
        spans = (span for a, b in self._sources(start, end) for span in self.source.origin(a, b))
        return tuple(_joined(spans))

    def _sources(self, start: int, end: int) -> Iterator[Span]:
        segments = self._segments
        first = bisect_right(segments, start, key=lambda segment: segment.start) - 1
        for k in range(max(first, 0), len(segments)):
            segment = segments[k]
            if segment.start >= end:
                break
            if segment.verbatim:
                shift = segment.source - segment.start
                yield max(start + shift, segment.source), min(end + shift, segment.source_end)
            else:
                yield segment.source, segment.source_end


def views(data: bytes, *, streamed: bool) -> Iterator[View]:
    """Yield the original and all that can be read from it; of a stream also the texts that its frames bring."""
    roots = [View(data), *(_assembled(data) if streamed else ())]
    for root in roots:
        yield from _levels(root)


def _levels(view: View) -> Iterator[View]:
    for _ in range(DEEPEST):
        yield view
        yield from _plain(view)
        deeper = _undone(view, _ESCAPE, _unescaped) if b"\\" in view.data else None
        if deeper is None:
            return
        view = deeper
    yield view


def _plain(view: View) -> Iterator[View]:
    """Yield a view without its percent signs, and once more where a URL stands in a URL."""
    for _ in range(2):
        plain = _undone(view, _PERCENT, unquote_to_bytes) if b"%" in view.data else None
        if plain is None:
            return
        yield plain
        view = plain


_PERCENT: Final = re.compile(rb"%[0-9A-Fa-f]{2}")
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\"\\/bfnrt])"
)
_SHORT: Final = {
    b'\\"': b'"',
    b"\\\\": b"\\",
    b"\\/": b"/",
    b"\\b": b"\b",
    b"\\f": b"\f",
    b"\\n": b"\n",
    b"\\r": b"\r",
    b"\\t": b"\t",
}
_GROWING: Final = re.compile(
    rb'"(arguments|content|delta|input|partial_json|reasoning|reasoning_content|refusal|text|thinking)"[ ]?:[ ]?'
    rb'"([^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+)'
)
"""The fields in which the frames of a stream bring a text piece by piece, in all wire formats."""


def _unescaped(escape: bytes) -> bytes:
    short = _SHORT.get(escape)
    return short if short is not None else str(json.loads(b'"%b"' % escape)).encode("utf-8", "surrogatepass")


def _undone(view: View, hidden: re.Pattern[bytes], reveal: Callable[[bytes], bytes]) -> View | None:
    """Return the view with all that matches `hidden` revealed, or None if nothing does."""
    data, count = hidden.subn(lambda match: reveal(match[0]), view.data)
    return View(data, view, partial(_segments_of, view.data, hidden, reveal)) if count else None


def _segments_of(data: bytes, hidden: re.Pattern[bytes], reveal: Callable[[bytes], bytes]) -> list[_Segment]:
    segments, length, at = list[_Segment](), 0, 0
    for match in hidden.finditer(data):
        start, end = match.span()
        if at < start:
            segments.append(_Segment(length, at, start, verbatim=True))
        length += start - at
        segments.append(_Segment(length, start, end, verbatim=False))
        length += len(reveal(match[0]))
        at = end
    return [*segments, _Segment(length, at, len(data), verbatim=True)]


def _assembled(data: bytes) -> Iterator[View]:
    """Yield, for each growing field, its values in all frames put together."""
    values: dict[bytes, list[Span]] = {}
    for match in _GROWING.finditer(data):
        values.setdefault(match[1], []).append(match.span(2))
    for spans in values.values():
        segments, length = list[_Segment](), 0
        for start, end in spans:
            segments.append(_Segment(length, start, end, verbatim=True))
            length += end - start
        yield View(b"".join(data[start:end] for start, end in spans), View(data), segments.copy)


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    begun: Span | None = None
    for span in spans:
        if span[0] == span[1]:
            continue
        if begun and begun[1] == span[0]:
            begun = (begun[0], span[1])
            continue
        if begun:
            yield begun
        begun = span
    if begun:
        yield begun
