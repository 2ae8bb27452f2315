"""How an agent returns: one table of states and events, and the two bounds on it.

Every rule of returning lives in `returns`, `TABLE` and `advance`. A returning agent works until it has replied or has
failed; an interactive root converses and parks. A move that draws takes one unit of the nudge budget, and an agent
that has none left fails instead. Each model answer costs a step, and the last allowed one still counts: only the
wish for one more is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from pytest_agentcontract.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class Role:
    """What an agent is in its run."""

    is_root: bool
    interactive: bool


def returns(role: Role) -> bool:
    """Tell whether an agent returns: all do but the root of a conversation. The one fact behind all three gates."""
    return not (role.is_root and role.interactive)


class State(StrEnum):
    """Where an agent stands."""

    WORKING = "working"
    CONVERSING = "conversing"
    PARKED = "parked"
    RETURNED = "returned"
    FAILED = "failed"
    CLOSED = "closed"


class Event(StrEnum):
    """What happened to an agent: how a model answer landed, or what came from outside."""

    REPLIED = "replied"
    REJECTED = "rejected"
    NO_REPLY = "no-reply"
    TOOLS = "tools"
    CAPPED = "capped"
    FAULT = "fault"
    CANCELLED = "cancelled"
    LINE = "line"
    END_OF_INPUT = "end-of-input"


ASKING: Final = frozenset({State.WORKING, State.CONVERSING})
"""The states in which an agent makes a model request."""

ENDED: Final = frozenset({State.RETURNED, State.FAILED, State.CLOSED})
"""The states that nothing leads out of."""

STEPS: Final = frozenset({Event.REPLIED, Event.REJECTED, Event.NO_REPLY, Event.TOOLS})
"""The events that are the end of one step."""

NO_REPLY, REPLY_REJECTED, STEP_CAP = "no_reply", "reply_rejected", "step_cap"
PROVIDER_ERROR, CANCELLED = "provider_error", "cancelled"


@dataclass(frozen=True, slots=True)
class Move:
    """One cell of the table. `reason` is why the agent failed, if this move fails it (now, or for lack of budget)."""

    to: State
    draws: bool = False
    reason: str = ""


TABLE: Final[Mapping[State, Mapping[Event, Move]]] = MappingProxyType(
    {
        State.WORKING: {
            Event.REPLIED: Move(State.RETURNED),
            Event.REJECTED: Move(State.WORKING, draws=True, reason=REPLY_REJECTED),
            Event.NO_REPLY: Move(State.WORKING, draws=True, reason=NO_REPLY),
            Event.TOOLS: Move(State.WORKING),
            Event.CAPPED: Move(State.FAILED, reason=STEP_CAP),
            Event.FAULT: Move(State.FAILED, reason=PROVIDER_ERROR),
            Event.CANCELLED: Move(State.FAILED, reason=CANCELLED),
        },
        State.CONVERSING: {
            Event.REPLIED: Move(State.CONVERSING),
            Event.REJECTED: Move(State.CONVERSING),
            Event.NO_REPLY: Move(State.PARKED),
            Event.TOOLS: Move(State.CONVERSING),
            Event.CAPPED: Move(State.PARKED, reason=STEP_CAP),
            Event.FAULT: Move(State.PARKED, reason=PROVIDER_ERROR),
            Event.CANCELLED: Move(State.CLOSED, reason=CANCELLED),
        },
        State.PARKED: {
            Event.LINE: Move(State.CONVERSING),
            Event.END_OF_INPUT: Move(State.CLOSED),
            Event.CANCELLED: Move(State.CLOSED, reason=CANCELLED),
        },
        State.RETURNED: {},
        State.FAILED: {},
        State.CLOSED: {},
    }
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One event with what it brought: a reply's `value`, and what else the model's message held."""

    event: Event
    value: JSON = None
    prose: str = ""
    thinking: str = ""
    stop: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """One agent from its seed to its end: where it stands, and what it has used of its two bounds.

    `value` is what it returned, once it has.
    """

    state: State
    nudge_budget: int
    step_cap: int
    nudges: int = 0
    steps: int = 0
    value: JSON = None
    reason: str = ""


def advance(progress: Progress, seen: Seen) -> Progress:
    """Return where an agent stands after `seen`; an event that its state does not know is a LookupError."""
    move = _move(progress.state, seen.event)
    steps = 0 if seen.event is Event.LINE else progress.steps + (seen.event in STEPS)
    if move.draws and progress.nudges >= progress.nudge_budget:
        return replace(progress, state=State.FAILED, steps=steps, reason=move.reason)
    after = replace(
        progress,
        state=move.to,
        steps=steps,
        nudges=progress.nudges + move.draws,
        value=seen.value if move.to is State.RETURNED else None,
        reason="" if move.draws else move.reason,
    )
    return _capped(after)


def _capped(progress: Progress) -> Progress:
    if progress.state not in ASKING or progress.steps < progress.step_cap:
        return progress
    move = _move(progress.state, Event.CAPPED)
    return replace(progress, state=move.to, reason=move.reason)


def _move(state: State, event: Event) -> Move:
    try:
        return TABLE[state][event]
    except KeyError:
        message = f"an agent that is {state} can't meet the event {event}"
        raise LookupError(message) from None
