"""How a check puts values into words: short, exact, and with the first difference named."""

from __future__ import annotations

from itertools import takewhile

from pytest_agentcontract.jsonvalue import JSON, Missing, dumps

_SHORT = 100
_AROUND = 20
_MOST_PATHS = 3


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
    from deepdiff import DeepDiff  # noqa: PLC0415 - 20 ms and half a second of import, on failures only

    changes = DeepDiff(_exact(expected), _exact(observed)).pretty().splitlines()
    more = f" and {len(changes) - _MOST_PATHS} more" if len(changes) > _MOST_PATHS else ""
    return "; ".join(line[:_SHORT] for line in changes[:_MOST_PATHS]) + more


def _exact(value: JSON) -> JSON:
    """Write whole floats as integers: as JSON they are the same number, and deepdiff would call that a difference."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


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
