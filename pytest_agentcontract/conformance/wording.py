"""How a check puts values into words: short, exact, and with the first difference named."""

from __future__ import annotations

from itertools import takewhile

from pytest_agentcontract.conformance.difference import Difference, differences
from pytest_agentcontract.jsonvalue import JSON, Missing, dumps

_SHORT = 100
_AROUND = 20
_MOST_PLACES = 3


def shown(value: JSON | Missing, limit: int = _SHORT) -> str:
    """Show a value as JSON, cut to a readable length."""
    if isinstance(value, Missing):
        return "nothing (absent)"
    text = dumps(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def difference(expected: JSON | Missing, observed: JSON | Missing) -> str:
    """Say where two values first differ; an empty text where there is no short way to say it."""
    if isinstance(expected, str) and isinstance(observed, str):
        return _in_text(expected, observed)
    if isinstance(expected, Missing) or isinstance(observed, Missing) or _kind(expected) != _kind(observed):
        return f"{_kind(observed)} instead of {_kind(expected)}"
    return _in_structure(expected, observed)


def _in_text(expected: str, observed: str) -> str:
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(expected, observed, strict=False)))
    want, got = expected[at : at + _AROUND], observed[at : at + _AROUND]
    return f"from character {at}: {shown(got)} instead of {shown(want)}; {len(observed)} of {len(expected)} characters"


def _in_structure(expected: JSON, observed: JSON) -> str:
    found = list(differences(expected, observed))
    more = f" and {len(found) - _MOST_PLACES} more" if len(found) > _MOST_PLACES else ""
    return "; ".join(map(_at_a_place, found[:_MOST_PLACES])) + more


def _at_a_place(found: Difference) -> str:
    place = found.place or "the whole"
    if isinstance(found.expected, list) and isinstance(found.observed, list):
        return f"{place}: {_in_arrays(found.expected, found.observed)}"
    return f"{place}: {shown(found.observed, _AROUND)} instead of {shown(found.expected, _AROUND)}"


def _in_arrays(expected: list[JSON], observed: list[JSON]) -> str:
    """Say which items came in or went missing: deepdiff finds them, though it does not tell 1 from true."""
    from deepdiff import DeepDiff  # noqa: PLC0415 - 20 ms and half a second of import, on failures only

    changes = DeepDiff(expected, observed).pretty().splitlines()
    told = "; ".join(line[:_SHORT] for line in changes[:_MOST_PLACES])
    return f"{len(observed)} items instead of {len(expected)}" + (f" ({told})" if told else "")


def _kind(value: JSON | Missing) -> str:
    names = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "a boolean",
        int: "a number",
        float: "a number",
    }
    return "nothing" if isinstance(value, Missing) else names.get(type(value), "null")
