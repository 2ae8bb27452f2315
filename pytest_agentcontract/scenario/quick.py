"""A JSON Schema as one function, made once, that says yes or no: for the schemas that every message has to meet.

It knows the keywords that they use and no other. What is wrong with a document is for the jsonschema package to say,
which takes some fifty times as long and is asked only where this says no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations, starmap
from typing import cast

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, equal, loads

Test = Callable[[JSON], bool]
Make = Callable[[JSON], Test]
"""Makes the test of a schema that stands inside another."""

_SILENT = frozenset({"$schema", "$defs", "title", "description", "then", "else", "properties"})
"""What demands nothing by itself: `if` reads its branches, and every object its properties."""


def surely_conforms(name: str, document: JSON, part: str = "") -> bool:
    """Tell whether a document meets the shipped schema called `name`, or one definition of it; False says nothing."""
    test = _shipped(name, part)
    return test is not None and test(document)


@cache
def _shipped(name: str, part: str) -> Test | None:
    schema = as_object(loads(resources.schema(name).read_bytes()))
    return test_of({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"} if part else schema)


def test_of(schema: JSONObject) -> Test | None:
    """Return the test of a schema; None where it holds a keyword that is not known here, or refers to itself."""
    definitions, made = dict(as_object(schema.get("$defs", {}))), dict[str, Test]()

    def make(inner: JSON) -> Test:
        if isinstance(inner, bool):
            return lambda _: inner
        given = as_object(inner)
        keywords = [keyword for keyword in given if keyword not in _SILENT]
        tests = [referred(given[one]) if one == "$ref" else _MAKERS[one](given, make) for one in keywords]
        if "properties" in given and "additionalProperties" not in given:
            tests.append(_properties(given, make))
        return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)

    def referred(reference: JSON) -> Test:
        name = cast("str", reference)
        if name not in made:
            # Without its own definition, one that refers to itself is not found.
            made[name] = make(definitions.pop(name.removeprefix("#/$defs/")))
        return made[name]

    try:
        return make(schema)
    except KeyError:
        return None


def _type(given: JSONObject, _make: Make) -> Test:
    named = given["type"]
    kinds = [_KINDS[cast("str", name)] for name in (named if isinstance(named, list) else [named])]
    return kinds[0] if len(kinds) == 1 else lambda value: any(kind(value) for kind in kinds)


def _enum(given: JSONObject, _make: Make) -> Test:
    allowed = as_list(given["enum"])
    return lambda value: any(equal(value, one) for one in allowed)


def _const(given: JSONObject, _make: Make) -> Test:
    wanted = given["const"]
    return lambda value: equal(value, wanted)


def _required(given: JSONObject, _make: Make) -> Test:
    names = frozenset(cast("list[str]", given["required"]))
    return lambda value: not isinstance(value, dict) or names <= value.keys()


def _properties(given: JSONObject, make: Make) -> Test:
    named = {name: make(inner) for name, inner in as_object(given.get("properties", {})).items()}
    rest = make(given.get("additionalProperties", True))

    def test(value: JSON) -> bool:
        return not isinstance(value, dict) or all(named.get(name, rest)(item) for name, item in value.items())

    return test


def _items(given: JSONObject, make: Make) -> Test:
    each = make(given["items"])
    return lambda value: not isinstance(value, list) or all(map(each, value))


def _unique(given: JSONObject, _make: Make) -> Test:
    if given["uniqueItems"] is not True:
        raise KeyError("uniqueItems")
    return lambda value: not isinstance(value, list) or not any(starmap(equal, combinations(value, 2)))


def _all(given: JSONObject, make: Make) -> Test:
    tests = [make(inner) for inner in as_list(given["allOf"])]
    return lambda value: all(test(value) for test in tests)


def _branch(given: JSONObject, make: Make) -> Test:
    asked, then, other = make(given["if"]), make(given.get("then", True)), make(given.get("else", True))
    return lambda value: then(value) if asked(value) else other(value)


def _bound(keyword: str, kind: Test, holds: Callable[[JSON, float], bool]) -> Callable[[JSONObject, Make], Test]:
    def make_bound(given: JSONObject, _make: Make) -> Test:
        limit = cast("float", given[keyword])
        return lambda value: not kind(value) or holds(value, limit)

    return make_bound


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KINDS: Mapping[str, Test] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": _is_number,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or cast("float", value).is_integer()),
}

_MAKERS: Mapping[str, Callable[[JSONObject, Make], Test]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "additionalProperties": _properties,
    "items": _items,
    "uniqueItems": _unique,
    "allOf": _all,
    "if": _branch,
    "minLength": _bound("minLength", _KINDS["string"], lambda value, limit: len(cast("str", value)) >= limit),
    "minItems": _bound("minItems", _KINDS["array"], lambda value, limit: len(cast("list[JSON]", value)) >= limit),
    "minimum": _bound("minimum", _is_number, lambda value, limit: cast("float", value) >= limit),
    "exclusiveMinimum": _bound("exclusiveMinimum", _is_number, lambda value, limit: cast("float", value) > limit),
}
