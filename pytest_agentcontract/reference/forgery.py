"""What a cheat can know of a run: the shipped case files, and whatever it was started with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps, loads
from pytest_agentcontract.resources import cases
from pytest_agentcontract.scenario.start import Start

_TOKEN = re.compile(r" ?\[\[root-(\w+)\]\]$")


@dataclass(frozen=True, slots=True)
class Forgery:
    """The traces that a run of a case would leave: names of marks, one prompt for each request, the value."""

    marks: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    value: JSON = "Done."


def forge(start: Start, first: str) -> Forgery:
    """Make up the traces of the case that `settings` name, or else of all that this run may be one of."""
    found = _TOKEN.search(first)
    public = found[1] if found else start.env.get("ANTHROPIC_API_KEY", start.env.get("OPENAI_API_KEY", ""))[-12:]
    words, likely = _TOKEN.sub("", first), list(_likely(start, _TOKEN.sub("", first)))
    calls = [call for case in likely for _, turn in _turns(case) for call in _objects(turn.get("calls"))]
    labels = [*(f"w{number}" for number in range(1, 10)), *(as_text(call["mark"]) for call in calls if "mark" in call)]
    marks = (f"mark-{label}-{public}" for label in labels)
    asked = max((list(_turns(case)) for case in likely), key=len, default=[])
    prompts = (f"{words} [[{agent}-{public}]]" for agent, _ in asked)
    values = [as_object(as_object(case["expect"]).get("result", {})).get("value") for case in likely]
    value = next((value for value in values if value is not None), "Done.")
    return Forgery(tuple(dict.fromkeys(marks)), tuple(prompts), loads(dumps(value).replace("{nonce}", public)))


def _likely(start: Start, words: str) -> Iterator[JSONObject]:
    if told_case := start.settings.get("case"):
        yield as_object(loads((cases() / f"{told_case}.json").read_bytes()))
        return
    for case in _all():
        given = as_object(case["given"])
        told = _objects(given.get("conversation"))
        line = as_text(told[0].get("line", "")) if told else as_text(given.get("prompt", ""))
        asked = (given.get("mode"), given.get("max_turns"), given.get("schema"), line)
        if asked == (start.mode, start.max_turns, start.schema, words) and _about(start) == _about_case(given):
            yield case


def _about(start: Start) -> JSON:
    """Return the steps of the workflow that a hand-off goes by; nothing for any other run."""
    return as_object(loads(start.handoff.workflow.read_bytes())).get("steps") if start.handoff else None


def _about_case(given: JSONObject) -> JSON:
    return as_object(as_object(given.get("handoff", {})).get("workflow", {})).get("steps")


def _turns(case: JSONObject) -> Iterator[tuple[str, JSONObject]]:
    for agent, turns in as_object(case["script"]).items():
        yield from ((agent, turn) for turn in _objects(turns))


def _objects(value: JSON | None) -> list[JSONObject]:
    return [as_object(one) for one in as_list(value if value is not None else [])]


@cache
def _all() -> tuple[JSONObject, ...]:
    return tuple(as_object(loads(path.read_bytes())) for path in sorted(cases().rglob("*.json")))
