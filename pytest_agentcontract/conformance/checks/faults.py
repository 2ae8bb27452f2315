"""Provider faults: a passing one is survived, a lasting one is an honest failure, a fragment is no answer."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import exactly, leaked, says_failed
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials, status_words
from pytest_agentcontract.conformance.replies import valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import is_empty
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.faults import CutFault


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
    if run.status != "failed" or leaked(run, (*run.expect.stray, *run.spoken(ROOT))):
        return failed(expected, observed)
    return passed(expected, observed) if is_empty(value) else failed("an empty result", observed, level="SHOULD")


@check("FLT-103", given=("worked", "faulted"))
def fragment_is_no_answer(run: Run) -> Finding:
    """Look for the fragment of a broken stream in the result."""
    cut = [exchange for exchange in _faults(run) if _in_the_middle(run, exchange)]
    expected = "no success with the fragment: the whole answer, or a failure"
    if not cut:
        return unverified("no stream was cut in the middle")
    if run.delivery.ended == "time-limit":
        return failed(expected, "the run hung until the time limit")
    if run.profile.returns and run.delivery.value in run.spoken(ROOT):
        return unverified("replied: the whole text, delivered later, was handed over without a reply")
    observed = f"{status_words(run.delivery)}, result {shown(run.delivery.value)}"
    if leaked(run, run.expect.stray):
        return failed(expected, observed)
    return passed(expected, observed) if says_failed(run) else _whole_answer(run, expected, observed)


def _whole_answer(run: Run, expected: str, observed: str) -> Finding:
    """Find whether a success holds the stated value: with a return tool, by a reply that was delivered whole."""
    impossible = run.expected(ROOT).status == "failed" or (run.profile.returns and valid_reply(run, ROOT) is None)
    return failed(expected, observed) if impossible else exactly(run)


def _faults(run: Run) -> tuple[Exchange, ...]:
    return tuple(exchange for exchange in run.observation.exchanges if exchange.kind == "fault")


def _in_the_middle(run: Run, exchange: Exchange) -> bool:
    fault = run.scripted(exchange).fault
    return isinstance(fault, CutFault) and fault.after_deltas > 0
