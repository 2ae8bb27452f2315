"""Looks once more at an exchange that was scrubbed: what still leaks must not be written.

This search shares the table of shapes with the scrubber, and nothing else. It reads as a curious stranger would: it
decodes JSON, event streams, percent signs, base64, hexadecimal and compressed data, one inside the other, puts together
what a stream says piece by piece, and looks at every text that comes of it. A leak is told by its kind and its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.cassette.exchange import Origin, Recorded
from pytest_agentcontract.cassette.scrubbing import shapes
from pytest_agentcontract.cassette.scrubbing.reading import readings
from pytest_agentcontract.cassette.scrubbing.secret import Secrets

_PLACEHOLDER: Final = re.compile(rb"SCRUBBED-[a-z]+-[0-9]+")


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret that is still there: what it is, and where. Its value is told to nobody."""

    kind: str
    place: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.place}"


def leaks(recorded: Recorded, secrets: Secrets) -> tuple[Leak, ...]:
    """Return what of an exchange, already scrubbed, has a known shape or is one of these values; each leak once.

    The values are those of the exchange before it was scrubbed: `Scrubber.secrets`.
    """
    return _leaks(_places(recorded), secrets)


def leaks_of_maker(origin: Origin, secrets: Secrets) -> tuple[Leak, ...]:
    """Return the same of what the maker of a cassette wrote; the values are `Scrubber.known`."""
    return leaks_of_texts(origin.texts, secrets)


def leaks_of_texts(texts: Iterable[tuple[str, str]], secrets: Secrets) -> tuple[Leak, ...]:
    """Return the same of texts, each with its place."""
    return _leaks(((place, text.encode("utf-8", "surrogateescape")) for place, text in texts), secrets)


def _leaks(places: Iterable[tuple[str, bytes]], secrets: Secrets) -> tuple[Leak, ...]:
    found = (
        Leak(kind, f"{place}{how}")
        for place, data in places
        for how, read in readings(data)
        for kind in _kinds(read, secrets)
    )
    return tuple(dict.fromkeys(found))


def _places(recorded: Recorded) -> Iterator[tuple[str, bytes]]:
    for place, text in (("the method", recorded.method), ("the URL", recorded.url), ("the reason", recorded.reason)):
        yield place, text.encode("utf-8", "surrogateescape")
    for whose, headers in (("request", recorded.request_headers), ("answer", recorded.headers)):
        for number, (name, value) in enumerate(headers, 1):
            yield f"the name of header {number} of the {whose}", name.encode("utf-8", "surrogateescape")
            yield f"the value of header {number} of the {whose}", value.encode("utf-8", "surrogateescape")
    yield "the request's body", recorded.request_body
    yield "the answer's body", recorded.body


def _kinds(data: bytes, secrets: Secrets) -> Iterator[str]:
    bare = _PLACEHOLDER.sub(b"\0", data)
    for found in (*shapes.find(bare), *secrets.find(bare)):
        if bare[found.start : found.end].strip(b"\0"):
            yield found.kind
