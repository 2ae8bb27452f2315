"""Who runs next. `PRECEDENCE` is the contract's order of rules; the first one that has an answer decides.

A rule is a function of the facts that returns a `Decision`, or None where it has nothing to say. Anything that does not
add up - a name nobody bears, two destinations at once - holds for a human: a guess would be a silent misroute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import AgentRunConfig, Dispatch, Phase, Status, Stop
from pytest_agentcontract.contract.workflow import Step, Workflow


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when an agent has run: what it decided, where the workflow stands, who waits for it.

    `decision` is a Diagnostic where a sentinel could not be read. A run that failed decided nothing, whatever it said.
    """

    workflow: Workflow
    agent: str
    decision: AgentRunConfig | Diagnostic | None = None
    step: str | None = None
    callback: str | None = None
    called_by: str | None = None
    failed: bool = False

    @property
    def config(self) -> AgentRunConfig | None:
        """Return the agent's own decision, if it made one that can be read."""
        return self.decision if isinstance(self.decision, AgentRunConfig) and not self.failed else None

    @property
    def diagnostic(self) -> Diagnostic | None:
        """Return why the agent's decision could not be read, if that is so."""
        return self.decision if isinstance(self.decision, Diagnostic) and not self.failed else None

    @property
    def return_address(self) -> str | None:
        """Return who gets control back; an agent is never its own return address."""
        return self.callback if self.callback != self.agent else None


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows: who runs `next` (at once, or after a human), and the state that is posted.

    `rule` names the rule that decided. `dispatch` is what is posted as the run's end, with its origin. `stop` says that
    a human is told, and why.
    """

    rule: str
    dispatch: Dispatch
    next: str | None
    step: str | None
    status: Phase = Phase.RUNNING
    callback: str | None = None
    called_by: str | None = None
    stop: Stop | None = None


Rule = Callable[[Facts], Decision | None]


def own_function_call(facts: Facts) -> Decision | None:
    """Run the agent that this one called by name, and keep the way back."""
    call = facts.config.function_call if facts.config else None
    if call is None:
        return None
    back = facts.agent if call.callback is None else call.callback
    stranger = next((name for name in (call.agent_name, back) if name not in facts.workflow.roles), None)
    if stranger is not None:
        return _hold(facts, "own_function_call", f"function_call names the unknown agent '{stranger}'")
    return Decision(
        rule="own_function_call",
        dispatch=_own_dispatch(facts),
        next=call.agent_name,
        step=facts.step,
        callback=back if back != call.agent_name else None,
        called_by=facts.agent,
    )


def own_stop(facts: Facts) -> Decision | None:
    """Honour a hold, a loop or a terminate; a caller goes on waiting unless it is the end."""
    dispatch = facts.config.dispatch if facts.config else None
    if dispatch is None or dispatch.status is Status.ADVANCE:
        return None
    status, stop = STOPS[dispatch.status]
    over = status is Phase.ENDED
    return Decision(
        rule="own_stop",
        dispatch=dispatch,
        next=None if over else facts.agent,
        step=facts.step,
        status=status,
        callback=None if over else facts.callback,
        called_by=None if over else facts.called_by,
        stop=stop,
    )


def own_destination(facts: Facts) -> Decision | None:
    """Go to the step, the role or the workflow that the agent named: all it named must be the same step."""
    named = _destinations(facts)
    if not named:
        return None
    lost = next((f"{field} names the unknown '{name}'" for field, name, step in named if step is None), None)
    steps = {step.id: (f"{field} '{name}'", step) for field, name, step in named if step is not None}
    if lost or len(steps) != 1:
        both = " and ".join(f"{what} (step '{step.id}')" for what, step in steps.values())
        return _hold(facts, "own_destination", lost or f"the decision names different steps: {both}")
    return _enter(facts, "own_destination", next(iter(steps.values()))[1])


def registered_callback(facts: Facts) -> Decision | None:
    """Give control back to the caller of an agent that is done and named no way on."""
    return _back(facts, "registered_callback", _own_dispatch(facts), None) if facts.config else None


def workflow_edge(facts: Facts) -> Decision | None:
    """Follow the workflow from an agent that is done and that nobody waits for; a terminal step ends it."""
    here = facts.workflow.step(facts.step) if facts.step is not None else None
    if facts.config is None or here is None:
        return None
    if here.terminal:
        return Decision("workflow_edge", _own_dispatch(facts), None, here.id, Phase.ENDED, stop=Stop.TERMINAL)
    ahead = facts.workflow.step(here.next) if here.next is not None else None
    return _enter(facts, "workflow_edge", ahead) if ahead else None


def no_action_default(facts: Facts) -> Decision:
    """Make up for a missing decision or way on: back to the caller if one waits, else hold; never along the edge."""
    if facts.config is not None:
        where = f"step '{facts.step}'" if facts.step is not None else "a run outside the workflow"
        return _hold(facts, "no_action_default", f"no-action default: {where} has no next step and nobody to return to")
    hold = Dispatch.fallback_for(None, facts.diagnostic)
    back = Dispatch.fallback_for(facts.return_address, facts.diagnostic)
    return _back(facts, "no_action_default", back, hold.reason) or _held(facts, "no_action_default", hold)


PRECEDENCE: Final[tuple[Rule, ...]] = (
    own_function_call,
    own_stop,
    own_destination,
    registered_callback,
    workflow_edge,
    no_action_default,
)

STOPS: Final = {
    Status.HOLD: (Phase.AWAITING_HUMAN, Stop.HOLD),
    Status.LOOP: (Phase.RUNNING, None),
    Status.TERMINATE: (Phase.ENDED, Stop.TERMINATE),
}


def decide(facts: Facts) -> Decision:
    """Apply the rules in order; the last one always has an answer."""
    return next(answer for answer in (rule(facts) for rule in PRECEDENCE) if answer)


def _destinations(facts: Facts) -> list[tuple[str, str, Step | None]]:
    """List what the decision names, field by field, with the step it resolves to; None where nothing bears the name."""
    config, workflow = facts.config, facts.workflow
    if config is None:
        return []
    dispatch = config.dispatch or Dispatch(Status.ADVANCE)
    roles = [("task", config.task), ("task_hint", dispatch.task_hint)]
    found = [(field, name, workflow.first_of(name)) for field, name in roles if name is not None]
    if dispatch.step is not None:
        found.append(("step", dispatch.step, workflow.step(dispatch.step)))
    whole = dispatch.workflow
    if whole is None or (whole == workflow.name and found):
        return found
    return [*found, ("workflow", whole, workflow.first if whole == workflow.name else None)]


def _enter(facts: Facts, rule: str, step: Step) -> Decision:
    """Move to a step, which ends what any callback was for; a gate holds before the step's agent runs."""
    gate = step.human_gate
    return Decision(
        rule=rule,
        dispatch=_own_dispatch(facts),
        next=step.agent,
        step=step.id,
        status=Phase.AWAITING_HUMAN if gate else Phase.RUNNING,
        stop=Stop.HUMAN_GATE if gate else None,
    )


def _back(facts: Facts, rule: str, dispatch: Dispatch, unreturned: str | None) -> Decision | None:
    """Return to the caller, if one waits; one that nobody knows is a hold."""
    caller = facts.return_address
    if caller is None:
        return None
    if caller not in facts.workflow.roles:
        stranger = f"the callback names the unknown agent '{caller}'"
        return _hold(facts, rule, f"{unreturned}; {stranger}" if unreturned else stranger)
    return Decision(rule=rule, dispatch=dispatch, next=caller, step=facts.step)


def _hold(facts: Facts, rule: str, reason: str) -> Decision:
    return _held(facts, rule, Dispatch.no_action_default(reason))


def _held(facts: Facts, rule: str, dispatch: Dispatch) -> Decision:
    """Stop where we are: after a human's answer the same agent goes on, and its caller still waits."""
    return Decision(
        rule=rule,
        dispatch=dispatch,
        next=facts.agent,
        step=facts.step,
        status=Phase.AWAITING_HUMAN,
        callback=facts.callback,
        called_by=facts.called_by,
        stop=Stop.HOLD,
    )


def _own_dispatch(facts: Facts) -> Dispatch:
    """Return the agent's own advance, or the one that its call or task amounts to."""
    own = facts.config.dispatch if facts.config else None
    return own if own and own.status is Status.ADVANCE else Dispatch(Status.ADVANCE)
