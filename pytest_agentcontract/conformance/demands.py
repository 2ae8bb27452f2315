"""What a case or a vector asks of one value: literally, one of several, or by what a text must and must not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, as_list, as_object, as_text, equal

Test = Callable[[JSON, JSON | Missing], str]


def is_demand(value: JSON) -> bool:
    """Tell whether an expected value is a demand in words of this module, and not the value itself."""
    return isinstance(value, dict) and bool(value) and value.keys() <= TESTS.keys()


def unmet(expected: JSON, observed: JSON | Missing) -> str:
    """Say what a value does not keep of what is expected; an empty text where it keeps everything."""
    demand = as_object(expected) if is_demand(expected) else {"is": expected}
    return "; ".join(words for name in demand if (words := TESTS[name](demand[name], observed)))


def in_words(expected: JSON) -> str:
    """Say what is expected of a value."""
    demand = as_object(expected) if is_demand(expected) else {"is": expected}
    said = (f"{_WORDS[name]}{shown(demand[name])}" for name in demand if name not in _LISTS or demand[name])
    return " and ".join(said) or "a text"


def _is(wanted: JSON, observed: JSON | Missing) -> str:
    return "" if equal(wanted, observed) else f"it is {shown(observed)}"


def _any_of(allowed: JSON, observed: JSON | Missing) -> str:
    return "" if any(equal(one, observed) for one in as_list(allowed)) else f"it is {shown(observed)}"


def _contains(parts: JSON, observed: JSON | Missing) -> str:
    return _listed(
        "it lacks", (part for part in _texts(parts) if not isinstance(observed, str) or part not in observed)
    )


def _lacks(parts: JSON, observed: JSON | Missing) -> str:
    if not isinstance(observed, str):
        return f"it is {shown(observed)}"
    return _listed("it holds", (part for part in _texts(parts) if part in observed))


def _begins(start: JSON, observed: JSON | Missing) -> str:
    if isinstance(start, list):
        return "" if equal(start, as_list(observed)[: len(start)]) else f"it is {shown(observed)}"
    right = isinstance(observed, str) and observed.startswith(as_text(start))
    return "" if right else f"it is {shown(observed)}"


def _ends(end: JSON, observed: JSON | Missing) -> str:
    right = isinstance(observed, str) and observed.endswith(as_text(end))
    return "" if right else f"it is {shown(observed)}"


def _count(counts: JSON, observed: JSON | Missing) -> str:
    text = observed if isinstance(observed, str) else ""
    wrong = ((part, text.count(part)) for part, times in as_object(counts).items() if text.count(part) != times)
    return "; ".join(f"it holds {shown(part)} {times} times" for part, times in wrong)


TESTS: Mapping[str, Test] = {
    "is": _is,
    "any_of": _any_of,
    "contains": _contains,
    "lacks": _lacks,
    "begins": _begins,
    "ends": _ends,
    "count": _count,
}
"""The words of a demand: all that stand in one must hold."""

_WORDS: Mapping[str, str] = {
    "is": "",
    "any_of": "one of ",
    "contains": "a text that holds each of ",
    "lacks": "a text that holds none of ",
    "begins": "one that begins with ",
    "ends": "a text that ends with ",
    "count": "a text that holds, so often, ",
}

_LISTS = frozenset({"contains", "lacks"})
"""Of these an empty one asks for nothing but a text."""


def _texts(value: JSON) -> list[str]:
    return [as_text(part) for part in as_list(value)]


def _listed(what: str, parts: Iterator[str]) -> str:
    found = [shown(part) for part in parts]
    return f"{what} {', '.join(found)}" if found else ""


def of(judgement: JSONObject) -> JSONObject:
    """Return the demand that stands in a judgement beside its level."""
    return {name: value for name, value in judgement.items() if name in TESTS}
