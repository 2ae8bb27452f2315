"""Everything asked and answered in one run, in order of arrival, and what of it reached the client."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from pytest_agentcontract.jsonvalue import point
from pytest_agentcontract.scenario.case import Hold
from pytest_agentcontract.scenario.observation import Exchange, Kind
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Turn, Usage


@dataclass(slots=True)
class Log:
    """The exchanges of one run; serial numbers count from 1, times from the making of the log.

    `asked` counts the requests that are no polls; `over` has the serials of what is being answered no longer: handed
    over, an error or not, or broken off.
    """

    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)
    entries: list[Exchange] = field(default_factory=list)
    asked: int = 0
    over: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def add(
        self,
        agent: str,
        kind: Kind,
        request: Request,
        answer: Turn | None,
        *,
        turn: int = 0,
        retry: bool = False,
        note: str = "",
    ) -> Exchange:
        """Record a request on its arrival."""
        exchange = Exchange(
            serial=len(self.entries) + 1,
            agent=agent,
            kind=kind,
            request=request,
            turn=turn,
            answer=answer,
            retry=retry,
            received_at=self.clock() - self.started,
            note=note,
        )
        self.entries.append(exchange)
        self.asked += kind != "poll"
        return exchange

    def __getitem__(self, serial: int) -> Exchange:
        return self.entries[serial - 1]

    def delivered(self, serial: int) -> None:
        """Note that the whole answer is handed over; an error that was scripted is no answer."""
        exchange = self[serial]
        self.over.add(serial)
        if exchange.kind != "fault":
            self.entries[serial - 1] = replace(exchange, delivered=True, sent=_reported(exchange))

    def broken_off(self, serial: int, *, begun: bool) -> None:
        """Note that an answer was cut, or that the client hung up. `begun`: its first events were sent."""
        exchange = self[serial]
        self.over.add(serial)
        self.entries[serial - 1] = replace(exchange, sent=_reported_at_first(exchange) if begun else None)

    def time_was_up(self, serial: int) -> None:
        """Note that a gate opened only because its time was up."""
        self.entries[serial - 1] = replace(self[serial], released=False)

    def gave_up_at(self, serial: int, gate: Hold) -> None:
        """Note that nobody waits any more for an answer that stands at a gate."""
        self.entries[serial - 1] = replace(self[serial], gate=gate)

    def of(self, agent: str) -> tuple[Exchange, ...]:
        """Return one agent's exchanges."""
        return tuple(exchange for exchange in self.entries if exchange.agent == agent)

    def delivered_turns(self, agent: str) -> list[int]:
        """List the numbers of the turns of an agent's script that were handed over whole."""
        return [exchange.turn for exchange in self.of(agent) if exchange.kind == "turn" and exchange.delivered]

    def gate_open(self, hold: Hold, printed: str, released: AbstractSet[str], *, over: bool) -> bool:
        """Tell whether what a held stream waits for has happened."""
        return {
            "end": lambda: over,
            "printed": lambda: hold.text in printed,
            "released": lambda: hold.text in released,
            "delivered": lambda: hold.turn in self.delivered_turns(hold.agent),
        }[hold.until]()


def _reported(exchange: Exchange) -> Usage | None:
    """Tell what usage a whole answer has told the client."""
    request = exchange.request
    asked = _LATE.get(request.wire) if request.stream else None
    silent = asked is not None and not point(request.body, asked)
    return None if exchange.answer is None or silent else exchange.answer.usage


def _reported_at_first(exchange: Exchange) -> Usage | None:
    """Tell what usage the first events of a stream have told the client, if the wire format sends any that early."""
    request, answer = exchange.request, exchange.answer
    early = answer is not None and request.stream and request.wire not in _LATE
    return Usage(answer.usage.input_tokens, answer.usage.at_first) if answer and early else None


_LATE: Mapping[str, str | None] = {
    "openai-chat": "/stream_options/include_usage",
    "openai-responses": None,
    "gemini-generate": None,
}
"""Wire formats whose streams report usage at their end; those with a place only if the request asks for it there."""
