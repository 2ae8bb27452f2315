"""Check a foreign document against a shipped JSON Schema, and say what is wrong in words a person can use."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, as_object, loads

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError


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
        return error.message
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = sorted(schema.get("properties", {}))
    unknown = re.findall(r"'([^']*)'", error.message)
    near = [match for key in unknown for match in difflib.get_close_matches(key, known, n=1)]
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown key {', '.join(map(repr, unknown))}; {hint}"
