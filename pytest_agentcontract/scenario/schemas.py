"""Check a foreign document against a shipped JSON Schema, and say what is wrong in words a person can use."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, as_object, loads

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

_WORDINGS: Mapping[str, str] = {
    "minItems": "{value} has too few entries: at least {limit}",
    "maxItems": "{value} has too many entries: at most {limit}",
    "minProperties": "{value} has too few keys: at least {limit}",
    "minLength": "{value} is too short a text: at least {limit} characters",
    "minimum": "{value} is too small: at least {limit}",
    "exclusiveMinimum": "{value} is too small: it has to be more than {limit}",
    "maximum": "{value} is too large: at most {limit}",
    "exclusiveMaximum": "{value} is too large: it has to be less than {limit}",
    "pattern": "{value} is not of the form {limit} (a regular expression)",
}
"""What a person can use in place of a keyword's own message."""


def complaints(name: str, document: JSON, part: str = "") -> Iterator[tuple[str, str]]:
    """Yield (JSON path, complaint) for each fault of `document` under the schema called `name`, nearest place first.

    With `part`, only that definition of the schema's is applied.
    """
    found = _validator(name, part).iter_errors(document)
    for error in sorted(found, key=lambda error: [str(step) for step in error.path]):
        yield error.json_path, _worded(error)


@cache
def _validator(name: str, part: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 40 ms that a run on shipped files never pays

    schema = as_object(loads(resources.schema(name).read_bytes()))
    return Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"} if part else schema)


def _worded(error: ValidationError) -> str:
    if error.validator != "additionalProperties":
        wording = _WORDINGS.get(str(error.validator), error.message.replace("{", "{{").replace("}", "}}"))
        return wording.format(value=json.dumps(error.instance), limit=error.validator_value)
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = sorted(schema.get("properties", {}))
    unknown = re.findall(r"'([^']*)'", error.message)
    near = [match for key in unknown for match in difflib.get_close_matches(key, known, n=1)]
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown key {', '.join(map(repr, unknown))}; {hint}"
