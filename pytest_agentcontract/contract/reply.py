"""The reply: the one value an agent hands up, and how each of its two consumers sees it.

A parent is a model and reads text; the caller of a headless root is a program and gets the value itself. A reply is
judged by its shape, never by its truthiness and never by reading a string as something else.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, as_object, dumps

NAME = "reply"
FIELD = "value"


@dataclass(frozen=True, slots=True)
class Reply:
    """An accepted payload: a string, an object or an array."""

    value: JSON


@dataclass(frozen=True, slots=True)
class InvalidInput:
    """Why a reply was turned down, in words for the model that sent it."""

    why: str


def validate(arguments: JSON) -> Reply | InvalidInput:
    """Accept exactly `{"value": string | object | array}`; nothing inside the value is looked at."""
    given = as_object(arguments)
    stray = sorted(given.keys() - {FIELD})
    value = given.get(FIELD, MISSING)
    if stray:
        return InvalidInput(f"{NAME} takes nothing but {FIELD!r}, and was given {', '.join(map(repr, stray))}")
    if not isinstance(value, str | dict | list):
        return InvalidInput(f"{NAME} needs {FIELD!r}: a string, an object or an array")
    return Reply(value)


def schema(requested: JSONObject | None = None) -> JSONObject:
    """Return the JSON Schema of the arguments; a requested one takes the value's place."""
    value: JSONObject = {"type": ["string", "object", "array"]} if requested is None else requested
    whole: JSONObject = {
        "type": "object",
        "properties": {FIELD: value},
        "required": [FIELD],
        "additionalProperties": False,
    }
    # A reference such as "#/$defs/item" is resolved from the root of the document, which is now ours.
    return {**whole, "$defs": value["$defs"]} if "$defs" in value else whole


def for_parent(value: JSON) -> str:
    """Render the value as a model reads it: a string raw, a structure as indented JSON."""
    return value if isinstance(value, str) else dumps(value, indent=2)


def for_caller(value: JSON) -> JSON:
    """Render the value as a program reads it: as it is."""
    return value
