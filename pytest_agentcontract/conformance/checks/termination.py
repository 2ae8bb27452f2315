"""Termination: a reply ends its agent, its whole batch lands first, and nothing else is a success."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import exactly, taken
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials, status_words, whole_reply
from pytest_agentcontract.conformance.replies import Delivered, accepted, fate, return_calls, valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.scenario.case import WORK, ScriptedCall
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.faults import ContentTypeFault


@check("RET-201", given=("asked",), earned=("consumed",))
def nothing_follows_a_reply(run: Run) -> Finding:
    """Look for a model request that an agent makes after its valid reply."""
    replies = [reply for agent in run.case.script if (reply := valid_reply(run, agent))]
    after = [(reply, fate(run, reply)) for reply in replies if run.following(reply.exchange)]
    expected = "no further model request of an agent that has replied"
    went_on = [reply for reply, what in after if what != "error"]
    if went_on:
        return failed(expected, "; ".join(_went_on(run, reply) for reply in went_on))
    if after:
        return unverified("accepted: a valid reply was answered by a tool error")
    if not replies:
        return unverified("replied: no valid reply was delivered")
    return passed(expected, f"none after the reply of {', '.join(reply.exchange.agent for reply in replies)}")


@check("RET-202", given=("worked", "finished", "replied"), earned=("accepted",))
def batch_lands_before_the_end(run: Run) -> Finding:
    """Look for the marks of the calls that stand in one batch with the reply."""
    reply = valid_reply(run, ROOT)
    siblings = [call.mark for call in _beside(run, reply) if call.tool == WORK and _as_bound(call)] if reply else []
    if not siblings:
        return unverified("the reply's batch holds no $work beside it")
    lost = [mark for mark in siblings if mark not in run.observation.marks]
    expected = f"beside the reply, {', '.join(siblings)} left their marks"
    return failed(expected, f"no mark of {', '.join(lost)}") if lost else passed(expected, "they did")


@check("RET-203", given=("headless", "worked", "finished"))
def success_is_an_accepted_reply(run: Run) -> Finding:
    """Compare the run's own account of its end with what became of the root's replies."""
    expected = "success exactly if a reply was accepted, with flag and exit code in agreement"
    calls, words = return_calls(run, ROOT), status_words(run.delivery)
    reply = valid_reply(run, ROOT)
    if run.status == "contradictory":
        return failed(expected, words)
    if run.status == "success":
        fates = [accepted(run, call) for call in calls]
        if True in fates:
            return passed(expected, f"a reply was accepted: {words}")
        if None in fates or run.faulted(ContentTypeFault):  # whether a mislabelled answer was taken, nothing tells
            return unverified("accepted: it can't be told")
        return failed(expected, f"no reply, yet {words}")
    if reply and fate(run, reply) == "ended":
        return failed(expected, f"a valid reply ended the agent, yet {words}")
    return passed(expected, f"no reply was accepted: {words}")


@check("RET-204", given=("asked",), earned=("consumed",))
def return_tool_is_never_forced(run: Run) -> Finding:
    """Look for a request whose tool_choice forces the return tool, or any tool at all."""
    asked = [exchange for agent in run.case.script for exchange in run.own(agent)]
    forcing = [exchange for exchange in asked if _forces(run, exchange)]
    expected = f"no request forces {run.return_tool!r}, by name or by demanding any tool"
    if forcing:
        choice = forcing[0].request.tool_choice
        return failed(expected, f"request {serials(forcing)} does: tool_choice {choice.kind} {choice.name}".rstrip())
    return passed(expected, f"none of {len(asked)} does")


@check("RET-205", given=("finished", "replied"))
def first_valid_reply_counts(run: Run) -> Finding:
    """Compare the result with the first of two valid replies in one batch."""
    reply = valid_reply(run, ROOT)
    others = [call for call in _beside(run, reply) if whole_reply(call)] if reply else []
    return exactly(run) if others else unverified("the batch holds one reply only")


@check("RET-206", given=("finished", "replied"))
def reply_counts_whatever_the_label(run: Run) -> Finding:
    """Compare the result with a reply whose message is labelled as no tool call."""
    reply = valid_reply(run, ROOT)
    label = run.scripted(reply.exchange).stop if reply else None
    return taken(run) if label in ("end", "absent") else unverified("the reply's message has its natural label")


@check("RET-207", given=("finished", "replied"))
def siblings_do_not_void_a_reply(run: Run) -> Finding:
    """Compare the result with a valid reply beside a call that fails or a reply that is rejected."""
    reply = valid_reply(run, ROOT)
    failing = [call for call in _beside(run, reply) if not _as_bound(call)] if reply else []
    return taken(run) if failing else unverified("no call beside the reply is scripted to fail")


def _went_on(run: Run, reply: Delivered) -> str:
    after = [exchange for exchange in run.own(reply.exchange.agent) if exchange.serial > reply.exchange.serial]
    return f"{reply.exchange.agent} replied in {reply.exchange.serial} and made request {serials(after)} after it"


def _beside(run: Run, reply: Delivered) -> list[ScriptedCall]:
    return [call for call in run.scripted(reply.exchange).calls if call is not reply.scripted]


def _as_bound(call: ScriptedCall) -> bool:
    """Tell whether a call goes out as the binding builds it, so that it should work."""
    return whole_reply(call) or (call.tool == WORK and not call.broken and not call.arguments and call.arguments != {})


def _forces(run: Run, exchange: Exchange) -> bool:
    choice = exchange.request.tool_choice
    return choice.kind == "any" or (choice.kind == "tool" and choice.name == run.return_tool)
