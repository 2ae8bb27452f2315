"""Reading a request body with a pointer to what is wrong in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing
from pytest_agentcontract.wire.node import Node

WRONG: list[tuple[Callable[[Node], object], JSON | Missing, str]] = [
    (Node.members, [], "expected an object, found an array"),
    (Node.optional_members, "x", "expected an object, found a string"),
    (Node.items, {}, "expected an array, found an object"),
    (Node.items, None, "expected an array, found null"),
    (Node.optional_items, 1, "expected an array, found a number"),
    (Node.text, MISSING, "expected a string, found nothing"),
    (Node.optional_text, 1.5, "expected a string, found a number"),
    (Node.flag, "true", "expected a boolean, found a string"),
    (lambda node: node.blocks("text"), True, "expected an array, found a boolean"),
    (lambda node: node.one_of({"a": 1, "b": 2}), "c", "'c' is none of a, b"),
]


@pytest.mark.parametrize(("read", "value", "message"), WRONG)
def test_what_is_wrong_is_named_with_its_place(
    read: Callable[[Node], object], value: JSON | Missing, message: str
) -> None:
    """A value of the wrong kind raises an error that names the place, the expected and the found."""
    node = Node({"a": [value]})["a"].items()[0]
    with pytest.raises(WireError) as caught:
        read(node)
    assert (message, "/a/0") == (caught.value.what, caught.value.where)


@pytest.mark.parametrize("value", [None, MISSING])
def test_null_is_absent(value: JSON | Missing) -> None:
    """Null and nothing are the same wherever something may be left out."""
    node = Node(value)
    assert node.absent
    assert (node.optional_members(), node.optional_items(), node.optional_text(), node.flag()) == ({}, (), "", False)
    assert (node.texts(), node.blocks("text")) == ((), ())


def test_pointers_grow_on_the_way_down() -> None:
    """The pointer of a value is the way that led to it."""
    node = Node({"a": [{"b": "x"}]})["a"].items()[0]["b"]
    assert (node.pointer, node.text()) == ("/a/0/b", "x")
