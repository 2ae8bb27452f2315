"""The scripted model: whose request is this, and which turn answers it.

One request runs down the rules of `Script`; the first that has an answer gives it. An agent's cursor moves on when a
turn of its script is handed out; the same request again, once that answer was broken off, gets the same turn again. A
fault uses up the attempt and not the turn, unless nothing but the fault stands in the entry.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, cast

from pytest_agentcontract.scenario import awaiting
from pytest_agentcontract.scenario.attribution import SIGN_PLACES, Headers, claimants, of_case, side_call, signs
from pytest_agentcontract.scenario.binding import Nonces, Places, bind_turn, token, tool_name
from pytest_agentcontract.scenario.case import WORK, Case, ScriptedCall, ScriptedTurn, gates
from pytest_agentcontract.scenario.conditions import Sight, met
from pytest_agentcontract.scenario.cursor import Answer, Cursor
from pytest_agentcontract.scenario.log import Log
from pytest_agentcontract.scenario.nearest import explained, news, uncallable
from pytest_agentcontract.scenario.observation import Exchange, Kind
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wire.faults import Fault, StatusFault, shows_content
from pytest_agentcontract.wire.request import Request, ToolChoice
from pytest_agentcontract.wire.turn import Turn, Usage

MOST_POLLS = 50
POLL_DELAY = 0.02
AFTER_THE_END = "(end of script)"

_UNBOUNDED = 200
_SLACK = 10
_REFUSED = 400
_COUNTED = "x-stainless-retry-count"


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request, and whose it is: `cursor` is that of the first claimant (of nobody, if there is none).

    `again` is the answer that never arrived, if this is a retry.
    """

    request: Request
    claimants: tuple[str, ...]
    cursor: Cursor
    again: Answer | None = None


class Script:
    """One case as a model. `case` has been bound to `nonces`. Not thread-safe: the server's loop owns it.

    `strict` is for a script that is no case: what it does not say is refused, and nothing bounds how much it says.
    """

    def __init__(
        self,
        case: Case,
        profile: Profile,
        nonces: Nonces,
        workdir: Path,
        *,
        strict: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.log = Log(clock)
        self.places = Places(nonces, workdir, {agent: _seed_prompt(agent, nonces.public) for agent in case.script})
        self.gates = gates(case.script)
        self._case, self._profile = case, of_case(case, profile)
        self._signs = signs(tuple(case.script), self._profile, nonces.public)
        self._cursors = {agent: Cursor(agent, entries) for agent, entries in case.script.items()}
        self._strict = strict
        self._budget = None if strict else _budget(case, profile)
        self._polls = 0

    @property
    def prompt(self) -> str:
        """What the runtime is told: the case's prompt and the root's token."""
        return f"{self._case.given.prompt} {token('root', self.places.nonces.public)}".lstrip()

    @property
    def lines(self) -> tuple[str, ...]:
        """What the runtime is told line by line; the root's token stands in the first one."""
        said = tuple(say.line for say in self._case.given.conversation)
        return (f"{said[0]} {token('root', self.places.nonces.public)}", *said[1:]) if said else ()

    def answer(self, request: Request, headers: Headers) -> Answer:
        """Record a request and decide what answers it."""
        owners = claimants(self._signs, self._profile, request, headers)
        cursor = self._cursors[owners[0]] if len(owners) == 1 else Cursor("")
        counted = headers.get(_COUNTED, "0") != "0"
        ask = _Ask(request, owners, cursor, cursor.asked_again(request, self.log, counted=counted))
        return next(answer for rule in self._RULES if (answer := rule(self, ask)) is not None)

    def undecodable(self, wire: str, note: str) -> Answer:
        """Record a request whose body is no valid request of its wire format."""
        nothing = Request(wire, "", "", (), (), ToolChoice(), stream=False, body=None)
        return self._refuse(_Ask(nothing, (), Cursor("")), "unexpected", note)

    def exchanges(self) -> tuple[Exchange, ...]:
        """Return everything asked and answered so far, in order of arrival."""
        return tuple(self.log.entries)

    def left(self) -> dict[str, tuple[int, ...]]:
        """Return, by agent, the numbers of the turns that were never handed over; an optional tail is none of them."""
        found = {agent: cursor.left_over(self.log.delivered_turns(agent)) for agent, cursor in self._cursors.items()}
        return {agent: numbers for agent, numbers in found.items() if numbers}

    def unused(self) -> dict[str, int]:
        """Count, by agent, what `left` lists."""
        return {agent: len(numbers) for agent, numbers in self.left().items()}

    # ---- rules: each answers a request or leaves it to the next

    def _side(self, ask: _Ask) -> Answer | None:
        rule = side_call(self._profile, ask.request)
        if rule is None:
            return None
        turn = Turn(rule.answer, usage=Usage())
        return Answer(self._record(replace(ask, cursor=Cursor("")), "side", turn), turn)

    def _unexpected(self, ask: _Ask) -> Answer | None:
        if ask.claimants:
            return None
        expected = ", ".join(f"{mark!r} ({agent})" for agent, mark in self._signs.items())
        where = SIGN_PLACES[self._profile.attribution]
        return self._refuse(
            ask, "unexpected", f"this is no known agent's request: expected in {where} one of {expected}"
        )

    def _ambiguous(self, ask: _Ask) -> Answer | None:
        if len(ask.claimants) == 1:
            return None
        several = " and ".join(ask.claimants)
        return self._refuse(ask, "ambiguous", f"this could be a request of {several}")

    def _over_budget(self, ask: _Ask) -> Answer | None:
        if self._budget is None or self.log.asked < self._budget:
            return None
        return self._refuse(ask, "budget", f"this case's budget of {self._budget} model requests is used up")

    def _after_withheld(self, ask: _Ask) -> Answer | None:
        if not ask.cursor.withheld:
            return None
        return self._refuse(ask, "withheld", f"a turn of {ask.cursor.agent} was withheld, and nothing follows it")

    def _again(self, ask: _Ask) -> Answer | None:
        before = ask.again
        if before is None:
            ask.cursor.go_on(ask.request)
        if before is None:
            return None
        if before.exchange.kind == "fault":
            return self._after_final(ask, before.exchange)
        exchange = self._record(ask, before.exchange.kind, before.turn, before.exchange.turn)
        return self._hand_out(ask, replace(before, exchange=exchange))

    def _after_final(self, ask: _Ask, struck: Exchange) -> Answer | None:
        if not ask.cursor.gave_up(struck.turn):
            return None
        why = f"it was asked again after a fault that was final ({struck.note}, request {struck.serial})"
        return self._refuse(ask, "unexpected", why, struck.turn)

    def _beyond(self, ask: _Ask) -> Answer | None:
        if ask.cursor.entry is not None:
            return None
        if self._strict:
            return self._refuse(
                ask, "unexpected", f"{explained(ask.request)}, but the script of {ask.cursor.agent} ends"
            )
        turn = Turn(AFTER_THE_END)
        return self._hand_out(ask, Answer(self._record(ask, "beyond", turn), turn))

    def _unasked(self, ask: _Ask) -> Answer | None:
        entry = cast("ScriptedTurn", ask.cursor.entry)
        if not entry.asked or any(entry.asked in text for _, text in news(ask.request)):
            return None
        turn = f"turn {ask.cursor.at + 1} of {ask.cursor.agent}"
        return self._refuse(ask, "unexpected", f"{explained(ask.request)}, but {turn} awaits {entry.asked!r}")

    def _poll(self, ask: _Ask) -> Answer | None:
        entry = cast("ScriptedTurn", ask.cursor.entry)
        if self._ready(ask, entry) or self._tired(ask, entry):
            return None
        turn = self._waiting(ask, entry)
        if turn is not None:
            return self._hand_out(ask, Answer(self._record(ask, "poll", turn), turn))
        self._polls, ask.cursor.polls = self._polls + 1, ask.cursor.polls + 1
        work = ScriptedTurn(calls=(ScriptedCall(WORK, mark=f"poll-{self._polls}"),))
        return self._withhold(ask, work, 0) or self._serve(ask, work, "poll", delay=POLL_DELAY)

    def _faulted(self, ask: _Ask) -> Answer | None:
        cursor, entry = ask.cursor, cast("ScriptedTurn", ask.cursor.entry)
        if entry.fault is None or cursor.faulted:
            return None
        withheld = self._withhold(ask, entry, cursor.at + 1)
        if withheld:
            return withheld
        number = cursor.at + 1
        cursor.attempt()
        return self._fault(ask, entry, entry.fault, number)

    def _scripted(self, ask: _Ask) -> Answer:
        cursor, entry = ask.cursor, cast("ScriptedTurn", ask.cursor.entry)
        withheld = self._withhold(ask, entry, cursor.at + 1)
        if withheld:
            return withheld
        note = "" if self._ready(ask, entry) else "served although what it waits for was not seen"
        answer = self._serve(ask, entry, "turn", number=cursor.at + 1, note=note)
        cursor.advance()
        return answer

    _RULES: ClassVar[tuple[Callable[[Script, _Ask], Answer | None], ...]] = (
        _side,
        _unexpected,
        _ambiguous,
        _over_budget,
        _after_withheld,
        _again,
        _beyond,
        _unasked,
        _poll,
        _faulted,
        _scripted,
    )

    # ---- what the rules share

    def _ready(self, ask: _Ask, entry: ScriptedTurn) -> bool:
        if entry.when is None:
            return True
        agent = entry.when.agent
        sight = Sight(
            ask.request, self.log.of(agent), self._cursors.get(agent, Cursor(agent)).payloads, self._profile.failure
        )
        return met(entry.when.event, sight)

    def _tired(self, ask: _Ask, entry: ScriptedTurn) -> bool:
        awaited = self._cursors.get(entry.when.agent) if entry.when else None
        return ask.cursor.polls >= MOST_POLLS or awaited is None or awaited.withheld

    def _waiting(self, ask: _Ask, entry: ScriptedTurn) -> Turn | None:
        if entry.when is None or entry.when.event == "started":
            return None
        log, binding = self.log.of(ask.cursor.agent), self._profile.tools.get("await")
        return awaiting.waiting(binding, entry.when.agent, ask.request, ask.cursor.entries, log, self.places)

    def _withhold(self, ask: _Ask, entry: ScriptedTurn, number: int) -> Answer | None:
        needed = [tool_name(call, self._profile) for call in entry.calls if not call.unadvertised]
        why = uncallable(needed, ask.request)
        if not why:
            return None
        ask.cursor.withheld = True
        return self._refuse(ask, "withheld", f"the next turn calls {why}", number)

    def _serve(
        self, ask: _Ask, entry: ScriptedTurn, kind: Kind, *, number: int = 0, note: str = "", delay: float = 0.0
    ) -> Answer:
        turn = self._bound(ask, entry)
        exchange = self._record(ask, kind, turn, number, note)
        return self._hand_out(ask, Answer(exchange, turn, hold=entry.hold, pace=entry.pace, delay=delay))

    def _fault(self, ask: _Ask, entry: ScriptedTurn, fault: Fault, number: int) -> Answer:
        if isinstance(fault, StatusFault):
            exchange = self._record(ask, "fault", None, number, str(fault))
            return self._hand_out(ask, Answer(exchange, fault=fault, status=fault.status, message=fault.message))
        turn = self._bound(ask, entry)
        exchange = self._record(ask, "fault", turn if shows_content(fault) else None, number, str(fault))
        return self._hand_out(ask, Answer(exchange, turn, fault, pace=entry.pace))

    def _bound(self, ask: _Ask, entry: ScriptedTurn) -> Turn:
        ask.cursor.answers += 1
        return bind_turn(entry, self._profile, self.places, f"{ask.cursor.agent}_{ask.cursor.answers}")

    def _hand_out(self, ask: _Ask, answer: Answer) -> Answer:
        ask.cursor.hand_out(answer, ask.again)
        return answer

    def _refuse(self, ask: _Ask, kind: Kind, message: str, number: int = 0) -> Answer:
        exchange = self._record(ask, kind, None, number, message)
        return Answer(exchange, status=_REFUSED, message=message)

    def _record(self, ask: _Ask, kind: Kind, turn: Turn | None, number: int = 0, note: str = "") -> Exchange:
        return self.log.add(
            ask.cursor.agent, kind, ask.request, turn, turn=number, retry=ask.again is not None, note=note
        )


def _budget(case: Case, profile: Profile) -> int:
    """Bound the requests of a run: by what is declared or asked for, with room to see a bound overstepped."""
    steps = max(profile.limits.steps or 0, case.given.max_turns or 0)
    of_one = steps + (profile.limits.nudges or 0) + _SLACK
    return of_one * max(1, len(case.script)) if steps else _UNBOUNDED


def _seed_prompt(agent: str, public: str) -> str:
    return f"Do your part of the work, then report. {token(agent, public)}"
