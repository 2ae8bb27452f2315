"""Two cassettes, exchange by exchange: what only one of them holds, and what in an exchange is not the same.

Exchanges that ask the same are one pair; of the others each goes with the one of the same method and URL whose request
is most like it, among the next few. Answers are compared as what they say. How fast and in which pieces they came is
no difference, and neither are the ids of calls.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.cassette.exchange import Cassette
from pytest_agentcontract.cassette.matching import miss
from pytest_agentcontract.cassette.matching.canonical import Canonical, canonical
from pytest_agentcontract.conformance.difference import differences
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, dumps, loads
from pytest_agentcontract.recorded.reading import Reading, read_all
from pytest_agentcontract.recorded.turns import usage
from pytest_agentcontract.report.text import harmless, shortened
from pytest_agentcontract.report.wirelog import asking
from pytest_agentcontract.wire.turn import Call

_NEAR: Final = 8
_SHOWN: Final = 96
_BEFORE: Final = 24


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `old` and `new` are the numbers of the exchanges, one of them None where the other is alone.

    `part` is what of them differs, `pointer` the place in it, `was` and `now` what stands there.
    """

    old: int | None
    new: int | None
    part: str
    pointer: str = ""
    was: JSON | Missing = MISSING
    now: JSON | Missing = MISSING


@dataclass(frozen=True, slots=True)
class _Entry:
    reading: Reading
    asked: Canonical


def changes(old: Cassette, new: Cassette) -> Iterator[Change]:
    """Yield everything in which two cassettes differ, in the order of the exchanges; none if they play alike."""
    elided = tuple(dict.fromkeys((*old.origin.elided, *new.origin.elided)))
    before, after = _entries(old, elided), _entries(new, elided)
    pairs = dict(_pairs(before, after))
    for at, entry in enumerate(before):
        if at in pairs:
            yield from _changed(entry, after[pairs[at]])
        else:
            yield Change(at, None, "exchange", was=_told(entry))
    taken = frozenset(pairs.values())
    yield from (Change(None, at, "exchange", now=_told(entry)) for at, entry in enumerate(after) if at not in taken)


def lines(found: Sequence[Change]) -> Iterator[str]:
    """Yield the changes in words, both sides short, of long texts what stands around the first difference."""
    for change in found:
        was, now = _windows(change.was, change.now)
        if change.old is None or change.new is None:
            whose, number = ("the old", change.old) if change.new is None else ("the new", change.new)
            yield harmless(f"exchange {number}: only in {whose} cassette: {was if change.new is None else now}")
            continue
        numbers = f"{change.old}" if change.old == change.new else f"{change.old} (new: {change.new})"
        place = f" at {shortened(change.pointer, _SHOWN)}" if change.pointer else ""
        yield harmless(f"exchange {numbers}: {change.part}{place}")
        yield from (harmless(f"    {side}: {text}") for side, text in (("old", was), ("new", now)))


def row(change: Change) -> JSONObject:
    """Return a change for a program; a side that is not there has no key."""
    sides = {"was": change.was, "now": change.now}
    told: JSONObject = {"old": change.old, "new": change.new, "part": change.part, "pointer": change.pointer}
    return told | {side: value for side, value in sides.items() if not isinstance(value, Missing)}


# -- which goes with which --------------------------------------------------------------------------------------------


def _entries(cassette: Cassette, elided: tuple[str, ...]) -> tuple[_Entry, ...]:
    return tuple(_Entry(reading, canonical(reading.recorded, elided)) for reading in read_all(cassette))


def _pairs(before: Sequence[_Entry], after: Sequence[_Entry]) -> Iterator[tuple[int, int]]:
    same: defaultdict[tuple[bytes, str], deque[int]] = defaultdict(deque)
    for at, entry in enumerate(after):
        same[entry.asked.key].append(at)
    left, found = list[int](), set[int]()
    for at, entry in enumerate(before):
        if waiting := same[entry.asked.key]:
            found.add(waiting[0])
            yield at, waiting.popleft()
        else:
            left.append(at)
    free = [at for at in range(len(after)) if at not in found]
    for at in left:
        near = [other for other in free if _place(after[other]) == _place(before[at])][:_NEAR]
        if near:
            nearest = min(near, key=lambda other: _apart(before[at], after[other]))
            free.remove(nearest)
            yield at, nearest


def _place(entry: _Entry) -> tuple[str, str]:
    return entry.asked.method, entry.asked.url


def _apart(one: _Entry, other: _Entry) -> int:
    return sum(1 for _ in miss.differences(one.asked, other.asked))


# -- what differs -----------------------------------------------------------------------------------------------------


def _changed(old: _Entry, new: _Entry) -> Iterator[Change]:
    numbers = old.reading.number, new.reading.number
    for found in miss.differences(old.asked, new.asked):
        yield Change(*numbers, f"request's {found.part}", found.pointer, found.recorded, found.asked)
    was, now = old.reading.recorded, new.reading.recorded
    if was.status != now.status:
        yield Change(*numbers, "answer's status", "", was.status, now.status)
    if was.ending != now.ending:
        yield Change(*numbers, "answer's ending", "", was.ending, now.ending)
    sides = (_answer(old.reading), _answer(new.reading))
    if None in sides:
        sides = _body(was.body), _body(now.body)
    for differing in differences(*sides):
        yield Change(*numbers, "answer", differing.place, differing.expected, differing.observed)


def _answer(reading: Reading) -> JSON:
    """Return what an answer says, None where it can't be read as a turn."""
    turn = reading.turn
    if turn is None:
        return None
    texts: JSONObject = {"text": turn.text, "thinking": turn.thinking, "refusal": turn.refusal, "stop": turn.stop}
    told = {key: value for key, value in texts.items() if value is not None}
    struck: JSONObject = {"broke off": str(reading.fault)} if reading.fault else {}
    return told | {"calls": [*map(_call, turn.calls)], "usage": usage(turn)} | struck


def _call(call: Call) -> JSON:
    raw = call.raw_arguments
    return {"name": call.name, "arguments": call.arguments if raw is None else raw}


def _body(data: bytes) -> JSON:
    try:
        return loads(data)
    except ValueError:
        return data.decode("utf-8", "backslashreplace")


def _told(entry: _Entry) -> JSON:
    recorded, request = entry.reading.recorded, entry.reading.request
    return asking(request) if request else f"{recorded.method} {recorded.url}"


def _windows(was: JSON | Missing, now: JSON | Missing) -> tuple[str, str]:
    texts = ["(nothing)" if isinstance(value, Missing) else dumps(value) for value in (was, now)]
    apart = next((at for at, (one, other) in enumerate(zip(*texts, strict=False)) if one != other), 0)
    start = max(apart - _BEFORE, 0) if max(map(len, texts)) > _SHOWN else 0
    old, new = (_window(text, start) for text in texts)
    return old, new


def _window(text: str, start: int) -> str:
    cut = text[start : start + _SHOWN]
    return f"{'...' if start else ''}{cut}{'...' if start + _SHOWN < len(text) else ''}"
