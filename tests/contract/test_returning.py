"""The table of returning: every cell, and the two bounds."""

from __future__ import annotations

from functools import reduce

import pytest

from pytest_agentcontract.contract.returning import (
    ASKING,
    ENDED,
    TABLE,
    Event,
    Progress,
    Role,
    Seen,
    State,
    advance,
    returns,
)


def after(*events: Event, state: State = State.WORKING, nudges: int = 3, cap: int = 30) -> Progress:
    """Return where an agent stands after `events`."""
    return reduce(advance, map(Seen, events), Progress(state, nudges, cap))


@pytest.mark.parametrize(
    ("is_root", "interactive", "expected"),
    [(True, False, True), (True, True, False), (False, False, True), (False, True, True)],
)
def test_everybody_returns_but_the_root_of_a_conversation(is_root, interactive, expected):
    """The axis is returning against conversing, not sub-agent against root."""
    assert returns(Role(is_root, interactive)) is expected


def test_every_state_has_its_row():
    """The table is complete in its states, and nothing leads out of an end."""
    assert set(TABLE) == set(State)
    assert {state for state, row in TABLE.items() if not row} == ENDED


def test_a_move_that_can_fail_says_why():
    """Whatever fails an agent, now or for lack of budget, has a reason."""
    moves = [move for row in TABLE.values() for move in row.values()]
    assert all(move.reason for move in moves if move.draws or move.to is State.FAILED)


def test_an_event_that_a_state_does_not_know_is_an_error():
    """An agent that has returned meets nothing any more."""
    with pytest.raises(LookupError, match="returned can't meet the event tools"):
        after(Event.REPLIED, Event.TOOLS)


def test_a_reply_returns_its_value():
    """The value of the reply is the value of the agent, also an empty one."""
    end = advance(Progress(State.WORKING, 3, 30), Seen(Event.REPLIED, {}))
    assert (end.state, end.value, end.reason) == (State.RETURNED, {}, "")


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_nudges_end_with_their_budget(budget):
    """So many finishes without a reply are nudged, and the next one fails."""
    assert after(*[Event.NO_REPLY] * budget, nudges=budget).state is State.WORKING
    end = after(*[Event.NO_REPLY] * (budget + 1), nudges=budget)
    assert (end.state, end.reason, end.nudges) == (State.FAILED, "no_reply", budget)


def test_rejections_draw_on_the_same_budget():
    """The reason names what came last."""
    end = after(Event.NO_REPLY, Event.REJECTED, Event.NO_REPLY, Event.REJECTED)
    assert (end.state, end.reason) == (State.FAILED, "reply_rejected")


def test_tool_work_refills_nothing():
    """The budget runs from seed to end."""
    assert after(*[Event.NO_REPLY, Event.TOOLS] * 3, Event.NO_REPLY).state is State.FAILED


def test_the_step_cap_bounds_tool_work():
    """The last allowed step is made; one more is not."""
    assert after(*[Event.TOOLS] * 4, cap=5).state is State.WORKING
    end = after(*[Event.TOOLS] * 5, cap=5)
    assert (end.state, end.reason, end.steps) == (State.FAILED, "step_cap", 5)


def test_nudge_rounds_are_steps():
    """The cap bounds them too."""
    assert after(Event.TOOLS, Event.NO_REPLY, cap=2).reason == "step_cap"


def test_a_reply_in_the_last_allowed_step_succeeds():
    """The cap refuses the wish for one more step, not the step itself."""
    assert after(Event.NO_REPLY, Event.REPLIED, cap=2).state is State.RETURNED


def test_an_interactive_root_parks_in_prose_and_is_never_nudged():
    """Prose is its turn's end, however often."""
    seen = (Event.LINE, Event.TOOLS, Event.NO_REPLY) * 5
    end = after(*seen, state=State.PARKED)
    assert (end.state, end.nudges) == (State.PARKED, 0)


def test_each_line_of_a_conversation_has_its_own_steps():
    """The cap ends a turn, not the session."""
    parked = after(Event.LINE, Event.TOOLS, Event.TOOLS, state=State.PARKED, cap=2)
    assert (parked.state, parked.reason) == (State.PARKED, "step_cap")
    again = advance(parked, Seen(Event.LINE))
    assert (again.state, again.steps, again.reason) == (State.CONVERSING, 0, "")


def test_a_fault_fails_an_agent_that_returns_and_parks_one_that_converses():
    """A user can say something else; a caller gets an honest failure."""
    assert after(Event.FAULT).reason == "provider_error"
    assert after(Event.FAULT, state=State.CONVERSING).state is State.PARKED


def test_asking_and_ended_states_are_apart():
    """No agent that is at its end asks the model."""
    assert not ASKING & ENDED
