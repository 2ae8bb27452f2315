"""A cassette as what is asked of it: each request finds its answer by one look-up, however many entries there are.

Entries that ask the same are played in the order in which they were recorded. Where an entry names its agent, it is
played to that agent alone. Their numbers count from 0, as everywhere.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from pytest_agentcontract.cassette.exchange import Cassette, Headers, Recorded
from pytest_agentcontract.cassette.matching.canonical import Canonical, canonical
from pytest_agentcontract.cassette.matching.miss import Miss, differences, step
from pytest_agentcontract.errors import CassetteError
from pytest_agentcontract.jsonvalue import JSON, dumps


class Index:
    """What a cassette can still answer. `scrub` takes the secrets out of every request, live or stored.

    Raise CassetteError for an entry that can't be asked for.
    """

    def __init__(self, cassette: Cassette, scrub: Callable[[Recorded], Recorded]) -> None:
        self._scrub, self._elided = scrub, cassette.origin.elided
        self._entries = cassette.exchanges
        read = [self._read(number, entry) for number, entry in enumerate(self._entries)]
        self._requests = [scrubbed for scrubbed, _ in read]
        self._places = [(request.method, request.url) for _, request in read]
        self._keys = [request.key for _, request in read]
        self._waiting: defaultdict[tuple[bytes, str], deque[int]] = defaultdict(deque)
        for at, key in enumerate(self._keys):
            self._waiting[key].append(at)
        self._played: set[int] = set()

    def __len__(self) -> int:
        return len(self._entries)

    def take(self, method: str, url: str, headers: Headers, body: bytes) -> Recorded | None:
        """Return the next answer to a request, which then is played; None where there is none."""
        asked = self._asked(method, url, headers, body)
        for agent in dict.fromkeys([asked.agent, ""]):
            if waiting := self._waiting.get((asked.digest, agent)):
                at = waiting.popleft()
                self._played.add(at)
                return self._entries[at]
        return None

    def miss(self, method: str, url: str, headers: Headers, body: bytes) -> Miss:
        """Say what a request lacks that has no answer; this looks at all entries."""
        asked = self._asked(method, url, headers, body)
        same = [at for at, key in enumerate(self._keys) if key in (asked.key, (asked.digest, ""))]
        if same:
            return Miss(asked.method, asked.url, asked.agent, same[-1], played=len(same))
        if not self._entries:
            return Miss(asked.method, asked.url, asked.agent)
        nearest = self._nearest(asked)
        first, *others = differences(self._stored(nearest), asked)
        return Miss(asked.method, asked.url, asked.agent, nearest, first, len(others))

    @property
    def unplayed(self) -> Mapping[int, Recorded]:
        """The entries that nobody asked for so far, by their numbers."""
        return {at: entry for at, entry in enumerate(self._entries) if at not in self._played}

    def _read(self, number: int, entry: Recorded) -> tuple[Recorded, Canonical]:
        try:
            scrubbed = self._scrub(replace(entry, status=0, reason="", headers=(), pieces=()))
            return scrubbed, canonical(scrubbed, self._elided)
        except ValueError as error:
            message = f"entry {number}: {entry.url!r} is no URL: {error}"
            raise CassetteError(message, remedy="Correct it, or record the cassette anew.") from error

    def _stored(self, number: int) -> Canonical:
        return canonical(self._requests[number], self._elided)

    def _asked(self, method: str, url: str, headers: Headers, body: bytes) -> Canonical:
        return canonical(self._scrub(Recorded(method, url, headers, body, 0, "", (), ())), self._elided)

    def _nearest(self, asked: Canonical) -> int:
        """Return which entry is most like a request: of the same method and URL, then by what their bodies share."""
        place, leaves = (asked.method, asked.url), frozenset(_leaves(asked))

        def distance(at: int) -> tuple[bool, int, int, bool]:
            there = self._leaves[at]
            return self._places[at] != place, len(leaves ^ there), -len(leaves & there), at in self._played

        return min(range(len(self._entries)), key=distance)

    @cached_property
    def _leaves(self) -> list[frozenset[int]]:
        return [frozenset(_leaves(self._stored(number))) for number in range(len(self._entries))]


def _leaves(request: Canonical) -> Iterator[int]:
    """Yield a number for each innermost value of a request, by which equal values at equal places are known."""
    yield hash(("agent", request.agent))
    if isinstance(request.body, bytes):
        yield hash(request.body)
    else:
        yield from _within(request.body, "")


def _within(value: JSON, pointer: str) -> Iterator[int]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _within(inner, pointer + step(key))
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from _within(inner, f"{pointer}/{at}")
    else:
        yield hash((pointer, dumps(value)))
