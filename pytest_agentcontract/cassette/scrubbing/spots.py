"""Where the secrets of a text stand, and what may stand there instead."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple

from pytest_agentcontract.cassette.scrubbing import names, shapes
from pytest_agentcontract.cassette.scrubbing.framing import Frame, frame, is_stream
from pytest_agentcontract.cassette.scrubbing.secret import Secrets
from pytest_agentcontract.cassette.scrubbing.shape import Found
from pytest_agentcontract.cassette.scrubbing.views import Span, View, views

PLACEHOLDER: Final = re.compile(rb"SCRUBBED-([a-z]+)-([0-9]+)")


class Edit(NamedTuple):
    """Bytes to be replaced: by a placeholder for the value, or by what is said outright."""

    start: int
    end: int
    kind: str
    value: bytes
    instead: bytes | None = None


def edits(data: bytes, secrets: Secrets, more: Mapping[str, str], *, form: bool = False) -> list[Edit]:
    """Return what has to be replaced, in order; no two overlap.

    `more` are fields, by their plain names, that are secret beside those that always are; a `form` has parameters.
    """
    taken = [match.span() for match in PLACEHOLDER.finditer(data)]
    search = _Search(data, secrets, {**names.CREDENTIALS, **more}, form=form)
    return list(_merged(edit for edit in search.edits() if not _is_inside(edit, taken)))


class _Search:
    """One search of one text."""

    def __init__(self, data: bytes, secrets: Secrets, fields: Mapping[str, str], *, form: bool) -> None:
        self._data, self._secrets, self._fields, self._form = data, secrets, fields, form

    @cached_property
    def _places(self) -> Frame:
        return frame(self._data)

    def edits(self) -> Iterator[Edit]:
        """Yield what has to be replaced, in no order and with overlaps."""
        for view in views(self._data, streamed=is_stream(self._data)):
            for found in self._found(view):
                value = view.data[found.start : found.end]
                if not PLACEHOLDER.fullmatch(value):
                    yield from self._placed(view.origin(found.start, found.end), found.kind, value)

    def _found(self, view: View) -> Iterator[Found]:
        bare = PLACEHOLDER.sub(_blank, view.data)
        yield from chain(shapes.find(bare), self._secrets.find(view.data), names.fields(view.data, self._fields))
        if view.is_original:
            ids = names.fields(view.data, names.IDENTIFIERS)
            yield from (found for found in ids if not self._places.is_opaque((found.start, found.end)))
            if self._form:
                yield from names.parameters(view.data, self._fields)

    def _placed(self, spans: Iterable[Span], kind: str, value: bytes) -> Iterator[Edit]:
        """Yield a placeholder for the first part that may be replaced, nothing in place of the others."""
        instead = None
        for span in spans:
            number = self._places.number_at(span)
            if number:
                yield Edit(*number, kind, value, b"0")
            for start, end in self._places.allowed(self._data, span):
                yield Edit(start, end, kind, value, instead)
                instead = b""


def _blank(placeholder: re.Match[bytes]) -> bytes:
    """Return what stands in a placeholder's place where shapes are looked for: none goes over it, none begins in it."""
    return b"\0" * len(placeholder[0])


def _merged(found: Iterable[Edit]) -> Iterator[Edit]:
    """Yield one edit for each run of edits that overlap: it is the one that knows the longest value."""
    run: Edit | None = None
    for edit in sorted(found, key=lambda edit: (edit.start, edit.end)):
        if run and edit.start < run.end:
            best = edit if len(edit.value) > len(run.value) else run
            run = best._replace(start=run.start, end=max(run.end, edit.end))
            continue
        if run:
            yield run
        run = edit
    if run:
        yield run


def _is_inside(edit: Edit, spans: list[Span]) -> bool:
    k = bisect_right(spans, edit.start, key=lambda span: span[0]) - 1
    return k >= 0 and edit.end <= spans[k][1]
