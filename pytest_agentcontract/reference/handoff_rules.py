"""Every decision of the reference on hand-offs as one frozen value: a mutant replaces exactly one field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_agentcontract.contract import notice as notices
from pytest_agentcontract.contract import routing, sentinel, team, thread
from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import AgentRunConfig, HumanActionNotice, WorkflowState
from pytest_agentcontract.contract.routing import Decision, Facts
from pytest_agentcontract.contract.sentinel import Model
from pytest_agentcontract.contract.thread import Comment, Event, Kind, Record

Found: TypeAlias = AgentRunConfig | Diagnostic | None
"""What an agent decided; a Diagnostic where a sentinel can't be read, None where there is none."""


def typed_first(typed: AgentRunConfig | None, written: Found) -> Found:
    """Go by the control-plane calls; without any, by the sentinel that an agent of the older kind wrote itself."""
    return typed or written


def as_decided(facts: Facts, decision: Decision) -> AgentRunConfig:
    """Record what the agent gave; for want of a decision that can be read, the fallback in its place."""
    return facts.config or AgentRunConfig(dispatch=decision.dispatch)


def as_it_stands(state: WorkflowState) -> WorkflowState:
    """Post the whole state."""
    return state


def of_the_engine(comment: Comment) -> bool:
    """Believe the engine's own comments only."""
    return comment.kind is Kind.ENGINE


def once(state: WorkflowState, event: Event) -> bool:
    """Know an event by its id when it comes again, and a comment that has run when it is edited."""
    return event.id in state.consumed_events or event.comment in state.consumed_comments


def by_its_notice(comment: Comment) -> bool:
    """Take a stop for announced where the last state stands in a notice, which is no agent's comment."""
    return comment.agent is None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRules:
    """How a hand-off engine decides."""

    # What an agent decided.
    model: Model = AgentRunConfig.from_json
    parse: Callable[[str, Model], Found] = sentinel.parse
    prefer: Callable[[AgentRunConfig | None, Found], Found] = typed_first

    # What follows from it.
    decide: Callable[[Facts], Decision] = routing.decide

    # What is posted.
    record: Callable[[Facts, Decision], AgentRunConfig] = as_decided
    render: Callable[[AgentRunConfig], str] = sentinel.render
    harmless: Callable[[str], str] = notices.harmless
    state: Callable[[WorkflowState], WorkflowState] = as_it_stands

    # What is read back.
    read: Callable[[str, Model], Record] = thread.read
    believes: Callable[[Comment], bool] = of_the_engine
    consumed: Callable[[WorkflowState, Event], bool] = once

    # Whom a stop is told.
    notice: Callable[..., HumanActionNotice | None] = notices.notice_for
    recipient: Callable[[str | None, str | None, str | None], str | None] = notices.recipient
    announced: Callable[[Comment], bool] = by_its_notice

    # What an agent is told.
    section: Callable[..., str] = team.section
    inject: Callable[[str, str], str] = team.with_section


HANDOFF: Final = HandoffRules()
