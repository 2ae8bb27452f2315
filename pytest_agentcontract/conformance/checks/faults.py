"""Provider faults: a passing one is survived, a lasting one is an honest failure, a fragment is no answer."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import exactly, leaked, says_failed, stated_value
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials, status_words, whole_reply
from pytest_agentcontract.conformance.replies import valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import JSON, Missing, equal, is_empty
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.faults import (
    UNPACED,
    ContentTypeFault,
    CutFault,
    ErrorFault,
    Fault,
    MalformedFault,
    SilenceFault,
)


@check("FLT-101", given=("worked", "faulted"), earned=("consumed",))
def passing_fault_is_retried(run: Run) -> Finding:
    """Look for another request after a fault that passes, and compare the result with the usual one."""
    dropped = [exchange for exchange in _faults(run) if run.following(exchange) is None]
    if dropped:
        return failed("the request is made again", f"none followed the fault in request {serials(dropped)}")
    return exactly(run)


@check("FLT-102", given=("worked", "finished", "faulted"))
def lasting_fault_is_a_failure(run: Run) -> Finding:
    """Look at how a run ends under a fault that does not pass, and at what stands in its result."""
    expected, value = "failed, and nothing in the answer's place", run.delivery.value
    observed = f"{status_words(run.delivery)}, result {shown(value)}"
    if run.expected(ROOT).status != "failed":
        return unverified("the case's fault passes")
    if _passed_over(run):
        return unverified("the fault did not last: what else was sent gave the whole answer")
    if run.status != "failed" or leaked(run, (*run.expect.stray, *run.spoken(ROOT))):
        return failed(expected, observed)
    return passed(expected, observed) if is_empty(value) else failed("an empty result", observed, level="SHOULD")


@check("FLT-103", given=("worked", "faulted"))
def fragment_is_no_answer(run: Run) -> Finding:
    """Look for the fragment of a broken stream in the result."""
    if not any(_leaves_a_fragment(run.scripted(exchange).fault) for exchange in _faults(run)):
        return unverified("no stream was broken off, reported an error or was mislabelled in the middle")
    return _no_fragment(run)


@check("FLT-104", given=("worked", "faulted"))
def malformed_event_is_no_answer(run: Run) -> Finding:
    """Look at how a run ends that met an event which is no JSON: by the whole answer, or as a failure."""
    if not run.faulted(MalformedFault):
        return unverified("no malformed event was sent")
    return _no_fragment(run)


@check("FLT-105", given=("worked",))
def silence_is_given_up(run: Run) -> Finding:
    """Look at how a run ends whose provider says nothing more, and whether one that is slow is heard out."""
    silent = run.faulted(SilenceFault)
    if not silent:
        return _heard_out(run)
    expected = "the run gives the provider up, and ends as failed"
    observed = f"{status_words(run.delivery)}, result {shown(run.delivery.value)}"
    if run.delivery.ended == "time-limit":
        return failed(expected, f"it still waited for the answer to request {serials(silent)} at the case's time limit")
    if not says_failed(run) or leaked(run, (*run.expect.stray, *run.spoken(ROOT))):
        return failed(expected, observed)
    return passed(expected, observed)


def _heard_out(run: Run) -> Finding:
    """Find whether a provider that is merely slow is not taken for a silent one."""
    slow = [exchange for exchange in run.own(ROOT) if run.scripted(exchange).pace != UNPACED]
    if not slow:
        return unverified("the provider neither fell silent nor was slow")
    if any(not exchange.delivered for exchange in slow):
        return failed("a slow answer is heard out", f"the runtime hung up on request {serials(slow)}")
    return exactly(run)


def _no_fragment(run: Run) -> Finding:
    """Find whether a spoilt answer ends in the whole one, or in an honest failure: in no fragment, and in no hang."""
    expected = "no success with the fragment: the whole answer, or a failure"
    if run.delivery.ended == "time-limit":
        return failed(expected, "the run hung until the time limit")
    if run.profile.returns and _ended_by_the_whole_text(run):
        return unverified("replied: the whole text, delivered later, ended the run without a reply")
    observed = f"{status_words(run.delivery)}, result {shown(run.delivery.value)}"
    if _passed_over(run):
        return passed(expected, observed)
    if leaked(run, run.expect.stray):
        return failed(expected, observed)
    if says_failed(run) or _taken_whole(run):
        return passed(expected, observed)
    return _whole_answer(run, expected, observed)


def _ended_by_the_whole_text(run: Run) -> bool:
    """Tell whether text that came whole after the fault is the result, or made an empty one: no matter of fragments."""
    spoken, value = run.spoken(ROOT), run.delivery.value
    emptied = value in (None, "") and valid_reply(run, ROOT) is None and not says_failed(run)
    return value in spoken or (bool(spoken) and emptied)


def _passed_over(run: Run) -> bool:
    """Tell whether a success holds all of an answer with a malformed event: some wire formats say everything twice."""
    whole = (value for exchange in run.faulted(MalformedFault) for value in _said(run, run.scripted(exchange)))
    return run.status == "success" and any(equal(value, run.delivery.value) for value in whole)


def _said(run: Run, turn: ScriptedTurn) -> tuple[JSON | Missing, ...]:
    """Return what an answer hands over, if all of it is read: a reply's payload, or the text where no tool returns."""
    if run.profile.returns:
        return tuple(call.value for call in turn.calls if whole_reply(call))
    return (turn.text,) if turn.text and not turn.calls else ()


def _taken_whole(run: Run) -> bool:
    """Tell whether the answer was taken from under a wrong label, which leaves nothing of it out."""
    succeeded = run.status == "success" and equal(stated_value(run), run.delivery.value)
    return succeeded and bool(run.faulted(ContentTypeFault))


def _whole_answer(run: Run, expected: str, observed: str) -> Finding:
    """Find whether a success holds the stated value: with a return tool, by a reply that was delivered whole."""
    impossible = run.expected(ROOT).status == "failed" or (run.profile.returns and valid_reply(run, ROOT) is None)
    return failed(expected, observed) if impossible else exactly(run)


def _faults(run: Run) -> tuple[Exchange, ...]:
    return tuple(exchange for exchange in run.observation.exchanges if exchange.kind == "fault")


def _leaves_a_fragment(fault: Fault | None) -> bool:
    """Tell whether a client has some of the answer and can know that it may not be all, or not be it."""
    match fault:
        case CutFault() | ErrorFault():
            return fault.after_deltas > 0
        case _:
            return isinstance(fault, ContentTypeFault)
