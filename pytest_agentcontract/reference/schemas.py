"""The requested schema: jsonschema costs a tenth of a second, so it is imported only by a run that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_agentcontract.contract.reply import InvalidInput, Reply
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject


def check(schema: JSONObject) -> None:
    """Raise UsageError for a schema that is none, or that would have to be fetched."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - see above

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise UsageError(f"the requested schema is no JSON Schema: {error.message}", where=error.json_path) from error
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise UsageError(
                f"the requested schema refers to another document, {reference!r}",
                remedy="Write what it refers to into its own $defs.",
            )


def conform(offered: Reply, schema: JSONObject) -> Reply | InvalidInput:
    """Hold a value against the requested schema as it stands: nothing is parsed to make it fit."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - see above
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - see above

    error = best_match(Draft202012Validator(schema).iter_errors(offered.value))
    if error is None:
        return offered
    return InvalidInput(f"the value does not conform to the requested schema: {error.message} (at {error.json_path})")


def _references(schema: JSON) -> Iterator[str]:
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference
    inside = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for item in inside:
        yield from _references(item)
