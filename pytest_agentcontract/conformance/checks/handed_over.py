"""What several checks ask of a run: that its caller was handed exactly this, or honestly nothing."""

from __future__ import annotations

from pytest_agentcontract.conformance.evidence import ROOT, Run, once, status_words
from pytest_agentcontract.conformance.replies import FATES, fate, payload, valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import difference, shown
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, equal, is_empty

FALSY: tuple[JSON, ...] = ("", {}, [])
"""The payloads that many languages count as false."""


def stated_value(run: Run) -> JSON | Missing:
    """Return the value that a successful run is to hand over; absent where the case lets none succeed."""
    stated = run.expected(ROOT)
    return stated.value if stated.value is not MISSING or not run.profile.returns else payload(run, ROOT)


def taken(run: Run) -> Finding:
    """Find whether a reply took effect at all, and then whether its value was handed over."""
    reply = valid_reply(run, ROOT)
    what = fate(run, reply) if reply else "ended"
    if what in ("fine", "unanswered"):
        return failed("the reply ends the run with its payload", f"the root went on after it: {FATES[what]}")
    return exactly(run)


def succeeded(run: Run) -> Finding:
    """Find whether the root's valid reply made the run a success, whatever became of its value."""
    expected, observed = "success by the valid reply", status_words(run.delivery)
    if unmet := _unsettled(run):
        return unverified(unmet)
    return passed(expected, observed) if run.status == "success" else failed(expected, observed)


@once
def exactly(run: Run) -> Finding:
    """Find whether the caller was handed the stated value as a success."""
    value = stated_value(run)
    if value is MISSING:
        return unverified("the case states no value to hand over")
    if run.case.given.mode != "json":
        return unverified("the mode hands over no result document")
    if run.profile.returns and (unmet := _unsettled(run)):
        return unverified(unmet)
    stated = shown(value)  # once: a payload may be large
    expected = f"success, result {stated}"
    if run.status != "success":
        return failed(expected, f"{status_words(run.delivery)}, result {shown(run.delivery.value)}")
    if not equal(value, run.delivery.value):
        return failed(expected, f"result {shown(run.delivery.value)} ({difference(value, run.delivery.value)})")
    return passed(expected, f"success, {'the same' if len(stated) > _LONG else shown(run.delivery.value)}")


def _unsettled(run: Run) -> str:
    """Say why nothing can be said of the root's reply: it was not delivered, or the root went on regardless of it."""
    reply = valid_reply(run, ROOT)
    if reply is None:
        return "replied: the root's reply was never delivered"
    what = fate(run, reply)
    return "" if what in ("ended", "error") else f"ended: the root went on after its reply ({FATES[what]})"


def honest_failure(run: Run) -> Finding:
    """Find whether the run failed by its own account, with nothing in the result's place."""
    expected = "failed, with an empty result, the failure flag up and an exit code of failure"
    observed = f"{status_words(run.delivery)}, result {shown(run.delivery.value)}"
    flagged = run.profile.result.failed is None or run.delivery.failed is True
    honest = run.status == "failed" and flagged and is_empty(run.delivery.value)
    return passed(expected, observed) if honest else failed(expected, observed)


def ended_as_failed(run: Run) -> Finding:
    """Find whether the run failed by its own account, whatever its result and exit code say beside it."""
    expected, observed = "the run ends as failed", status_words(run.delivery)
    return passed(expected, observed) if says_failed(run) else failed(expected, observed)


def says_failed(run: Run) -> bool:
    """Tell whether a run says of itself that it failed; an exit code that denies it is another requirement's matter."""
    return run.status == "failed" or (run.status == "contradictory" and run.delivery.failed is True)


def as_expected(run: Run) -> Finding:
    """Find whether the run ended as the case states: with this value, or as a failure."""
    return ended_as_failed(run) if run.expected(ROOT).status == "failed" else exactly(run)


def leaked(run: Run, texts: tuple[str, ...]) -> str:
    """Return the first of some texts that stands in the result; empty where none does."""
    value = run.delivery.value
    held = value if isinstance(value, str) else shown(value, limit=_WHOLE)
    return next((text for text in texts if text.strip() and text in held), "")


_LONG = 80
_WHOLE = 10**9
