"""Wrong decisions on who runs next: each an order or an omission that a router might have, put in by a mutant."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytest_agentcontract.contract import routing
from pytest_agentcontract.contract.handoff import AgentRunConfig, Dispatch, FunctionCall, Origin, Phase, Status, Stop
from pytest_agentcontract.contract.routing import Decision, Facts, decide

_ADVANCE: Final = AgentRunConfig(dispatch=Dispatch(Status.ADVANCE))
_BY_ITSELF: Final = (Status.HOLD, Status.LOOP)


def _returned(facts: Facts) -> Decision:
    """Give control back as if the agent had advanced, if anybody waits for it."""
    return routing.registered_callback(replace(facts, decision=_ADVANCE)) or decide(facts)


def _call(facts: Facts) -> FunctionCall | None:
    return facts.config.function_call if facts.config else None


def _status(facts: Facts) -> Status | None:
    return facts.config.dispatch.status if facts.config and facts.config.dispatch else None


def _with(facts: Facts, **changes: object) -> Facts:
    """Change what the agent decided; what is left of nothing is an advance."""
    changed = replace(facts.config or _ADVANCE, **changes)  # type: ignore[arg-type]  # any field
    return replace(facts, decision=changed if changed.to_json() else _ADVANCE)


# ---- precedence


def edge_over_call(facts: Facts) -> Decision:
    """Follow the workflow wherever it goes on, whoever was called."""
    ahead = facts.workflow.step(facts.step or "")
    return decide(_with(facts, function_call=None) if _call(facts) and ahead and ahead.next else facts)


def no_stop(facts: Facts) -> Decision:
    """Take every status for an advance."""
    dispatch = facts.config.dispatch if facts.config else None
    return decide(_with(facts, dispatch=replace(dispatch, status=Status.ADVANCE)) if dispatch else facts)


def edge_over_callback(facts: Facts) -> Decision:
    """Follow the workflow before anybody who waits."""
    return _without_return(facts) if facts.config else decide(facts)


def no_edge(facts: Facts) -> Decision:
    """Hold after an advance, although the workflow goes on."""
    decision = decide(facts)
    return decision if decision.rule != "workflow_edge" else _held(facts, "no-action default: no destination was named")


def end_without_target(facts: Facts) -> Decision:
    """End the workflow where nothing comes next."""
    decision = decide(facts)
    if facts.config is None or decision.rule != "no_action_default":
        return decision
    return replace(decision, next=None, status=Phase.ENDED, stop=Stop.TERMINAL, callback=None, called_by=None)


def no_destination(facts: Facts) -> Decision:
    """Go the usual way, whatever destination a dispatch names."""
    dispatch = facts.config.dispatch if facts.config else None
    return decide(_with(facts, dispatch=Dispatch(dispatch.status, dispatch.reason)) if dispatch else facts)


def no_task(facts: Facts) -> Decision:
    """Pass over a task."""
    return decide(_with(facts, task=None) if facts.config else facts)


def nearest_name(facts: Facts) -> Decision:
    """Take a name that nobody bears for the one that it resembles."""
    call = _call(facts)
    near = call.agent_name.strip().casefold() if call else ""
    return decide(_with(facts, function_call=FunctionCall(near)) if near in facts.workflow.roles else facts)


# ---- callback


def no_way_back(facts: Facts) -> Decision:
    """Register a callback only where one is named."""
    call, decision = _call(facts), decide(facts)
    return replace(decision, callback=None) if call and call.callback is None and decision.next else decision


def always_the_caller(facts: Facts) -> Decision:
    """Return to the caller, whatever callback it names."""
    call = _call(facts)
    return decide(_with(facts, function_call=FunctionCall(call.agent_name)) if call else facts)


def callback_over_call(facts: Facts) -> Decision:
    """Return to the caller although the callee calls somebody else."""
    return _returned(facts) if _call(facts) else decide(facts)


def callback_over_hold(facts: Facts) -> Decision:
    """Return to the caller although the callee holds or loops."""
    return _returned(facts) if _status(facts) in _BY_ITSELF and not _call(facts) else decide(facts)


def self_re_entry(facts: Facts) -> Decision:
    """Take an agent for its own caller."""
    call, decision = _call(facts), decide(facts)
    if call and call.callback == call.agent_name == decision.next:
        return replace(decision, callback=call.callback)
    if facts.config and facts.callback == facts.agent and decision.rule in ("workflow_edge", "no_action_default"):
        return Decision("registered_callback", Dispatch(Status.ADVANCE), facts.agent, facts.step)
    return decision


def stale_callback(facts: Facts) -> Decision:
    """Keep the callback when the workflow has moved on."""
    decision = decide(facts)
    return replace(decision, callback=decision.callback or facts.callback)


def stale_at_a_gate(facts: Facts) -> Decision:
    """Keep the callback where the workflow has moved on to a step that waits for a human."""
    decision = decide(facts)
    return replace(decision, callback=facts.callback) if decision.stop is Stop.HUMAN_GATE else decision


def first_caller_only(facts: Facts) -> Decision:
    """Let a nested call keep the callback that is registered."""
    decision = decide(facts)
    return replace(decision, callback=facts.callback or decision.callback) if _call(facts) else decision


def return_is_a_call(facts: Facts) -> Decision:
    """Register the callee, on its return, as the one to whom its caller returns."""
    decision = decide(facts)
    return replace(decision, callback=facts.agent) if decision.rule == "registered_callback" else decision


def call_is_a_return(facts: Facts) -> Decision:
    """Take a call of the caller for a return to it."""
    call, decision = _call(facts), decide(facts)
    called_back = call is not None and call.agent_name == facts.called_by
    return replace(decision, callback=None, called_by=None) if called_back else decision


# ---- no action


def auto_advance(facts: Facts) -> Decision:
    """Follow the workflow after an agent that decided nothing, where nobody waits for it."""
    if facts.config or facts.diagnostic or facts.return_address:
        return decide(facts)
    return _by_the_engine(decide(replace(facts, decision=_ADVANCE, failed=False)))


def silent_callee_holds(facts: Facts) -> Decision:
    """Hold after a callee that decided nothing, although its caller waits."""
    return decide(facts) if facts.config or facts.diagnostic else _kept(facts)


def unreadable_callee_holds(facts: Facts) -> Decision:
    """Hold after a callee whose sentinel can't be read, although its caller waits."""
    return _kept(facts) if facts.diagnostic else decide(facts)


def silence_ends(facts: Facts) -> Decision:
    """End the workflow with an agent that decided nothing."""
    decision = decide(facts)
    if facts.config or decision.dispatch.origin is Origin.AGENT:
        return decision
    return replace(decision, next=None, status=Phase.ENDED, stop=Stop.HOLD, callback=None, called_by=None)


def no_diagnostic(facts: Facts) -> Decision:
    """Take a sentinel that can't be read for none."""
    return decide(replace(facts, decision=None) if facts.diagnostic else facts)


def failure_is_an_advance(facts: Facts) -> Decision:
    """Let a run that failed hand on like any other."""
    return decide(replace(facts, failed=False, decision=facts.decision or _ADVANCE) if facts.failed else facts)


def lone_dispatch_is_silence(facts: Facts) -> Decision:
    """Take a dispatch for a decision only beside another action, unless it stops."""
    config = facts.config
    alone = config is not None and config.task is None and config.function_call is None
    return decide(replace(facts, decision=None) if alone and _status(facts) is Status.ADVANCE else facts)


def edge_over_default_callback(facts: Facts) -> Decision:
    """Follow the workflow before a caller that did not name itself as the callback."""
    defaulted = facts.config is not None and facts.callback == facts.called_by
    return _without_return(facts) if defaulted else decide(facts)


# ---- provenance and phase


def origin_lost(facts: Facts) -> Decision:
    """Post every decision as the agent's."""
    decision = decide(facts)
    return replace(decision, dispatch=replace(decision.dispatch, origin=Origin.AGENT))


def default_is_the_agents(facts: Facts) -> Decision:
    """Post the hold for want of a decision as the agent's."""
    return origin_lost(facts) if decide(facts).dispatch.status is Status.HOLD else decide(facts)


def hold_is_the_end(facts: Facts) -> Decision:
    """Post a workflow that waits for a human as ended."""
    decision = decide(facts)
    return replace(decision, status=Phase.ENDED) if decision.status is Phase.AWAITING_HUMAN else decision


def _without_return(facts: Facts) -> Decision:
    """Decide as if nobody waited; where that leads nowhere, somebody does."""
    decision = decide(replace(facts, callback=None))
    return decision if decision.rule == "workflow_edge" else decide(facts)


def _held(facts: Facts, reason: str) -> Decision:
    held = decide(replace(facts, decision=None, callback=None, failed=False))
    return replace(held, dispatch=Dispatch.no_action_default(reason), callback=facts.callback)


def _kept(facts: Facts) -> Decision:
    return replace(decide(replace(facts, callback=None)), callback=facts.callback)


def _by_the_engine(decision: Decision) -> Decision:
    return replace(decision, dispatch=replace(decision.dispatch, origin=Origin.ENGINE_FALLBACK))
