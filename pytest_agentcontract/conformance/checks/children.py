"""Children at the end of a run: cancelled promptly, counted to the last token, none left behind."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import ended_as_failed
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials, status_words
from pytest_agentcontract.conformance.replies import valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.turn import Usage

PROMPTLY = 5.0
"""How many seconds after the batch landed a run may take to be over."""

_IN_FLIGHT = 1.0
"""How many seconds after the root's last answer a child's request may still come in: it was on its way."""


@check("RET-701", given=("worked", "replied"))
def reply_ends_the_run_promptly(run: Run) -> Finding:
    """Look for requests of running children after the root's reply, and at how long the run went on."""
    reply = valid_reply(run, ROOT)
    return _all_cancelled(run, reply.exchange if reply else None)


@check("RET-702", given=("worked", "finished"))
def usage_is_the_sum(run: Run) -> Finding:
    """Compare the run's usage with the sum of what the provider reported to root and children."""
    rule = run.profile.result
    if rule.usage_input is None or rule.usage_output is None:
        return unverified("the profile says nowhere where the usage stands")
    sent = [exchange.sent for exchange in run.observation.exchanges if exchange.sent is not None]
    total, own = sum(sent, Usage()), run.delivery.usage
    expected = f"usage {_words(total)}, over {len(sent)} answers" if sent else "no usage: none was reported"
    stated = run.expect.usage
    if stated is not None and stated != total:
        return unverified(f"consumed: the provider reported {_words(total)}, the case states {_words(stated)}")
    right = own == total if sent else own is None
    return passed(expected, _words(own)) if right else failed(expected, _words(own))


@check("RET-703", given=("worked",))
def nothing_is_left_behind(run: Run) -> Finding:
    """Look for processes of the run that were still alive after it."""
    expected, left = "no process of the run is alive after it", run.delivery.leftovers
    return failed(expected, f"{len(left)} were: {', '.join(left[:3])}") if left else passed(expected, "none was")


@check("RET-704", given=("worked", "unreplied", "nudged"))
def failure_ends_the_run_promptly(run: Run) -> Finding:
    """Look for requests of running children after a failing root's last one, and at the usage of the whole run."""
    own = run.answered(ROOT)
    if run.status == "success":
        return unverified(f"failed: the root ended as {status_words(run.delivery)}")
    cancelled = _all_cancelled(run, own[-1] if own else None)
    if cancelled.status != "pass":
        return cancelled
    counted = usage_is_the_sum.look(run)
    return ended_as_failed(run) if counted.status != "fail" else counted


def _all_cancelled(run: Run, last: Exchange | None) -> Finding:
    running = [child for child in run.children if last and _running(run, child, last)]
    if last is None or not running:
        return unverified("no child was running when the root ended")
    expected = f"{', '.join(running)} cancelled: no further request, the run over within {PROMPTLY:.0f} s"
    late = [exchange for child in running for exchange in run.own(child) if _too_late(exchange, last)]
    if late:
        return failed(expected, f"request {serials(late)} of a child came after the root's last answer")
    if run.delivery.ended != "exited":
        return failed(expected, f"the run went on: {status_words(run.delivery)}")
    took = run.delivery.returned_at - last.received_at
    return passed(expected, "it was") if took <= PROMPTLY else failed(expected, f"it was over after {took:.1f} s")


def _running(run: Run, child: str, last: Exchange) -> bool:
    """Tell whether a child had begun before an exchange, and had not replied by then."""
    reply = valid_reply(run, child)
    begun = any(exchange.serial < last.serial for exchange in run.own(child))
    return begun and (reply is None or reply.exchange.serial > last.serial)


def _too_late(exchange: Exchange, last: Exchange) -> bool:
    return exchange.serial > last.serial and exchange.received_at > last.received_at + _IN_FLIGHT


def _words(usage: Usage | None) -> str:
    return "absent" if usage is None else f"{usage.input_tokens} in, {usage.output_tokens} out"
