"""How far a runtime meets the contract, in words that need no table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pytest_agentcontract.report.standing import BASELINED, LESSER, NOT_APPLICABLE, PASS, UNJUDGED, Row, Word, counted

_SAID = (
    ("error", "could not be judged"),
    ("fail", "failed"),
    ("not-verified", "not verified"),
    (BASELINED, "excused by the baseline"),
    (UNJUDGED, "not judged"),
)


def level(rows: Iterable[Row], runtime: str) -> str:
    """Say of a runtime whether it meets all that applies to it, and if not, in how many requirements and how."""
    found = [row for row in rows if row.words[runtime] != NOT_APPLICABLE]
    musts, shoulds = (_words(found, runtime, name) for name in ("MUST", "SHOULD"))
    if not musts.total():
        return "No MUST applies to it"
    if musts[PASS] + _lesser(musts) < musts.total():
        return f"Not every MUST is met: {', '.join(_open(musts))}"
    if musts[PASS] == musts.total() and shoulds[PASS] == shoulds.total():
        return "Meets every MUST and every SHOULD that applies to it"
    return "Meets every MUST that applies to it, not every SHOULD"


def _words(rows: Sequence[Row], runtime: str, name: str) -> Counter[Word]:
    return counted([row for row in rows if row.level == name], runtime)


def _lesser(words: Counter[Word]) -> int:
    """Count the MUSTs that hold, but for a part of their sentence that is a SHOULD."""
    return sum(count for word, count in words.items() if word.endswith(LESSER))


def _open(words: Counter[Word]) -> Iterable[str]:
    return [f"{words[word]} {said}" for word, said in _SAID if words[word]]
