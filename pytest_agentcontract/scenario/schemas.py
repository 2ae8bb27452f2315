"""Check a foreign document against a shipped JSON Schema, and say what is wrong in words a person can use."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, as_object, loads

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
    from referencing import Registry

_WORDINGS: Mapping[str, str] = {
    "minItems": "{value} has too few entries: at least {limit}",
    "maxItems": "{value} has too many entries: at most {limit}",
    "minProperties": "{value} has too few keys: at least {limit}",
    "minLength": "{value} is too short a text: at least {limit} characters",
    "minimum": "{value} is too small: at least {limit}",
    "exclusiveMinimum": "{value} is too small: it has to be more than {limit}",
    "maximum": "{value} is too large: at most {limit}",
    "exclusiveMaximum": "{value} is too large: it has to be less than {limit}",
    "not": "does not belong here, as the rest stands",
    "pattern": "{value} does not match the form: {form}",
}
"""What a person can use in place of a keyword's own message."""

_FORMS: Mapping[str, str] = {
    r"^(/([^~/]|~[01])*)*$": "a JSON pointer, such as /result; empty for the whole",
    r"^(/[A-Za-z0-9._-]+)*$": "a path such as /v1, or empty",
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": "letters, digits, dot, underscore and hyphen",
    r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*$": "module:function",
    r"^[^\r\n\u0000]+$(?![\r\n])": "one line of text",
    r"^[^\r\n\u0000]*$(?![\r\n])": "one line of text, or empty",
    (
        r"^(?![Cc][Oo][Nn][Tt][Ee][Nn][Tt]-[Ll][Ee][Nn][Gg][Tt][Hh]$|"
        r"[Tt][Rr][Aa][Nn][Ss][Ff][Ee][Rr]-[Ee][Nn][Cc][Oo][Dd][Ii][Nn][Gg]$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
    ): "a header's name, and none that says where the answer ends: the server writes those",
    r"^[A-Z]{3}-[0-9]{3}$": "an id such as RET-301",
    r"^[a-z][a-z0-9-]*$": "lower-case letters, digits and hyphens",
}
"""Patterns of the schemas in words; any other is shown as it is."""


def complaints(name: str, document: JSON, part: str = "") -> Iterator[tuple[str, str]]:
    """Yield (JSON path, complaint) for each fault of `document` under the schema called `name`, nearest place first.

    With `part`, only that definition of the schema's is applied.
    """
    for error in _errors(name, document, part):
        yield error.json_path, _worded(error)


def faults(name: str, document: JSON) -> Iterator[tuple[str, str]]:
    """Yield the same with JSON pointers for places."""
    for error in _errors(name, document, ""):
        yield "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.path), _worded(error)


def _errors(name: str, document: JSON, part: str) -> list[ValidationError]:
    found = _validator(name, part).iter_errors(document)
    # An unknown key comes before a missing one: that is most often the same, misspelt.
    return sorted(
        found, key=lambda error: ([str(step) for step in error.path], error.validator != "additionalProperties")
    )


@cache
def _validator(name: str, part: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 40 ms that a run on shipped files never pays

    schema = _shipped().contents(f"{name}.schema.json")
    whole = {"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"} if part else schema
    return Draft202012Validator(whole, registry=_shipped())


@cache
def _shipped() -> Registry[Any]:
    """Return every shipped schema under its file's name, as which others refer to it."""
    from referencing import Registry  # noqa: PLC0415 - the same
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415 - the same

    files = sorted(resources.schema("case").parent.glob("*.json"))
    return Registry().with_resources(
        (file.name, DRAFT202012.create_resource(as_object(loads(file.read_bytes())))) for file in files
    )


def _worded(error: ValidationError) -> str:
    if error.validator != "additionalProperties":
        wording = _WORDINGS.get(str(error.validator), error.message.replace("{", "{{").replace("}", "}}"))
        limit = str(error.validator_value)
        return wording.format(value=repr(error.instance), limit=limit, form=_FORMS.get(limit, limit))
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = sorted(schema.get("properties", {}))
    unknown = re.findall(r"'([^']*)'", error.message)
    near = [match for key in unknown for match in difflib.get_close_matches(key, known, n=1)]
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown key {', '.join(map(repr, unknown))}; {hint}"
