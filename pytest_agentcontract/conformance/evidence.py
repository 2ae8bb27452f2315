"""One run as the judge reads it: who asked what, what was answered, what came next.

Everything here is derived from the case, the profile and the observation. Nothing decides; the checks do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, Literal, ParamSpec, TypeAlias, TypeVar, cast

from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.case import (
    RETURN,
    SPAWN,
    WORK,
    Case,
    Expect,
    ExpectedAgent,
    ScriptedCall,
    ScriptedTurn,
)
from pytest_agentcontract.scenario.observation import Delivery, Exchange, Kind, Observation
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wire.faults import Fault
from pytest_agentcontract.wire.request import Message, Request

ROOT = "root"

ANSWERS: frozenset[Kind] = frozenset({"turn", "poll", "beyond"})
"""The exchanges in which the model said something."""

End: TypeAlias = Literal["success", "failed", "unfinished", "contradictory"]


_P = ParamSpec("_P")
_T = TypeVar("_T")


def once(derive: Callable[Concatenate[Run, _P], _T]) -> Callable[Concatenate[Run, _P], _T]:
    """Work out what follows from a run once: a run never changes, and every check asks for the same again."""

    @wraps(derive)
    def known(run: Run, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        asked = (derive, args, *kwargs.items())
        if asked not in run.derived:
            run.derived[asked] = derive(run, *args, **kwargs)
        return cast("_T", run.derived[asked])

    return known


@dataclass(frozen=True, slots=True)
class Run:
    """One case on one runtime, after the fact. `case` is bound: it holds this run's nonces.

    `derived` is what `once` has worked out so far.
    """

    case: Case
    profile: Profile
    wire: str
    observation: Observation
    derived: dict[tuple[object, ...], object] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def delivery(self) -> Delivery:
        """What the caller was handed."""
        return self.observation.delivery

    @property
    def expect(self) -> Expect:
        """The literal data that the case states."""
        return self.case.expect

    @property
    def status(self) -> End:
        """How the run ended by its own account."""
        return self.delivery.status

    @property
    def headless(self) -> bool:
        """Whether the root has no user to converse with, so that it returns."""
        return self.case.given.mode != "interactive"

    @property
    def return_tool(self) -> str:
        """The name of the runtime's return tool; empty where it declares none."""
        binding = self.profile.tools.get("return")
        return binding.name if binding else ""

    @property
    def children(self) -> tuple[str, ...]:
        """The scripted sub-agents."""
        return tuple(agent for agent in self.case.script if agent != ROOT)

    @once
    def own(self, agent: str) -> tuple[Exchange, ...]:
        """Return the agent's own conversation: its requests without side calls, in order of arrival."""
        return tuple(exchange for exchange in self.observation.of(agent) if exchange.kind != "side")

    @once
    def answered(self, agent: str) -> tuple[Exchange, ...]:
        """Return the agent's exchanges whose answer was delivered whole."""
        return tuple(exchange for exchange in self.own(agent) if exchange.delivered and exchange.kind in ANSWERS)

    def following(self, exchange: Exchange) -> Exchange | None:
        """Return the agent's next request, or None where it made no other."""
        return next((later for later in self.own(exchange.agent) if later.serial > exchange.serial), None)

    def scripted(self, exchange: Exchange) -> ScriptedTurn:
        """Return the script's entry that an exchange was answered from; an empty one for the rest."""
        turns = self.case.script.get(exchange.agent, ())
        if exchange.kind not in ("turn", "fault") or not turns or not exchange.turn:
            return ScriptedTurn()
        return turns[min(exchange.turn, len(turns)) - 1]

    def spoken(self, agent: str) -> tuple[str, ...]:
        """Return the texts that the model said to an agent and that were delivered, empty ones left out."""
        answers = (exchange.answer for exchange in self.answered(agent))
        return tuple(answer.text for answer in answers if answer and answer.text and answer.text.strip())

    @once
    def expected(self, agent: str) -> ExpectedAgent:
        """Return what the case states about one agent; for the root, the run's result is part of it."""
        stated = self.expect.agents.get(agent, ExpectedAgent())
        result = self.expect.result
        if agent != ROOT or result is None:
            return stated
        return ExpectedAgent(result.status, result.value, stated.requests, stated.nudges)

    def parent(self, child: str) -> str:
        """Return the agent whose script starts the child."""
        starts = ((agent, call) for agent in self.case.script for call in self.calls_of(agent))
        return next((agent for agent, call in starts if call.tool == SPAWN and call.agent == child), ROOT)

    def calls_of(self, agent: str) -> Iterator[ScriptedCall]:
        """Yield every tool call of an agent's script."""
        return (call for turn in self.case.script.get(agent, ()) for call in turn.calls)

    @once
    def finishes(self, agent: str) -> tuple[Exchange, ...]:
        """Return the agent's finishes without a reply: delivered turns of its script that hold no tool call."""
        turns = (exchange for exchange in self.answered(agent) if exchange.kind == "turn")
        return tuple(exchange for exchange in turns if exchange.answer and not exchange.answer.calls)

    def faulted(self, kind: type[Fault]) -> tuple[Exchange, ...]:
        """Return the exchanges that a fault of this kind struck."""
        struck = (exchange for exchange in self.observation.exchanges if exchange.kind == "fault")
        return tuple(exchange for exchange in struck if isinstance(self.scripted(exchange).fault, kind))

    def plain_finishes(self, agent: str) -> tuple[Exchange, ...]:
        """Return the finishes that the model itself chose: none that was cut off or refused."""
        chosen = {"length", "refusal"}
        return tuple(finish for finish in self.finishes(agent) if self.scripted(finish).stop not in chosen)

    def cap(self, agent: str) -> int | None:
        """Return how many model requests the agent may make, by the case or by the profile's declaration."""
        asked = self.case.given.max_turns if agent == ROOT else None
        return self.profile.limits.steps if asked is None else asked

    def steps(self, agent: str) -> int:
        """Count the agent's requests as the step cap does: a retry of one request is no further step."""
        return sum(not exchange.retry for exchange in self.own(agent))


def whole_reply(call: ScriptedCall) -> bool:
    """Tell whether a call is a reply with a payload, as the binding builds it."""
    built = call.value is not MISSING and call.arguments is MISSING and not call.broken
    return call.tool == RETURN and built and not call.unadvertised


def first_work(case: Case) -> str:
    """Return the mark of the first agent's first `$work` call; empty where the script has none."""
    routed = (one.fields.get("agent") for one in case.expect.route)
    first = next((agent for agent in routed if isinstance(agent, str)), ROOT)
    calls = (call for turn in case.script.get(first, ()) for call in turn.calls)
    return next((call.mark for call in calls if call.tool == WORK and not call.broken), "")


def heard(request: Request) -> tuple[str, ...]:
    """Return every text block and tool result that a request carries, the agent's own words left out."""
    return tuple(_texts(message for message in request.messages if message.role != "assistant"))


def news(before: Request, after: Request) -> tuple[str, ...]:
    """Return what a later request carries beyond an earlier one, repeated texts counted."""
    return tuple((Counter(heard(after)) - Counter(heard(before))).elements())


def told_by_user(before: Request, after: Request) -> tuple[str, ...]:
    """Return the texts, not tool results, that a later request carries beyond an earlier one: a nudge is one.

    Of a message to which more was added, only that counts.
    """
    said, says = Counter(_said(before)), Counter(_said(after))
    grown = sorted(said - says, key=len, reverse=True)
    return tuple(_beyond(grown, text) for text in (says - said).elements())


def status_words(delivery: Delivery) -> str:
    """Say in a few words how a run ended."""
    code = "no exit code" if delivery.exit_code is None else f"exit code {delivery.exit_code}"
    flag = {None: "no failure flag", True: "failure flag up", False: "failure flag down"}[delivery.failed]
    return f"{delivery.status} ({flag}, {code})" if delivery.ended == "exited" else f"{delivery.ended} ({code})"


def serials(exchanges: Iterable[Exchange]) -> str:
    """Name requests by their serial numbers, the first few of many."""
    numbers = [str(exchange.serial) for exchange in exchanges]
    return ", ".join(numbers[:6]) + (f" and {len(numbers) - 6} more" if numbers[6:] else "")


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield from message.texts
        yield from (result.text for result in message.results)


def _beyond(earlier: Iterable[str], text: str) -> str:
    return next((text.removeprefix(start) for start in earlier if text.startswith(start)), text)


def _said(request: Request) -> Iterator[str]:
    return (text for message in request.messages if message.role != "assistant" for text in message.texts if text)
