"""From JSON to a known shape, or to a Diagnostic that points at the first fault: shapes are values, wording is ours.

A shape says what is wrong with a value, and where, as a JSON pointer; it never raises and never repairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, loads

LONGEST_QUOTE = 80
KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Why something could not be read, and at which JSON pointer of it ("" is the whole)."""

    message: str
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


class Shape(Protocol):
    """What a JSON value must look like."""

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, which stands at the pointer `at`, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """A string: by default not an empty one; with `choices`, one of them."""

    choices: tuple[str, ...] = ()
    empty: bool = False

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, or None."""
        if not isinstance(value, str):
            return _wrong_kind("a string", value, at)
        if self.choices and value not in self.choices:
            return Diagnostic(f"{quoted(value)} is none of {', '.join(self.choices)}", at)
        return None if value or self.empty else Diagnostic("must not be empty", at)


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, or None."""
        return None if isinstance(value, bool) else _wrong_kind("true or false", value, at)


@dataclass(frozen=True, slots=True)
class Maybe:
    """Null, or a value of the shape."""

    shape: Shape

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, or None."""
        return None if value is None else self.shape.fault(value, at)


@dataclass(frozen=True, slots=True)
class Items:
    """An array whose items are all of the shape."""

    shape: Shape
    at_least: int = 0

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, or None."""
        if not isinstance(value, list):
            return _wrong_kind("an array", value, at)
        if len(value) < self.at_least:
            return Diagnostic(f"needs at least {self.at_least}", at)
        return _first(self.shape.fault(item, f"{at}/{number}") for number, item in enumerate(value))


@dataclass(frozen=True, slots=True)
class Named:
    """An object that maps names, at least one and none of them empty, to values of the shape."""

    shape: Shape

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, or None."""
        if not isinstance(value, dict):
            return _wrong_kind("an object", value, at)
        if not value or "" in value:
            return Diagnostic("needs at least one name, and no empty one", at)
        return _first(self.shape.fault(item, f"{at}/{escaped(key)}") for key, item in value.items())


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with exactly these keys: the required ones, and any of the optional ones."""

    required: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)

    def fault(self, value: JSON, at: str) -> Diagnostic | None:
        """Return what is wrong with `value`, or None."""
        if not isinstance(value, dict):
            return _wrong_kind("an object", value, at)
        shapes = {**self.required, **self.optional}
        return (
            _first(Diagnostic(f"has an unknown key {quoted(key)}", at) for key in value if key not in shapes)
            or _first(Diagnostic(f"lacks {key!r}", at) for key in self.required if key not in value)
            or _first(shapes[key].fault(item, f"{at}/{key}") for key, item in value.items())
        )


def document(text: str) -> JSON | Diagnostic:
    """Read exactly one JSON document; a Diagnostic for anything else."""
    try:
        return loads(text)
    except ValueError as error:
        return Diagnostic(_unreadable(error))


def shaped(value: JSON, shape: Shape) -> JSONObject | Diagnostic:
    """Return the object if it has the shape, else what is wrong with it."""
    return shape.fault(value, "") or as_object(value)


def quoted(text: str) -> str:
    """Quote foreign text in a message: on one line and never at length."""
    return repr(text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}...")


def escaped(key: str) -> str:
    """Write a key as one token of a JSON pointer; a long one is cut, it only serves as a signpost."""
    return key[:LONGEST_QUOTE].replace("~", "~0").replace("/", "~1")


def text_of(value: JSONObject, key: str) -> str | None:
    """Return the string at `key` of an object whose shape is known, or None where there is none."""
    found = value.get(key)
    return found if isinstance(found, str) else None


def _unreadable(error: ValueError) -> str:
    position = getattr(error, "pos", None)
    if position is None:  # a fault that `loads` found itself: a key twice, NaN, nested too deeply, an endless number
        return f"not readable as JSON: {str(error)[: 2 * LONGEST_QUOTE]}"
    more = getattr(error, "msg", "") == "Extra data"
    return f"{'more than one JSON document' if more else 'not JSON'} (at character {position + 1})"


def _wrong_kind(wanted: str, value: JSON, at: str) -> Diagnostic:
    return Diagnostic(f"must be {wanted}, not {KINDS[type(value)]}", at)


def _first(faults: Iterable[Diagnostic | None]) -> Diagnostic | None:
    return next((fault for fault in faults if fault), None)
