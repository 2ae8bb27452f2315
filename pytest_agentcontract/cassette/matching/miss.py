"""A request that no entry of a cassette answers: what was asked, what comes nearest, and where the two differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.cassette.matching.canonical import AGENT, Canonical
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, dumps, equal

_MOST_SHOWN: Final = 120
_BEFORE: Final = 30
"""So much of a long text is shown before the place at which it differs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where an asked request is not the recorded one.

    `part` is what of the request differs, `pointer` leads to the innermost place in a JSON body ("" is all of it).
    """

    part: str
    pointer: str
    recorded: JSON | Missing
    asked: JSON | Missing

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return f"{self.part} at {self.pointer}" if self.pointer else self.part


@dataclass(frozen=True, slots=True)
class Miss:
    """A request without an answer. `nearest` is the number of the entry most like it; None where there is none.

    `difference` is the first one between the two, and `more` counts the others; it is None where they are the same, and
    the entry was `played` already, with all the others like it: so many in all.
    """

    method: str
    url: str
    agent: str = ""
    nearest: int | None = None
    difference: Difference | None = None
    more: int = 0
    played: int = 0

    def __str__(self) -> str:
        asked = f"{self.method} {self.url}{f' of the agent {self.agent!r}' if self.agent else ''}"
        if self.played:
            times = f"{_times(self.played)} already, as often as it was recorded"
            return f"{asked} was played {times} (entry {self.nearest} was the last)"
        if self.difference is None:
            return f"{asked} was asked, and the cassette is empty"
        others = f", and in {self.more} more place{'s' if self.more > 1 else ''}" if self.more else ""
        recorded, observed = _shown(self.difference.recorded, self.difference.asked)
        return (
            f"{asked} is not in the cassette: entry {self.nearest} is nearest, and differs in its "
            f"{self.difference.place}{others}\n    recorded: {recorded}\n    asked:    {observed}"
        )


def differences(recorded: Canonical, asked: Canonical) -> Iterator[Difference]:
    """Yield where a request is not the recorded one: method, URL and agent first, then the body from its beginning."""
    for part, stored, given in (("method", recorded.method, asked.method), ("URL", recorded.url, asked.url)):
        if stored != given:
            yield Difference(part, "", stored, given)
    if recorded.agent not in ("", asked.agent):
        yield Difference(f"header {AGENT}", "", recorded.agent, asked.agent or MISSING)
    was, now = recorded.body, asked.body
    if not isinstance(was, bytes) and not isinstance(now, bytes):
        yield from _in_values(was, now, "")
    elif type(was) is not type(now) or was != now:
        yield Difference("body", "", _text(was), _text(now))


def step(key: str) -> str:
    """Spell a key as one step of a JSON pointer."""
    return f"/{key.replace('~', '~0').replace('/', '~1')}"


def _in_values(recorded: JSON | Missing, asked: JSON | Missing, pointer: str) -> Iterator[Difference]:
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in dict.fromkeys([*asked, *recorded]):
            yield from _in_values(recorded.get(key, MISSING), asked.get(key, MISSING), pointer + step(key))
    elif isinstance(recorded, list) and isinstance(asked, list):
        for at in range(max(len(recorded), len(asked))):
            yield from _in_values(_item(recorded, at), _item(asked, at), f"{pointer}/{at}")
    elif not equal(recorded, asked):
        yield Difference("body", pointer, recorded, asked)


def _text(body: JSON | bytes) -> JSON:
    return body.decode("utf-8", "backslashreplace") if isinstance(body, bytes) else body


def _item(values: list[JSON], at: int) -> JSON | Missing:
    return values[at] if at < len(values) else MISSING


def _shown(recorded: JSON | Missing, asked: JSON | Missing) -> tuple[str, str]:
    """Show two values; of long ones what stands around the first difference."""
    texts = tuple("(nothing)" if isinstance(value, Missing) else dumps(value) for value in (recorded, asked))
    differing = (at for at, (was, now) in enumerate(zip(*texts, strict=False)) if was != now)
    start = max(next(differing, 0) - _BEFORE, 0)
    was, now = (_window(text, start) for text in texts)
    return was, now


def _window(text: str, start: int) -> str:
    if len(text) <= _MOST_SHOWN:
        return text
    end = start + _MOST_SHOWN
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
