"""Return integrity: what the reasons of the return contract demand of a runtime that has no return tool."""

from __future__ import annotations

import re

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import ended_as_failed, exactly, says_failed
from pytest_agentcontract.conformance.checks.rounds import unbounded
from pytest_agentcontract.conformance.evidence import ROOT, Run, heard, serials, status_words, told_by_user
from pytest_agentcontract.conformance.replies import FATES, Delivered, delivered_calls, fate
from pytest_agentcontract.conformance.told import holds_raw, last_of, later, news_of, spawn_results, told_of_error
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import JSON, Missing, equal, is_empty, loads


@check("INT-101", given=("worked", "finished"))
def empty_step_is_no_empty_success(run: Run) -> Finding:
    """Look at how a run ends that was delivered a last step without text."""
    empty = [finish for finish in run.finishes(ROOT) if finish.answer and not (finish.answer.text or "").strip()]
    if not empty:
        return unverified("no step without text and tool calls was delivered")
    expected = "no success with an empty result"
    observed = f"{status_words(run.delivery)}, result {shown(run.delivery.value)}"
    hollow = not says_failed(run) and is_empty(run.delivery.value)
    return failed(expected, observed) if hollow else passed(expected, observed)


@check("INT-102", given=("worked", "finished", "spoke"))
def sign_off_is_not_the_result(run: Run) -> Finding:
    """Compare the result with the closing remark, and look for the substantial step in it."""
    value, remarks = run.delivery.value, run.expect.stray
    substance = [text for text in run.spoken(ROOT) if text not in remarks]
    if not remarks or not any(remark in run.spoken(ROOT) for remark in remarks):
        return unverified("no closing remark was delivered")
    expected = f"not just {shown(remarks[0])}"
    if isinstance(value, str) and value.strip() in remarks:
        return failed(expected, f"{status_words(run.delivery)}, result {shown(value)}")
    if run.status == "failed" or (isinstance(value, str) and any(text in value for text in substance)):
        return passed(expected, f"{status_words(run.delivery)}, result {shown(value)}")
    return unverified(f"the result holds neither the remark nor the substantial step: {shown(value)}")


@check("INT-103", given=("worked", "finished", "spoke"))
def steps_are_not_glued(run: Run) -> Finding:
    """Look for the texts of more than one step in the result."""
    steps = list(dict.fromkeys(run.spoken(ROOT)))
    value = run.delivery.value
    held = [text for text in steps if isinstance(value, str) and text.strip() in value]
    expected = "the text of one step at the most"
    if len(steps) < _SEVERAL:
        return unverified("no more than one step had text")
    if len(held) > 1:
        return failed(expected, f"the texts of {len(held)} steps in one result: {shown(value)}")
    if run.status == "failed" or held:
        return passed(expected, f"{status_words(run.delivery)}, result {shown(value)}")
    return unverified(f"the result holds none of the steps' texts: {shown(value)}")


@check("INT-104", given=("worked", "finished", "answered"), earned=("consumed",))
def answer_arrives_unchanged(run: Run) -> Finding:
    """Compare the answer's text with the result, character by character."""
    return exactly(run) if run.status == "success" else unverified(f"the run ended as {status_words(run.delivery)}")


@check("INT-105", given=("worked", "finished", "schema", "answered"))
def structure_is_a_value_or_a_failure(run: Run) -> Finding:
    """Compare a conforming structure with the result, or look at how the run ends without one."""
    return ended_as_failed(run) if run.expected(ROOT).status == "failed" else exactly(run)


@check("INT-106", given=("worked", "finished"))
def success_holds_the_models_words(run: Run) -> Finding:
    """Look for the model's own words in the result of a success."""
    expected, value = "a success holds what the model said, and nothing of the runtime's own", run.delivery.value
    observed = f"{status_words(run.delivery)}, result {shown(value)}"
    if says_failed(run):
        return passed(expected, observed)
    if is_empty(value):
        return unverified(f"the result is empty: {status_words(run.delivery)}")
    return passed(expected, observed) if _is_said(run, value) else failed(expected, observed)


@check("INT-107", given=("worked",))
def stopped_run_is_no_success(run: Run) -> Finding:
    """Look at how a run ends that never came to an end of its own."""
    if (over := unbounded(run)) is not None:
        return over
    again = [exchange for exchange in run.answered(ROOT) if run.scripted(exchange).repeat]
    if len(again) < _SEVERAL:
        return unverified("the turn that repeats was not delivered twice")
    return ended_as_failed(run)


@check("INT-108", given=("worked",))
def broken_call_is_not_carried_out(run: Run) -> Finding:
    """Look for the mark of a call with broken arguments, and for what the model is told of it."""
    cut = [call for call in delivered_calls(run, ROOT) if call.scripted.broken]
    if not cut:
        return unverified("no call with broken arguments was delivered")
    expected = "the call is not carried out, and the model is told"
    done = [call.scripted.mark for call in cut if call.scripted.mark in run.observation.marks]
    if done:
        return failed(expected, f"it was carried out: it left the mark {', '.join(done)}")
    return _is_told(run, cut[0], expected)


@check("INT-109", given=("worked", "child-asked"))
def silent_child_is_not_completed(run: Run) -> Finding:
    """Look at what a parent is told of a child without a report, and of one with a report."""
    findings = [_silence_of(run, child) for child in run.children if run.expected(child).status == "failed"]
    findings += [_report_of(run, child) for child in run.children if run.expected(child).status == "success"]
    bad = [finding for finding in findings if finding.status != "pass"]
    return (bad or findings or [unverified("the case says of no child how it ends")])[0]


@check("INT-110", given=("worked", "finished"))
def exit_code_flag_and_result_agree(run: Run) -> Finding:
    """Compare exit code, failure flag and result with each other."""
    expected, value = "exit code, failure flag and result say the same", run.delivery.value
    observed = f"{status_words(run.delivery)}, result {shown(value)}"
    scraped = isinstance(value, str) and value in run.spoken(ROOT)
    odd = {"success": is_empty(value), "failed": scraped}.get(run.status, True)
    return failed(expected, observed) if odd else passed(expected, observed)


_SEVERAL = 2


def _is_said(run: Run, value: JSON | Missing) -> bool:
    """Tell whether a result holds what the model said, as text or as the value that its text reads as."""
    texts = run.spoken(ROOT)
    if isinstance(value, str):
        return any(text.strip() in value for text in texts)
    return any(equal(value, _read(text)) for text in texts)


def _read(text: str) -> JSON:
    try:
        return loads(text)
    except ValueError:
        return None


def _is_told(run: Run, call: Delivered, expected: str) -> Finding:
    what, following = fate(run, call), run.following(call.exchange)
    if following is None:
        honest = run.status == "failed"
        return passed(expected, "the run failed") if honest else failed(expected, f"{FATES[what]}: {run.status}")
    if what == "unclear":
        return unverified(FATES[what])
    if what == "error" or (what == "unanswered" and told_by_user(call.exchange.request, following.request)):
        return passed(expected, FATES["error"] if what == "error" else "a new message told of it")
    return failed(expected, FATES[what])


def _silence_of(run: Run, child: str) -> Finding:
    parent = run.parent(child)
    expected = f"{parent} is told that {child} failed or left nothing"
    prose = (*run.expect.stray, *run.spoken(child))
    stray = next((text for text in prose if _reached(run, parent, text)), None)
    if stray is not None:
        return failed(expected, f"{parent} was told {shown(stray)}")
    if not later(run, parent, last_of(run, child)):
        return unverified(f"{parent} asked nothing after {child} had ended")
    told, pattern = news_of(run, child), run.profile.failure
    if told_of_error(run, child) or (pattern and any(re.search(pattern, text) for text in told)):
        return passed(expected, f"{parent} was told {shown(told[0]) if told else 'by a tool error'}")
    if _left_empty(run, child):
        return passed(expected, f"the call that started {child} has an empty result")
    if pattern:
        return failed(expected, f"{parent} was told {shown(told[0]) if told else 'nothing'}")
    return unverified("told: the profile states no failure pattern to tell a failure by")


def _report_of(run: Run, child: str) -> Finding:
    value = run.expected(child).value
    after = later(run, run.parent(child), last_of(run, child))
    expected = f"{run.parent(child)} reads {shown(value)} of {child}"
    if not after or not isinstance(value, str):
        return unverified(f"{run.parent(child)} asked nothing after {child} had ended")
    found = [exchange for exchange in after if holds_raw(exchange, value)]
    return passed(expected, f"in request {serials(found[:1])}") if found else failed(expected, "it never does")


def _reached(run: Run, parent: str, text: str) -> bool:
    return any(text in told for exchange in run.own(parent) for told in heard(exchange.request))


def _left_empty(run: Run, child: str) -> bool:
    return any(not result.text.strip() for result in spawn_results(run, child))
