"""What a scripted turn may wait for, and how it is seen in a request: lenient, since a gate judges nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON, equal
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.request import Request

_MOST_ATTEMPTS = 1000


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known when a turn waits: the asker's request, the awaited agent's exchanges and what it will return."""

    request: Request
    awaited: tuple[Exchange, ...]
    payloads: Mapping[int, tuple[JSON, ...]]
    failure: str


def met(event: str, sight: Sight) -> bool:
    """Tell whether the awaited event has come about."""
    return _EVENTS[event](sight)


def shows(value: JSON, text: str) -> bool:
    """Tell whether a text holds a payload: a string raw or as a JSON string, anything else as JSON in any layout."""
    if isinstance(value, str):
        return any(
            form in text for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
        )
    return any(_holds(found, value) for found in _documents(text))


def _sees(sight: Sight) -> bool:
    heard = _heard(sight.request)
    returned = {exchange.turn for exchange in sight.awaited if exchange.kind == "turn" and exchange.delivered}
    payloads = [value for turn in returned for value in sight.payloads.get(turn, ())]
    return any(shows(value, text) for value in payloads for text in heard)


def _started(sight: Sight) -> bool:
    return bool(sight.awaited)


def _failed(sight: Sight) -> bool:
    if not sight.failure:
        return any(result.is_error for message in sight.request.messages for result in message.results)
    return any(re.search(sight.failure, text) for text in _heard(sight.request))


_EVENTS: Mapping[str, Callable[[Sight], bool]] = {"sees": _sees, "started": _started, "failed": _failed}


def _heard(request: Request) -> list[str]:
    """List what reached an agent after its first answer: the prompt and its own words are no news."""
    answered, texts = False, list[str]()
    for message in request.messages:
        answered = answered or message.role == "assistant"
        if answered and message.role != "assistant":
            texts += (*message.texts, *(result.text for result in message.results))
    return texts


def _documents(text: str) -> Iterator[JSON]:
    """Yield the JSON objects and arrays that stand in a text, outermost first."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_ATTEMPTS):
        opening = re.compile(r"[{\[]").search(text, at)
        if opening is None:
            return
        try:
            found, at = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            at = opening.end()
        else:
            yield found


def _holds(found: JSON, value: JSON) -> bool:
    """Tell whether `value` stands somewhere inside a decoded document, also as JSON within one of its strings."""
    if equal(found, value):
        return True
    if isinstance(found, str):
        return any(_holds(inner, value) for inner in _documents(found))
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return any(_holds(item, value) for item in inside)
