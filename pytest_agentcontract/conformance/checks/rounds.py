"""Counting what draws on a nudge budget: finishes without a reply, and rejected replies."""

from __future__ import annotations

from pytest_agentcontract.conformance.evidence import ROOT, Run
from pytest_agentcontract.conformance.replies import invalid_replies
from pytest_agentcontract.conformance.verdict import Finding, failed, unverified
from pytest_agentcontract.scenario.observation import Exchange

LEAST_BUDGET = 2
"""How many nudges the contract demands at the least."""


def returning_agents(run: Run) -> tuple[str, ...]:
    """Return the agents whose finishes are judged: a headless root, and children whose end the case states."""
    children = tuple(child for child in run.children if run.expected(child).status)
    return (ROOT, *children) if run.headless else children


def rounds(run: Run, agent: str) -> tuple[Exchange, ...]:
    """Return the answers that call for a nudge, in order: finishes without a reply, and rejected replies."""
    rejected = {call.exchange.serial for call in invalid_replies(run, agent)}
    finishes = {finish.serial for finish in run.finishes(agent)}
    return tuple(exchange for exchange in run.answered(agent) if exchange.serial in rejected | finishes)


def continued(run: Run, agent: str, *, before: int = 0) -> int:
    """Count the rounds that the runtime answered by asking again, up to a request if one is named."""
    counted = [exchange for exchange in rounds(run, agent) if not before or exchange.serial < before]
    return sum(run.following(exchange) is not None for exchange in counted)


def cut_short(run: Run, finish: Exchange) -> bool:
    """Tell whether the step cap, and nothing else, kept a finish from being nudged."""
    cap = run.cap(finish.agent)
    return cap is not None and run.following(finish) is None and run.steps(finish.agent) >= cap


def unbounded(run: Run) -> Finding | None:
    """Find a run that used up the request budget: a failure where a bound is declared, else not to be told."""
    over = [exchange for exchange in run.observation.exchanges if exchange.kind == "budget"]
    if not over:
        return None
    if run.cap(ROOT) is None and run.profile.limits.nudges is None:
        return unverified(f"bounded: no limit is declared, and {over[0].serial - 1} requests were not the end")
    return failed("the run ends within its declared limits", f"it made {over[0].serial} requests and went on")
