"""No reply: every finish without one is nudged within a budget, and then the run fails honestly."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import (
    FALSY,
    as_expected,
    ended_as_failed,
    exactly,
    honest_failure,
    leaked,
    says_failed,
    stated_value,
)
from pytest_agentcontract.conformance.checks.rounds import (
    LEAST_BUDGET,
    continued,
    cut_short,
    returning_agents,
    unbounded,
)
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials, told_by_user
from pytest_agentcontract.conformance.replies import delivered_calls, nudged, valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.scenario.case import RETURN
from pytest_agentcontract.scenario.observation import Exchange


@check("RET-301", given=("worked",))
def finishes_are_nudged(run: Run) -> Finding:
    """Look, within the budget, for a request with a new message after every finish without a reply."""
    due = [finish for agent in returning_agents(run) for finish in _due(run, agent)]
    missing = [finish for finish in due if not nudged(run, finish)]
    if missing and run.delivery.ended == "time-limit":
        return unverified(
            f"finished: the run was stopped while request {serials(missing)} still waited for what follows"
        )
    expected = f"each finish without a reply is nudged, at least {LEAST_BUDGET} of them"
    if missing:
        return failed(expected, f"after request {serials(missing)} no request with a new message followed")
    if not due:
        return unverified("no finish without a reply was delivered")
    silent = [finish for finish in due if not _names_the_tool(run, finish)]
    if silent:
        expected = f"a nudge names {run.return_tool!r}"
        return failed(expected, f"the one after request {serials(silent)} does not", level="SHOULD")
    return passed(expected, f"{len(due)} nudged, each with a message that names {run.return_tool!r}")


@check("RET-302", given=("worked", "unreplied"), earned=("nudged",))
def nudging_ends(run: Run) -> Finding:
    """Count the nudges of a root that never replies, and look at how its run ends."""
    if (over := unbounded(run)) is not None:
        return over
    budget, used = run.profile.limits.nudges, continued(run, ROOT)
    if budget is not None and used > budget:
        return failed(
            f"at most {budget} nudges, as declared", f"{used} rounds without a reply were followed by a request"
        )
    return ended_as_failed(run)


@check("RET-303", given=("worked", "finished", "nudged"), earned=("consumed",))
def reply_after_a_nudge_succeeds(run: Run) -> Finding:
    """Compare the result with the reply that came after a nudge, and look at what tool work after one led to."""
    last = run.answered(ROOT)[-1]
    if says_failed(run) and _is_work(run, last) and run.following(last) is None and not cut_short(run, last):
        return failed("tool work after a nudge is allowed", f"the run failed right after that of request {last.serial}")
    return exactly(run)


@check("RET-304", given=("headless", "worked", "finished", "unreplied", "documented"))
def failure_is_empty(run: Run) -> Finding:
    """Look for anything in the result of a run that never had a reply, and for its flag and exit code."""
    scrap = leaked(run, (*run.expect.stray, *run.spoken(ROOT)))
    finding = honest_failure(run)
    return failed(finding.expected, f"{finding.observed}: the model's prose") if scrap else finding


@check("RET-305", given=("worked", "unreplied"))
def step_cap_is_a_failure(run: Run) -> Finding:
    """Count the requests of a root that calls tools without end, and look at how its run ends."""
    if (over := unbounded(run)) is not None:
        return over
    cap, steps = run.cap(ROOT), run.steps(ROOT)
    if cap is not None and steps > cap:
        return failed(f"at most {cap} model requests", f"{steps} model requests")
    if not _endless(run):
        return unverified("the turn that repeats was not delivered twice")
    return ended_as_failed(run)


@check("RET-306", given=("worked", "finished", "replied"))
def tool_only_steps_change_nothing(run: Run) -> Finding:
    """Compare the result with the reply's payload where steps without text came last."""
    reply = valid_reply(run, ROOT)
    before = [call for call in delivered_calls(run, ROOT) if reply and call.exchange.serial < reply.exchange.serial]
    last = before[-1].exchange.answer if before else None
    return exactly(run) if last and not last.text else unverified("no step without text came right before the reply")


@check("RET-307", given=("worked", "finished", "spoke", "replied"))
def sign_off_does_not_win(run: Run) -> Finding:
    """Compare the result with the reply's payload where the model also said other things.

    The source does not say that an empty payload counts: of that one, only text in its place is a break.
    """
    finding = exactly(run)
    if finding.status == "pass" or stated_value(run) not in FALSY:
        return finding
    if finding.status == "fail" and leaked(run, (*run.expect.stray, *run.spoken(ROOT))):
        return failed(finding.expected, f"{finding.observed}: the model's prose")
    return replace(unverified(finding.why or f"what was returned came as {shown(run.delivery.value)}"), level="SHOULD")


@check("RET-308", given=("worked",), earned=("consumed",))
def empty_finish_is_no_reply(run: Run) -> Finding:
    """Look for the nudge after a message with neither text nor a tool call."""
    due = [finish for agent in returning_agents(run) for finish in _due(run, agent)]
    empty = [finish for finish in due if finish.answer and not (finish.answer.text or "").strip()]
    if not empty:
        return unverified("no empty message was delivered within the budget")
    missing = [finish for finish in empty if not nudged(run, finish)]
    expected = "an empty message is nudged like any other finish without a reply"
    if missing:
        return failed(expected, f"after request {serials(missing)} no request with a new message followed")
    return passed(expected, f"{len(empty)} empty messages, each followed by a nudge")


@check("RET-309", given=("worked", "finished"))
def cut_or_refused_is_no_reply(run: Run) -> Finding:
    """Look at what follows a message that was cut off or refused, and for its text in the result."""
    cut = [exchange for exchange in run.answered(ROOT) if run.scripted(exchange).stop in ("length", "refusal")]
    if not cut:
        return unverified("no message that was cut off or refused was delivered")
    expected = "it is nudged or the run fails; it is no answer"
    scrap = leaked(run, (*run.expect.stray, *(finish.answer.text or "" for finish in cut if finish.answer)))
    if scrap:
        return failed(expected, f"its text stands in the result: {scrap[:60]!r}")
    went_on = all(run.following(exchange) for exchange in cut)
    if run.status == "success" and not went_on:
        return failed(expected, f"the run ended with request {serials(cut)} as a success")
    return passed(expected, "it was followed by another request" if went_on else "the run failed")


@check("RET-310", given=("worked", "finished"))
def thinking_is_no_result(run: Run) -> Finding:
    """Look for the model's thinking in the result."""
    answers = [exchange.answer for exchange in run.answered(ROOT) if exchange.answer]
    thoughts = tuple(answer.thinking for answer in answers if answer.thinking)
    if not thoughts:
        return unverified("no thinking was delivered")
    if leaked(run, (*thoughts, *run.expect.stray)):
        return failed("the result holds none of the thinking", f"thinking stands in it: {thoughts[0][:60]!r}")
    return exactly(run)


@check("RET-311", given=("worked", "finished"))
def nudges_are_steps(run: Run) -> Finding:
    """Count nudge rounds against the step cap, and look at how the run ends."""
    cap, steps = run.case.given.max_turns, run.steps(ROOT)
    if cap is None or not run.finishes(ROOT):
        return unverified("the run asked for no step cap" if cap is None else "no finish without a reply was delivered")
    if steps > cap:
        return failed(f"at most {cap} model requests, nudges counted", f"{steps} model requests")
    if run.expected(ROOT).status != "failed" and steps < cap:
        return unverified(f"the last step was not reached: {steps} of {cap} model requests")
    return as_expected(run)


def _due(run: Run, agent: str) -> list[Exchange]:
    """Return the finishes that the budget must still cover; the last allowed step of a cap can't be nudged."""
    budget = max(run.profile.limits.nudges or LEAST_BUDGET, LEAST_BUDGET)
    within = takewhile(lambda finish: continued(run, agent, before=finish.serial) < budget, run.plain_finishes(agent))
    return [finish for finish in within if not cut_short(run, finish)]


def _is_work(run: Run, exchange: Exchange) -> bool:
    """Tell whether an answer calls tools, and the return tool is none of them."""
    names = {call.name for call in exchange.answer.calls} if exchange.answer else set()
    return bool(names) and run.return_tool not in names


def _names_the_tool(run: Run, finish: Exchange) -> bool:
    following = run.following(finish)
    return following is not None and any(
        run.return_tool in text for text in told_by_user(finish.request, following.request)
    )


def _endless(run: Run) -> bool:
    again = [exchange for exchange in run.answered(ROOT) if run.scripted(exchange).repeat]
    return sum(1 for exchange in again if exchange.kind == "turn") > 1 and not any(
        call.scripted.tool == RETURN for call in delivered_calls(run, ROOT)
    )
