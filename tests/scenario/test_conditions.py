"""What a waiting turn takes for a sign that a child is done."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.scenario.conditions import shows

VALUE: JSONObject = {"name": "Ünï", "items": [1, {"deep": "a\nb"}], "none": None}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(VALUE),
        json.dumps(VALUE, indent=4, ensure_ascii=False, sort_keys=True),
        "child says {not json} [1, 2 and\n" + json.dumps(VALUE, indent=2) + "\ndone",
        json.dumps({"result": VALUE, "status": "ok"}),
        json.dumps({"content": [{"text": "from the child:\n" + json.dumps(VALUE, indent=2)}]}),
    ],
    ids=["compact", "pretty", "between prose", "inside a document", "as text inside a document"],
)
def test_an_object_is_seen_in_any_layout(text: str) -> None:
    """Key order, white space, escapes, prose around it and an envelope do not hide a payload."""
    assert shows(VALUE, text)


@pytest.mark.parametrize(
    "text", ["", "{", json.dumps({**VALUE, "none": 0}), "[" * 100_000, '{"a":' * 5_000, "{" * 100_000]
)
def test_another_text_shows_no_object(text: str) -> None:
    """Something alike is not the payload, and hostile text is given up on quickly."""
    assert not shows(VALUE, text)


@pytest.mark.parametrize(
    "text", ['say: a\n"ü"!', json.dumps({"r": 'a\n"ü"'}), json.dumps({"r": 'a\n"ü"'}, ensure_ascii=False)]
)
def test_a_string_is_seen_raw_and_escaped(text: str) -> None:
    """A runtime that wraps a report into JSON still shows it: whether it may is another question."""
    assert shows('a\n"ü"', text)


def test_a_number_is_no_boolean() -> None:
    """Payloads are compared as JSON."""
    assert not shows([1], "[true]")
    assert shows([1], "x [1.0]")
