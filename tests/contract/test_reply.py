"""The reply value: its shape, and its two renderings."""

from __future__ import annotations

import pytest

from pytest_agentcontract.contract.reply import InvalidInput, Reply, for_caller, for_parent, schema, validate
from pytest_agentcontract.jsonvalue import equal, loads


@pytest.mark.parametrize("value", ["text", "", {}, {"a": 1}, [], [None], '{"a": 1}', "an open { brace", "\ud800"])
def test_a_string_an_object_or_an_array_is_a_reply_as_it_stands(value):
    """A payload is judged by its shape: neither truthiness nor syntax counts, and nothing is changed."""
    assert validate({"value": value}) == Reply(value)


@pytest.mark.parametrize("value", [1, 0.5, True, False, None])
def test_a_bare_scalar_is_a_wrong_call_shape(value):
    """Numbers, booleans and null are turned down, with the reason."""
    verdict = validate({"value": value})
    assert isinstance(verdict, InvalidInput)
    assert "a string, an object or an array" in verdict.why


@pytest.mark.parametrize("arguments", [{}, {"result": "x"}, {"value": "x", "more": 1}, [], "x", None])
def test_other_arguments_are_a_wrong_call_shape(arguments):
    """Without the one field, or with another beside it, nothing is accepted."""
    assert isinstance(validate(arguments), InvalidInput)


def test_a_stray_field_is_named():
    """The reason tells the model which field it should not have sent."""
    verdict = validate({"result": "x"})
    assert isinstance(verdict, InvalidInput)
    assert "'result'" in verdict.why


def test_a_parent_reads_a_string_raw():
    """Real newlines stay real newlines."""
    assert for_parent('one\n"two"') == 'one\n"two"'


def test_a_parent_reads_a_structure_as_indented_json():
    """The text parses equal and spans several lines."""
    value = {"a": [1, {"b": None}], "ü": "\ud800"}
    text = for_parent(value)
    assert len(text.splitlines()) > 3
    assert equal(loads(text), value)


def test_a_caller_gets_the_value_itself():
    """Nothing is turned into text for a program."""
    value = {"a": [1]}
    assert for_caller(value) is value


def test_the_schema_of_the_arguments_holds_the_requested_one():
    """Definitions move to the root, where references look for them."""
    requested = {"$ref": "#/$defs/item", "$defs": {"item": {"type": "object"}}}
    assert schema(requested)["properties"] == {"value": requested}
    assert schema(requested)["$defs"] == requested["$defs"]
    assert schema()["required"] == ["value"]
