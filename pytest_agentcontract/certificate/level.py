"""The level that a certificate states, in words, and each reason why it is not the highest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.certificate.tally import Tally
from pytest_agentcontract.report.text import counted

HIGHEST: Final = "conformant"
KNOWN: Final = "conformant but for known failures"
PARTLY: Final = "not fully verified"
BOTH: Final = "not fully verified, with known failures"
NOTHING: Final = "nothing verified"
NONE: Final = "not conformant"

RESULTS: Final[Mapping[str, str]] = {
    HIGHEST: "PASSED",
    KNOWN: "WARNED",
    PARTLY: "WARNED",
    BOTH: "WARNED",
    NOTHING: "FAILED",
    NONE: "FAILED",
}
"""Each level, the highest first, and the word for it in a test-result statement."""

_REASONS: Final[Mapping[str, str]] = {
    "failed": "broken",
    "notVerified": "not verified",
    "notJudgeable": "not judged, for the bench had an error",
    "metInPart": "met in part only",
    "notJudged": "not judged by any case that was run",
    "baselined": "broken, as the baseline of known failures says",
}
"""What keeps a MUST from being met."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A level, and what keeps it from being the highest; no reason only where nothing does."""

    name: str
    reasons: tuple[str, ...]


def stated(tally: Tally, known: int, left_out: int, status: int) -> Stated:
    """Return the level for a tally, so many known failures, so many cases left out, and the exit status of the run."""
    must = tally["MUST"]
    reasons = (*_of_musts(must), *_of_the_run(must, known, left_out))
    if status > 1 or (status and not reasons):
        reasons = (*reasons, f"the run ended with exit status {status}")
    if must["failed"]:
        return Stated(NONE, reasons)
    if not must["passed"]:
        return Stated(NOTHING, reasons or ("no MUST applies and passes",))
    whole = not (left_out or any(must[bucket] for bucket in _REASONS if bucket not in ("failed", "baselined")))
    if known:
        return Stated(KNOWN if whole else BOTH, reasons)
    return Stated(PARTLY if reasons else HIGHEST, reasons)


def _of_musts(must: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for bucket, words in _REASONS.items():
        if ids := must[bucket]:
            yield f"{counted(len(ids), 'MUST')} {words}: {', '.join(ids)}"


def _of_the_run(must: Mapping[str, Sequence[str]], known: int, left_out: int) -> Iterator[str]:
    if known and not must["baselined"]:
        yield f"{counted(known, 'known failure')} in a baseline"
    if left_out:
        yield f"{counted(left_out, 'case')} of the suite left out (each wire format counts)"
