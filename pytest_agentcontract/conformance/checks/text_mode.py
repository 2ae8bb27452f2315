"""Text mode: what the root's model says is printed while it is being said."""

from __future__ import annotations

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import difference, shown


@check("RET-801", given=("worked",), earned=("spoke", "consumed"))
def tokens_are_printed_as_they_come(run: Run) -> Finding:
    """Look for the model's text at the head of standard output, printed while the stream still stood at a gate."""
    gated = [exchange for exchange in run.own(ROOT) if _waits_for_print(run, exchange.turn)]
    if run.case.given.mode != "text" or not gated:
        return unverified("no stream of the root's waited for its text to be printed")
    late = [exchange for exchange in gated if not exchange.released]
    expected = "the model's text, unaltered and while the model still speaks"
    if late:
        return failed(expected, f"request {serials(late)}: nothing of it was printed while its stream waited")
    texts, printed = run.spoken(ROOT), run.delivery.stdout
    if texts and not printed.startswith(texts[0]):
        return failed(f"{expected}: {shown(texts[0])}", difference(texts[0], printed[: len(texts[0])]))
    lost = _missing(texts, printed)
    return failed(expected, f"{shown(lost)} does not stand in it") if lost else passed(expected, "so it was printed")


def _waits_for_print(run: Run, number: int) -> bool:
    turns = run.case.script.get(ROOT, ())
    hold = turns[number - 1].hold if 0 < number <= len(turns) else None
    return hold is not None and hold.until == "printed"


def _missing(texts: tuple[str, ...], printed: str) -> str:
    """Return the first text that does not follow the one before it; the answers of one run stand in order."""
    at = 0
    for text in texts:
        found = printed.find(text, at)
        if found < 0:
            return text
        at = found + len(text)
    return ""
