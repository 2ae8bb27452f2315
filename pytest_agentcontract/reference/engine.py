"""The hand-off engine: one invocation runs at most one agent over a thread of comments, and posts what came of it.

Nothing is remembered between two invocations: where the workflow stands is read from the thread, and posted there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import Phase, Stop, WorkflowState
from pytest_agentcontract.contract.returning import Role, State
from pytest_agentcontract.contract.routing import Decision, Facts
from pytest_agentcontract.contract.sentinel import MARKER, payload_of
from pytest_agentcontract.contract.thread import STATE_MARKER, Comment, Event, Kind, notice_body, state_line
from pytest_agentcontract.contract.workflow import Workflow
from pytest_agentcontract.errors import HandoffError, UsageError
from pytest_agentcontract.reference import desk
from pytest_agentcontract.reference.agent import Agent
from pytest_agentcontract.reference.clients import connect
from pytest_agentcontract.reference.control import ControlPlane
from pytest_agentcontract.reference.desk import Desk
from pytest_agentcontract.reference.handoff_rules import Found
from pytest_agentcontract.reference.rules import Rules
from pytest_agentcontract.reference.run import Run
from pytest_agentcontract.reference.session import Ended
from pytest_agentcontract.scenario.start import Result, Start

_LINES_OF_THE_ENGINE: Final = (MARKER, STATE_MARKER)


async def handoff(start: Start, rules: Rules) -> Ended:
    """Carry out one invocation; that an agent failed is part of what it posts, not a failure of its own."""
    if start.handoff is None:
        raise UsageError("a hand-off needs a workflow and a thread")
    paths = start.handoff
    workflow, event = desk.workflow_in(paths.workflow), desk.event_in(paths.event) if paths.event else None
    with desk.opened(paths.thread) as thread:
        engine = Engine(start, rules, workflow, thread, event)
        ran = await engine.invoke()
    return Ended(Result({"type": "handoff", "agent": ran, "posted": [comment.id for comment in thread.posted]}))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the workflow stands, by which comment (None: it has not started), and whether its stop is announced.

    `fault` says why the state of that comment is none to go on from.
    """

    state: WorkflowState
    comment: Comment | None = None
    announced: bool = False
    fault: str = ""


class Engine:
    """One invocation."""

    def __init__(self, start: Start, rules: Rules, workflow: Workflow, thread: Desk, event: Event | None) -> None:
        self._start, self._rules, self._workflow = start, rules, workflow
        self._thread, self._event = thread, event
        self._trigger = thread.comment(event.comment) if event else None
        if event and self._trigger is None:
            raise HandoffError(f"the event names the unknown comment {event.comment!r}", where=str(thread.folder))

    async def invoke(self) -> str | None:
        """Announce a stop that was not announced yet, then run the agent that is due, if one is; return its name."""
        place = self._last() or self._beginning()
        if place is None:
            return None
        if not place.announced:
            self._announce(place.state)
        if not self._is_due(place) or place.state.next is None:
            return None
        return await self._run(place.state.next, self._consuming(place))

    # ---- where the workflow stands

    def _last(self) -> Place | None:
        """Read the thread up to its last state; one that can't be gone on from is an error."""
        place: Place | None = None
        for comment in filter(self._rules.handoff.believes, self._thread.comments):
            place = self._place(comment, place) or place
        fault = place and (place.fault or self._unknown(place.state))
        if fault:
            raise HandoffError(f"the last posted state {fault}", where=str(self._thread.folder))
        return place

    def _place(self, comment: Comment, before: Place | None) -> Place | None:
        """Read one comment: its state, or what follows from the decision of one of the older kind."""
        rules = self._rules.handoff
        record = rules.read(comment.body, rules.model)
        here = before.state if before else self._outset()
        if isinstance(record.state, Diagnostic):
            return Place(here, comment, fault=f"can't be read: {record.state}")
        if record.state is not None:
            return Place(record.state, comment, rules.announced(comment))
        if comment.agent is None:
            return None
        step = None if before else self._workflow.first_of(comment.agent)
        here = replace(here, step=step.id) if step else here
        return Place(self._after(here, self._facts(here, comment.agent, record.config))[1], comment)

    def _unknown(self, state: WorkflowState) -> str:
        """Say what a state names that the workflow does not know; on such a state no agent may run."""
        workflow = self._workflow
        known = {
            f"the workflow {state.workflow!r}": state.workflow == workflow.name,
            f"the step {state.step!r}": workflow.step(state.step) is not None,
            f"the agent {state.next!r}": state.next is None or state.next in workflow.roles,
        }
        lost = next((what for what, is_known in known.items() if not is_known), None)
        return f"names {lost}, which the workflow {workflow.name!r} does not know" if lost else ""

    def _beginning(self) -> Place | None:
        """Start the workflow, if it is a human's comment that calls for it; a gate holds at once."""
        cause = self._trigger or self._thread.issue
        if cause is None:
            raise HandoffError("holds no comment of a human", where=str(self._thread.folder))
        if cause.kind is not Kind.HUMAN:
            return None
        state = replace(self._outset(), started_by=cause.author)
        if not self._workflow.first.human_gate:
            return Place(state)
        held = replace(state, status=Phase.AWAITING_HUMAN, stop=Stop.HUMAN_GATE)
        return Place(self._consuming(Place(held)))

    def _outset(self) -> WorkflowState:
        first = self._workflow.first
        return WorkflowState(self._workflow.name, first.id, next=first.agent)

    # ---- whether anybody runs

    def _is_due(self, place: Place) -> bool:
        """Tell whether this invocation runs an agent: one event, one run."""
        running, event = place.state.status is Phase.RUNNING, self._event
        if event is None:
            return running
        if self._rules.handoff.consumed(place.state, event):
            return False
        if self._trigger is not None and self._trigger.kind is Kind.HUMAN:
            return place.comment is None if running else place.state.status is Phase.AWAITING_HUMAN
        return running and self._trigger == place.comment

    def _consuming(self, place: Place) -> WorkflowState:
        """Note what caused this run, so that it causes no other."""
        cause = self._trigger or place.comment or self._thread.issue
        state, event = place.state, self._event
        events = (event.id,) if event and event.id not in state.consumed_events else ()
        comments = (cause.id,) if cause and cause.id not in state.consumed_comments else ()
        return replace(
            state,
            consumed_events=(*state.consumed_events, *events),
            consumed_comments=(*state.consumed_comments, *comments),
        )

    # ---- a run and what comes of it

    async def _run(self, name: str, state: WorkflowState) -> str:
        rules, control = self._rules.handoff, ControlPlane(self._rules.handoff.model)
        step_cap = self._rules.step_cap if self._start.max_turns is None else self._start.max_turns
        team = rules.section(self._workflow.roles, name, state.called_by, state.callback)
        async with replace(connect(self._start.env, self._rules), model=name) as client:
            run = Run(self._rules, client, self._start.workdir, step_cap, self._start.read_line)
            agent = Agent(run, Role(is_root=True, interactive=False), name, team=team, control=control)
            end = await agent.work(self._task(state))
        failed = end.state is not State.RETURNED
        said = self._rules.for_parent(end.value, agent.trail) if not failed else ""
        found = rules.prefer(control.config, rules.parse(said, rules.model))
        facts = replace(self._facts(state, name, found), failed=failed)
        text = said if not failed else self._rules.failure_tag(name, end.reason, agent.trail)
        self._post(text, facts, state)
        return name

    def _facts(self, state: WorkflowState, agent: str, found: Found) -> Facts:
        return Facts(self._workflow, agent, found, state.step, state.callback, state.called_by)

    def _after(self, state: WorkflowState, facts: Facts) -> tuple[Decision, WorkflowState]:
        """Decide what follows a run, and make the state of it."""
        decision = self._rules.handoff.decide(facts)
        return decision, replace(
            state,
            step=decision.step or state.step,
            agent=facts.agent,
            next=decision.next,
            called_by=decision.called_by,
            status=decision.status,
            stop=decision.stop,
            dispatch=decision.dispatch,
            callback=decision.callback,
        )

    def _post(self, text: str, facts: Facts, before: WorkflowState) -> None:
        rules = self._rules.handoff
        decision, after = self._after(before, facts)
        state = rules.state(after)
        lines = [rules.render(rules.record(facts, decision)), state_line(state)]
        self._thread.post("\n".join([*([rules.harmless(text), ""] if text else []), *lines]), facts.agent)
        self._announce(state)

    def _announce(self, state: WorkflowState) -> None:
        """Tell one human of a stop; where the workflow goes on there is no notice."""
        rules, issue, trigger = self._rules.handoff, self._thread.issue, self._trigger
        authors = [comment.author if comment else None for comment in (issue, trigger)]
        mention = rules.recipient(state.started_by, *authors)
        notice = rules.notice(replace(state, started_by=mention))
        if notice is not None:
            self._thread.post(notice_body(notice, state))

    # ---- what the agent works on

    def _task(self, state: WorkflowState) -> str:
        head = f"This is step {state.step} of the workflow {state.workflow}. The thread so far:"
        return "\n\n".join([head, *map(_shown, self._thread.comments)])


def _shown(comment: Comment) -> str:
    """Show a comment to an agent, without the lines that the engine has written for itself."""
    lines = comment.body.split("\n")
    kept = [line for line in lines if all(payload_of(marker, line) is None for marker in _LINES_OF_THE_ENGINE)]
    return f"--- {comment.agent or comment.author}:\n" + "\n".join(kept).strip()
