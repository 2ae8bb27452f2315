"""What of a body may be replaced without breaking it: the insides of JSON strings, the values of an event stream."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pytest_agentcontract.cassette.scrubbing.views import Span

_STREAM: Final = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:data|event|id|retry|):")
_JSON: Final = re.compile(rb'(?:\xef\xbb\xbf)?\s*+(?:[{\["]|-?[0-9][0-9.eE+-]*+\s*+\Z)')
_LINE: Final = re.compile(rb"(?:(?:data|event|id|retry|): ?)?+([^\r\n]*+)(?:\r\n|[\r\n]|\Z)")
_TOKEN: Final = re.compile(
    rb'"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+(?:"|\\?(?=[\r\n]|\Z))|[{\[]|[}\]]|-?[0-9][0-9.eE+-]*+'
    rb'|(?!(?:true|false|null)\b)[A-Za-z][^\s"{}\[\],]*+'
)
_OPENS: Final = re.compile(rb"\s{0,200}+:\s{0,200}+(?=[{\[])")
_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|[^u])")
_OPAQUE: Final = frozenset(
    b'"%b"' % name.encode()
    for name in (
        *("args", "arguments", "functionCall", "functionResponse", "input", "input_schema", "json_schema", "output"),
        *("parameters", "parametersJsonSchema", "properties", "responseSchema", "schema"),
    )
)
"""Below these stands what an application calls so: a user there is nobody of the provider's."""


@dataclass(slots=True)
class Frame:
    """The places of a body, each sorted: texts that may be replaced, numbers, and what is the application's own.

    In `quoted` texts stand escapes, which must stay whole; those that are not are free of any rule.
    """

    texts: list[Span] = field(default_factory=list)
    quoted: list[bool] = field(default_factory=list)
    numbers: list[Span] = field(default_factory=list)
    opaque: list[Span] = field(default_factory=list)

    def allowed(self, data: bytes, span: Span) -> Iterator[Span]:
        """Yield the parts of a span that may be replaced; nothing if it would break what stands around it."""
        first = max(bisect_right(self.texts, span[0], key=lambda text: text[0]) - 1, 0)
        for k in range(first, len(self.texts)):
            start, end = max(span[0], self.texts[k][0]), min(span[1], self.texts[k][1])
            if self.texts[k][0] >= span[1]:
                return
            if start < end and (not self.quoted[k] or _whole(data, start, end, self.texts[k][0])):
                yield start, end

    def number_at(self, span: Span) -> Span | None:
        """Return the JSON number that a span touches."""
        return _around(self.numbers, span)

    def is_opaque(self, span: Span) -> bool:
        """Tell whether a span stands in what is the application's own."""
        return _around(self.opaque, span) is not None


def is_stream(data: bytes) -> bool:
    """Tell whether a body reads as an event stream."""
    return _STREAM.match(data) is not None


def frame(data: bytes) -> Frame:
    """Return the places of a body; in one that is neither JSON nor an event stream all is text."""
    found = Frame()
    if is_stream(data):
        for line in _LINE.finditer(data):
            _read(found, data, *line.span(1))
    else:
        _read(found, data, 0, len(data))
    return found


def _read(found: Frame, data: bytes, start: int, end: int) -> None:
    if _JSON.match(data, start, end):
        _read_json(found, data, start, end)
    elif start < end:
        found.texts.append((start, end))
        found.quoted.append(False)


def _read_json(found: Frame, data: bytes, start: int, end: int) -> None:
    depth, own_from, own_depth = 0, -1, 0
    for match in _TOKEN.finditer(data, start, end):
        at, stop = match.span()
        first = data[at]
        if first == ord('"'):
            closed = stop - at > 1 and data[stop - 1] == first
            found.texts.append((at + 1, stop - 1 if closed else stop))
            found.quoted.append(True)
            if own_depth == 0 and match[0] in _OPAQUE and (opens := _OPENS.match(data, stop, end)):
                own_from = opens.end()
        elif first in b"{[":
            depth += 1
            own_depth = depth if at == own_from and own_depth == 0 else own_depth
        elif first in b"}]":
            if depth == own_depth and own_depth:
                found.opaque.append((own_from, stop))
                own_depth = 0
            depth -= 1
        elif match[0][:1].isalpha():
            found.texts.append((at, stop))
            found.quoted.append(False)
        else:
            found.numbers.append((at, stop))
    if own_depth:
        found.opaque.append((own_from, end))


def _whole(data: bytes, start: int, end: int, floor: int) -> bool:
    """Tell whether a part of a quoted text begins and ends between escapes; the text itself begins at `floor`."""
    after_u = (at for at in range(max(start - 4, floor + 1), start + 1) if data[at - 1 : at + 1] == b"\\u")
    if _is_escaped(data, start, floor) or any(_is_escaped(data, at, floor) for at in after_u if at < start):
        return False
    return b"\\" not in _ESCAPE.sub(b"", data[start:end])


def _is_escaped(data: bytes, at: int, floor: int) -> bool:
    slashes = 0
    while at - slashes > floor and data[at - slashes - 1] == ord("\\"):
        slashes += 1
    return slashes % 2 == 1


def _around(spans: list[Span], span: Span) -> Span | None:
    k = bisect_right(spans, span[0], key=lambda other: other[0]) - 1
    for other in spans[max(k, 0) : k + 2]:
        if other[0] < span[1] and span[0] < other[1]:
            return other
    return None
