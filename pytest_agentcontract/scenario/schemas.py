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


def complaints(name: str, document: JSON) -> Iterator[tuple[str, str]]:
    """Yield (JSON path, complaint) for each fault of `document` under the schema called `name`, nearest place first."""
    for error in sorted(_validator(name).iter_errors(document), key=lambda error: [str(step) for step in error.path]):
        yield error.json_path, _worded(error)


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 40 ms that a run on shipped files never pays

    return Draft202012Validator(as_object(loads(resources.schema(name).read_bytes())))


def _worded(error: ValidationError) -> str:
    if error.validator != "additionalProperties":
        return error.message
    schema = error.schema if isinstance(error.schema, dict) else {}
    known = sorted(schema.get("properties", {}))
    unknown = re.findall(r"'([^']*)'", error.message)
    near = [match for key in unknown for match in difflib.get_close_matches(key, known, n=1)]
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"unknown key {', '.join(map(repr, unknown))}; {hint}"
