"""JSON as values: read strictly, compare strictly, point into.

Two readers of one document must never see two different things, so reading refuses duplicate keys and NaN, and
comparing never lets Python's `1 == True == 1.0` decide.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Final, TypeAlias

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None
JSONObject: TypeAlias = dict[str, JSON]


DEEPEST: Final = 200
"""How many arrays and objects may stand inside each other."""

_TOO_DEEP: Final = "nested too deeply"


class Missing:
    """The type of `MISSING`: a value that is not there, which is not the same as null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "(absent)"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


def loads(text: str | bytes) -> JSON:
    """Parse exactly one JSON document; raise ValueError for duplicate keys, NaN, Infinity, 1e999 or trailing text.

    What is nested deeper than `DEEPEST` is refused as well: nobody who walks a document runs out of stack.
    """
    plain = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        value: JSON = _READER.decode(plain)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if plain.count("[") + plain.count("{") > DEEPEST and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def dumps(value: JSON, *, indent: int | None = None) -> str:
    """Render a JSON value; a lone surrogate stays an escape, so that the text can always be encoded as UTF-8."""
    text = (
        _WRITER.encode(value)
        if indent is None
        else json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    )
    return text if _encodable(text) else json.dumps(value, indent=indent, allow_nan=False)


def equal(left: JSON | Missing, right: JSON | Missing) -> bool:
    """Tell whether two JSON values are the same: types by JSON kind, numbers by exact value, list order counts."""
    return left == right and _same_kinds(left, right)


def point(value: JSON | Missing, pointer: str) -> JSON | Missing:
    """Follow an RFC 6901 JSON pointer; return MISSING where it leads nowhere. "" is the whole value."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        value = _step(value, key)
    return value


def place(pointer: str, value: JSON) -> JSON:
    """Build the smallest object that holds `value` at `pointer`: the inverse of `point` for object paths."""
    for token in reversed(pointer.split("/")[1:]):
        value = {token.replace("~1", "/").replace("~0", "~"): value}
    return value


def as_object(value: JSON | Missing) -> JSONObject:
    """Return `value` if it is an object, else an empty one: for poking into documents that strangers wrote."""
    return value if isinstance(value, dict) else {}


def as_list(value: JSON | Missing) -> list[JSON]:
    """Return `value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: JSON | Missing) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def is_empty(value: JSON | Missing) -> bool:
    """Tell whether a result counts as empty: absent, null or an empty string (RET-304)."""
    return value is MISSING or value is None or value == ""


def _step(value: JSON | Missing, key: str) -> JSON | Missing:
    if isinstance(value, dict):
        return value.get(key, MISSING)
    if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    return MISSING


def _is_deep(value: JSON) -> bool:
    level: list[JSON] = [value]
    for _ in range(DEEPEST):
        below = (outer.values() if isinstance(outer, dict) else as_list(outer) for outer in level)
        level = [inner for values in below for inner in values if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _same_kinds(left: JSON | Missing, right: JSON | Missing) -> bool:
    """Tell whether two values are the same that Python takes for equal: it takes true for 1, and false for 0."""
    if isinstance(left, str):
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return all(_same_kinds(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return all(map(_same_kinds, left, right))
    return isinstance(left, bool) is isinstance(right, bool)


def _encodable(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _unique(pairs: list[tuple[str, JSON]]) -> JSONObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        message = f"the key {twice!r} stands twice in one object"
        raise ValueError(message)
    return found


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        message = f"{text[:20]} is beyond any number that can be compared"
        raise ValueError(message)
    return value


def _no_constant(name: str) -> JSON:
    message = f"{name} is no JSON number"
    raise ValueError(message)


# Made once: json.loads and json.dumps make theirs anew on every call that asks for more than the defaults.
_READER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
_WRITER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)
