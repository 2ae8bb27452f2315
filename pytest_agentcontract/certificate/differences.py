"""What a statement says against the one that follows from its report: one reason for each thing that is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, dumps, equal
from pytest_agentcontract.report.text import shortened

_LONGEST = 120
_CLAIMS: Final[Mapping[str, str]] = {
    "/_type": "is no in-toto statement of version 1",
    "/subject": "names another report than the one that it holds",
    "/predicate/level": "claims another level than its report gives",
    "/predicate/summary": "tells something else than its report",
    "/predicate/runtime": "speaks of another runtime than its report",
    "/predicate/suite": "names another suite than its report",
    "/predicate/requirements": "names other requirements or cases than its report",
    "/predicate/release": "says of the suite what its report doesn't",
    "/predicate/run": "tells of another run than its report",
    "/predicate/counts": "counts other verdicts than its report holds",
    "/predicate/verdicts": "lists other verdicts than its report holds",
    "/predicate/knownFailures": "hides known failures of its report, or makes some up",
    "/predicate/doesNotEstablish": "says otherwise what it does not establish",
    "/predicate/assessment": "claims to be something else than self-assessed",
    "/predicate/signer": "names its signer in another way than by its key",
    "/predicate/result": "claims another result than its report gives",
    "/predicate/configuration": "names another suite, set of cases or profile than its report",
    "/predicate/passedTests": "lists other passed requirements than its report",
    "/predicate/warnedTests": "lists other warnings than its report",
    "/predicate/failedTests": "lists other failed requirements than its report",
}
_OTHER: Final = "says what does not belong there"


def reasons(said: JSONObject, derived: JSONObject) -> Iterator[str]:
    """Yield a reason for each claim in which a statement differs from what was derived, with the first difference."""
    told: set[str] = set()
    for place, claimed, found in _differing(said, derived, ""):
        words = next((text for beginning, text in _CLAIMS.items() if f"{place}/".startswith(f"{beginning}/")), _OTHER)
        if words not in told:
            told.add(words)
            yield f"{words}: {place} is {_shown(claimed)}, where {_shown(found)} follows from the report"


def _differing(said: JSON | Missing, derived: JSON | Missing, place: str) -> Iterator[tuple[str, JSON, JSON]]:
    if isinstance(said, dict) and isinstance(derived, dict):
        for name in {**derived, **said}:
            yield from _differing(said.get(name, MISSING), derived.get(name, MISSING), f"{place}/{name}")
    elif not equal(said, derived):
        yield place, _value(said), _value(derived)


def _value(value: JSON | Missing) -> JSON:
    return "(nothing)" if isinstance(value, Missing) else value


def _shown(value: JSON) -> str:
    return shortened(dumps(value), _LONGEST)
