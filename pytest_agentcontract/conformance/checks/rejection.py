"""Rejection: on a reply's shape or the requested format, never on how a string reads."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import ended_as_failed, exactly, leaked, succeeded
from pytest_agentcontract.conformance.checks.rounds import LEAST_BUDGET, continued, rounds, unbounded
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials, status_words
from pytest_agentcontract.conformance.replies import (
    FATES,
    Delivered,
    delivered_calls,
    fate,
    invalid_replies,
    result_of,
    valid_reply,
)
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.case import RETURN


@check("RET-501", given=("worked",), earned=("consumed",))
def wrong_shape_gets_a_tool_error(run: Run) -> Finding:
    """Look for the tool error after a return call without a payload, or with none that is one."""
    wrong = [call for call in invalid_replies(run, ROOT) if _shapeless(call)]
    return _rejected(run, wrong, "a reply of the wrong shape")


@check("RET-502", given=("worked",))
def rejection_draws_on_the_budget(run: Run) -> Finding:
    """Look for the request after a rejected reply, count such rounds, and look at how the run ends."""
    rejected = invalid_replies(run, ROOT)
    if not rejected:
        return unverified("no reply that must be rejected was delivered")
    if (over := unbounded(run)) is not None:
        return over
    within = [exchange for exchange in rounds(run, ROOT)[:LEAST_BUDGET] if run.following(exchange) is None]
    if within:
        expected = f"a rejected reply is followed by another request, at least {LEAST_BUDGET} times"
        return failed(expected, f"none followed request {serials(within)}: {status_words(run.delivery)}")
    return _budget_is_shared(run) if run.expected(ROOT).status == "failed" else _counted_once(run)


@check("RET-503", given=("worked", "schema"), earned=("consumed", "accepted"))
def schema_is_enforced(run: Run) -> Finding:
    """Look for the tool error, and its reason, after a payload that does not conform to the requested schema."""
    wrong = [call for call in invalid_replies(run, ROOT) if not _shapeless(call)]
    finding = _rejected(run, wrong, "a payload that does not conform")
    if finding.status == "pass" and not all(_reason(run, call) for call in wrong):
        return failed(finding.expected, "a tool error without a reason")
    return finding if finding.status != "pass" else succeeded(run)


@check("RET-504", given=("worked", "schema"), earned=("consumed", "accepted"))
def string_is_not_parsed_to_fit(run: Run) -> Finding:
    """Look for the tool error after a string where an object was asked for."""
    wrong = [call for call in invalid_replies(run, ROOT) if isinstance(call.scripted.value, str)]
    finding = _rejected(run, wrong, "a string where an object was asked for")
    return finding if finding.status != "pass" else succeeded(run)


@check("RET-505", given=("worked", "replied"), earned=("accepted", "consumed"))
def free_string_is_never_rejected(run: Run) -> Finding:
    """Look for a tool error after a string payload in a run that asked for no format."""
    reply = valid_reply(run, ROOT)
    if run.case.given.schema is not None or reply is None or not isinstance(reply.scripted.value, str):
        return unverified("the run asked for a format" if run.case.given.schema else "the payload is no string")
    what, expected = fate(run, reply), "a free string is accepted as it is"
    if what == "error" or (what == "ended" and run.status != "success"):
        return failed(expected, f"{FATES[what]}: {status_words(run.delivery)}")
    return unverified(FATES[what]) if what == "unclear" else passed(expected, FATES[what])


@check("RET-506", given=("worked", "finished"))
def broken_arguments_are_no_reply(run: Run) -> Finding:
    """Look for what was cut off in the result, after a return call with broken arguments."""
    cut = [call for call in delivered_calls(run, ROOT) if call.scripted.tool == RETURN and call.scripted.broken]
    if not cut:
        return unverified("no return call with broken arguments was delivered")
    expected = "the run goes on or fails, and the fragment is no result"
    scrap = leaked(run, run.expect.stray)
    if scrap:
        return failed(expected, f"the fragment stands in the result: {scrap!r}")
    if run.status == "failed":
        return passed(expected, f"no fragment: {status_words(run.delivery)}")
    if run.following(cut[-1].exchange) is None:
        return failed(expected, f"the run ended with the broken call: {status_words(run.delivery)}")
    return exactly(run)


def _rejected(run: Run, wrong: list[Delivered], what: str) -> Finding:
    """Find whether each of some replies was answered by a tool error, and the run went on."""
    expected = f"{what} gets a tool error, and the run goes on"
    if not wrong:
        return unverified(f"no such reply was delivered: {what}")
    fates = [fate(run, call) for call in wrong]
    bad = next((at for at, found in enumerate(fates) if found not in ("error", "unclear")), None)
    if bad is not None:
        ending = f"; {status_words(run.delivery)}" if fates[bad] == "ended" else ""
        return failed(expected, f"request {wrong[bad].exchange.serial}: {FATES[fates[bad]]}{ending}")
    if "unclear" in fates:
        return unverified(FATES["unclear"])
    return passed(expected, f"{len(wrong)} rejected, each by a tool error")


def _budget_is_shared(run: Run) -> Finding:
    """Compare the rounds of a run that never had a valid reply with the declared budget."""
    budget, used = run.profile.limits.nudges, continued(run, ROOT)
    kinds = len({bool(exchange.answer and exchange.answer.calls) for exchange in rounds(run, ROOT)})
    if budget is None and kinds > 1:
        return unverified("bounded: the profile declares no limits.nudges to count against")
    if budget is not None and used != budget:
        return failed(f"{budget} rounds, rejected replies and finishes without one taken together", f"{used} rounds")
    return ended_as_failed(run)


def _counted_once(run: Run) -> Finding:
    """Find whether a run with few rejected replies came to its valid one."""
    ending = succeeded(run)
    expected = "a rejected reply is nudged, and a valid one after it counts"
    return passed(expected, f"{continued(run, ROOT)} rounds, then success") if ending.status == "pass" else ending


def _shapeless(call: Delivered) -> bool:
    """Tell whether a return call holds no string, object or array."""
    value = call.scripted.value
    return value is MISSING or call.scripted.arguments is not MISSING or not isinstance(value, str | dict | list)


def _reason(run: Run, call: Delivered) -> str:
    following = run.following(call.exchange)
    result = result_of(following.request, call) if following else None
    return result.text.strip() if result else ""
