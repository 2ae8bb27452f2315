"""The return calls of a run, and what became of each: ended the agent, was rejected, or can't be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_agentcontract.conformance.evidence import ROOT, Run, once, told_by_user, whole_reply
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, equal
from pytest_agentcontract.scenario.case import RETURN, ScriptedCall, ScriptedTurn
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.request import Request, ToolResult
from pytest_agentcontract.wire.turn import Call

Fate: TypeAlias = Literal["ended", "error", "fine", "unanswered", "unclear"]
"""What came of a tool call: no request followed, or the next one carries a tool error, a tool result without one, no
result at all, or a result of which the wire format and the profile don't say whether it is an error."""

FATES: dict[Fate, str] = {
    "ended": "no request followed it",
    "error": "it was answered by a tool error",
    "fine": "it was answered by a tool result that is no error",
    "unanswered": "the next request carries no result for it",
    "unclear": "the wire format has no error flag, and the profile states no tool_error pattern",
}


@dataclass(frozen=True, slots=True)
class Delivered:
    """One tool call that reached an agent: as it was scripted, and as it was sent."""

    exchange: Exchange
    scripted: ScriptedCall
    call: Call


@once
def delivered_calls(run: Run, agent: str) -> tuple[Delivered, ...]:
    """Return the scripted tool calls that reached an agent, in order."""
    turns = [(exchange, run.scripted(exchange)) for exchange in run.answered(agent) if exchange.kind == "turn"]
    return tuple(found for exchange, turn in turns for found in _pairs(exchange, turn))


def return_calls(run: Run, agent: str) -> tuple[Delivered, ...]:
    """Return the calls of the return tool that reached an agent, valid or not."""
    return tuple(found for found in delivered_calls(run, agent) if found.scripted.tool == RETURN)


def payload(run: Run, agent: str) -> JSON | Missing:
    """Return the value that the agent is to return: the case's word, else its last whole reply; absent for a failure.

    A root that converses returns nothing.
    """
    expected = run.expected(agent)
    if expected.status == "failed" or (agent == ROOT and not run.headless):
        return MISSING
    if expected.value is not MISSING:
        return expected.value
    values = [call.value for call in run.calls_of(agent) if whole_reply(call)]
    return values[-1] if values else MISSING


@once
def valid_reply(run: Run, agent: str) -> Delivered | None:
    """Return the agent's valid reply, if it was delivered: the first whole one that holds the value to return."""
    value = payload(run, agent)
    calls = return_calls(run, agent)
    return next((call for call in calls if whole_reply(call.scripted) and equal(call.scripted.value, value)), None)


def invalid_replies(run: Run, agent: str) -> tuple[Delivered, ...]:
    """Return the delivered replies to be rejected: those before the valid one's batch, broken ones aside."""
    valid = valid_reply(run, agent)
    calls = [call for call in return_calls(run, agent) if not call.scripted.broken and not call.scripted.unadvertised]
    return tuple(call for call in calls if valid is None or call.exchange.serial < valid.exchange.serial)


def fate(run: Run, delivered: Delivered) -> Fate:
    """Tell what came of a tool call, by the agent's next request."""
    following = run.following(delivered.exchange)
    if following is None:
        return "ended"
    result = result_of(following.request, delivered)
    if result is None:
        return "error" if _told_of_an_error(run, delivered.exchange, following) else "unanswered"
    if result.is_error is not None:
        return "error" if result.is_error else "fine"
    if not run.profile.tool_error:
        return "unclear"
    return "error" if re.search(run.profile.tool_error, result.text) else "fine"


def accepted(run: Run, delivered: Delivered) -> bool | None:
    """Tell whether a reply was accepted: no tool error followed, or nothing did and the agent's run is no failure."""
    what = fate(run, delivered)
    if what == "ended":
        return delivered.exchange.agent != ROOT or run.status == "success"
    return None if what == "unclear" else what != "error"


def result_of(request: Request, delivered: Delivered) -> ToolResult | None:
    """Find a call's result in a later request: by its id, else by its place in the batch where ids were rewritten."""
    results = [result for message in request.messages for result in message.results]
    by_id = next((result for result in results if result.call_id == delivered.call.id), None)
    calls = delivered.exchange.answer.calls if delivered.exchange.answer else ()
    latest = latest_results(request)
    if by_id or len(latest) != len(calls) or taken_back(request, delivered):
        return by_id
    return latest[calls.index(delivered.call)]


def taken_back(request: Request, delivered: Delivered) -> bool:
    """Tell whether the message of a call is missing in a later request, so that its latest results are older ones."""
    spoken, before = (
        sum(message.role == "assistant" for message in one.messages) for one in (request, delivered.exchange.request)
    )
    return spoken <= before


def nudged(run: Run, finish: Exchange) -> bool:
    """Tell whether a finish was followed by another request of the agent that carries a new message."""
    following = run.following(finish)
    return following is not None and bool(told_by_user(finish.request, following.request))


def _told_of_an_error(run: Run, exchange: Exchange, following: Exchange) -> bool:
    """Tell whether a runtime that answers calls in plain text reports an error, by the profile's pattern."""
    told = told_by_user(exchange.request, following.request)
    pattern = run.profile.tool_error
    return bool(pattern) and any(re.search(pattern, text) for text in told)


def latest_results(request: Request) -> list[ToolResult]:
    """Return the tool results after the last message of the assistant."""
    messages = list(request.messages)
    last = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=-1)
    return [result for message in messages[last + 1 :] for result in message.results]


def _pairs(exchange: Exchange, turn: ScriptedTurn) -> tuple[Delivered, ...]:
    calls = exchange.answer.calls if exchange.answer else ()
    return tuple(Delivered(exchange, scripted, call) for scripted, call in zip(turn.calls, calls, strict=False))
