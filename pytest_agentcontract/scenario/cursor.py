"""Where one agent stands in its script, and what it was last answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import cast

from pytest_agentcontract.jsonvalue import JSON, MISSING
from pytest_agentcontract.scenario.case import RETURN, Hold, ScriptedTurn
from pytest_agentcontract.scenario.log import Log
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.faults import UNPACED, ContentTypeFault, Fault, MalformedFault, Pace
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Turn


@dataclass(frozen=True, slots=True)
class Answer:
    """What to do with one request: a turn to send after `delay` seconds, perhaps held or cut, or an error status."""

    exchange: Exchange
    turn: Turn | None = None
    fault: Fault | None = None
    hold: Hold | None = None
    pace: Pace = UNPACED
    status: int = 200
    message: str = ""
    delay: float = 0.0

    def gone_on_from(self, request: Request) -> bool:
        """Tell whether a client that asks anew has taken this answer although a fault struck it.

        Under a wrong content type all of it was sent. Of an answer with a malformed event a client may pass that event
        over, and what tells is that it has carried the calls out.
        """
        if isinstance(self.fault, MalformedFault) and self.turn is not None:
            new = takewhile(lambda message: message.role != "assistant", reversed(request.messages))
            carried_out = {result.call_id for message in new for result in message.results}
            return any(call.id in carried_out for call in self.turn.calls)
        return isinstance(self.fault, ContentTypeFault)


@dataclass(slots=True)
class Cursor:
    """One agent's place.

    `faulted`: the entry at `at` has had its faulted attempt; `served`: entries handed out; `taken`: those that the
    client went on from although their delivery was faulted; `owed`: answers that never arrived whole, oldest first.
    """

    agent: str
    entries: tuple[ScriptedTurn, ...] = ()
    at: int = 0
    polls: int = 0
    faulted: bool = False
    withheld: bool = False
    answers: int = 0
    owed: list[Answer] = field(default_factory=list)
    served: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)

    @property
    def entry(self) -> ScriptedTurn | None:
        """The next entry, or None after the script's end."""
        return self.entries[self.at] if self.at < len(self.entries) else None

    @property
    def payloads(self) -> dict[int, tuple[JSON, ...]]:
        """What each turn returns, by the turn's number; where none calls the return tool, the answers are the texts."""
        read = _returned if any(map(_returned, self.entries)) else _answered
        return {number: tuple(read(entry)) for number, entry in enumerate(self.entries, 1)}

    def attempt(self) -> None:
        """Use up the faulted attempt: an entry that is nothing else is done, the content of another is still due."""
        entry = self.entries[self.at]
        self.faulted = not entry.repeat
        if entry.only_fault:
            self.advance()

    def advance(self) -> None:
        """Leave the entry behind, unless it is served for ever."""
        self.served.add(self.at)
        if not self.entries[self.at].repeat:
            self.at, self.polls, self.faulted = self.at + 1, 0, False

    def go_on(self, request: Request) -> None:
        """Leave a faulted entry behind if the client took it all the same: a new request goes on from that answer."""
        if not self.owed or not self.owed[-1].gone_on_from(request):
            return
        if self.faulted and self.entry is not None:
            self.taken.add(self.at)
            self.advance()
        self.owed.pop()

    def asked_again(self, request: Request, log: Log, *, counted: bool) -> Answer | None:
        """Return the answer that a request asks for once more, if it is a retry.

        The same request is one when the earlier answer is over and never arrived; while that answer is still on its
        way, only a client that has `counted` its retries says so. Such a one may also look different.
        """
        self.owed = [answer for answer in self.owed if not log[answer.exchange.serial].delivered]
        asked = [(answer, answer.exchange.request) for answer in self.owed]
        same = [answer for answer, one in asked if (one.wire, one.digest) == (request.wire, request.digest)]
        over = [answer for answer in same if answer.exchange.serial in log.over]
        return next(iter(over or ((same or self.owed[-1:]) if counted else ())), None)

    def gave_up(self, number: int) -> bool:
        """Tell whether a fault in the entry of this number ends it for good: it is `final`, and not served for ever."""
        entry = self.entries[number - 1]
        return entry.final and not entry.repeat

    def hand_out(self, answer: Answer, before: Answer | None) -> None:
        """Note what a request was answered, in place of what it was answered `before`, if it is a retry."""
        if before in self.owed:
            self.owed.remove(before)
        self.owed.append(answer)

    def left_over(self, delivered: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers of the entries that were never handed over, given the numbers of those that were."""
        whole = {number - 1 for number in delivered}
        return tuple(
            at + 1
            for at, entry in enumerate(self.entries)
            if not entry.repeat and at not in (self.served if _need_not_arrive(entry) else whole | self.taken)
        )


def _returned(entry: ScriptedTurn) -> list[JSON]:
    return [cast("JSON", call.value) for call in entry.calls if call.tool == RETURN and call.value is not MISSING]


def _answered(entry: ScriptedTurn) -> list[JSON]:
    return [entry.text] if entry.text and not entry.calls else []


def _need_not_arrive(entry: ScriptedTurn) -> bool:
    """Tell whether an entry is used once it was served: a fault alone, or an answer that is held until the end."""
    return entry.only_fault or (entry.hold is not None and entry.hold.until == "end")
