"""One vector on one runtime: its adapter is asked, and its answer is held to the row, field by field."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, cast

from pytest_agentcontract.conformance import demands, handoff_reading
from pytest_agentcontract.conformance.judge import RANK, required, unjudged
from pytest_agentcontract.conformance.verdict import CaseReport, Verdict, VerdictStatus
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.drivers.asking import ask
from pytest_agentcontract.drivers.messages import Answer
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, as_list, as_object, as_text
from pytest_agentcontract.scenario.case import Case, Cover, Level, Vector
from pytest_agentcontract.scenario.profile import Profile

Derive = Callable[[Profile, JSONObject], JSON | Missing]


NOT_ASKED: Final = "the adapter does not support "
"""How the reason begins why a row is not asked of a profile that claims the contract."""


def run_vector(case: Case, vector: Vector, profile: Profile) -> CaseReport:
    """Ask one question and judge the answer; a vector belongs to no wire format."""
    started = time.monotonic()
    verdicts = _judged(case, vector, profile)
    return CaseReport(case, profile.name, "", verdicts, seconds=time.monotonic() - started)


def _judged(case: Case, vector: Vector, profile: Profile) -> tuple[Verdict, ...]:
    try:
        answer = ask(profile, vector.op, vector.given)
        if answer.unsupported:
            return unjudged(case, "not-applicable", f"{NOT_ASKED}{vector.op!r}")
        fields = _fields(profile, vector, answer)
    except DriverError as error:
        return unjudged(case, "error", str(error))
    return tuple(_verdict(case, cover, vector, answer, fields) for cover in case.covers)


def _fields(profile: Profile, vector: Vector, answer: Answer) -> Mapping[str, JSON | Missing]:
    """Return each field that is asked for, those among them that are read out of an answer by other eyes."""
    output = as_object(answer.output)
    return {
        name: _DERIVED[vector.op, name](profile, output) if (vector.op, name) in _DERIVED else output.get(name, MISSING)
        for name in vector.expect
    }


def _verdict(case: Case, cover: Cover, vector: Vector, answer: Answer, fields: Mapping[str, JSON | Missing]) -> Verdict:
    """Judge one requirement by what speaks for it: the highest level that is not met, else the highest there is."""
    own = required(cover).level
    spoken = [(max(_level(one), own, key=_rank), name, one) for name, one in _speaking(case, cover, vector)]
    judged = [row for row in spoken if row[0] != "MAY"] or spoken
    expected = "; ".join(f"{name} {demands.in_words(demands.of(one))}" for _, name, one in judged)
    wrong = [(level, f"{name}: {words}") for level, name, one in judged if (words := _unmet(one, fields[name]))]
    level = min((level for level, *_ in wrong or judged), key=_rank)
    if answer.error:
        return Verdict(cover.requirement, own, "fail", expected, f"an error: {answer.error}")
    observed = "; ".join(words for at, words in wrong if at == level) or "so it is"
    status: VerdictStatus = "fail" if wrong else "pass"
    return Verdict(cover.requirement, level, status, expected, f"{observed}, for {shown(vector.given)}")


def _speaking(case: Case, cover: Cover, vector: Vector) -> Iterator[tuple[str, JSONObject]]:
    """Yield the judgements that speak for a requirement; one without a list of its own speaks for all of the row's."""
    every: list[JSON] = [other.requirement for other in case.covers]
    for name, judgements in vector.expect.items():
        yield from ((name, one) for one in judgements if cover.requirement in as_list(one.get("covers", every)))


def _unmet(judgement: JSONObject, observed: JSON | Missing) -> str:
    return demands.unmet(demands.of(judgement), observed)


def _level(judgement: JSONObject) -> Level:
    return cast("Level", judgement["level"])


def _rank(level: Level) -> int:
    return RANK[level]


def _payload(_profile: Profile, output: JSONObject) -> JSON | Missing:
    return handoff_reading.payload(as_text(output.get("line")))


def _read_back(profile: Profile, output: JSONObject) -> JSON | Missing:
    """Let the runtime read the line that it rendered."""
    answer = ask(profile, "parse", {"text": as_text(output.get("line")), "author": "agent"})
    return as_object(answer.output).get("config", MISSING)


def _mentions(_profile: Profile, output: JSONObject) -> JSON | Missing:
    return [*handoff_reading.mentions(as_text(output.get("body")))]


_DERIVED: Mapping[tuple[str, str], Derive] = {
    ("render", "payload"): _payload,
    ("render", "config"): _read_back,
    ("inert", "mentions"): _mentions,
}
"""What no adapter is asked for: the judge reads it out of the answer."""
