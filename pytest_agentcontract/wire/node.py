"""A place in a request body: reads one JSON document strictly and names the place where it is not what it must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, loads

T = TypeVar("T")

_KINDS: dict[type, str] = {
    Missing: "nothing",
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


class Node:
    """A JSON value and the way that led to it. Clients write null for what they leave out, so null is absent.

    Every value of every request becomes one, so it is a bare class, and its pointer is put together only to complain.
    """

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: JSON | Missing, parent: Node | None = None, key: str | int = "") -> None:
        self.value, self._parent, self._key = value, parent, key

    def __getitem__(self, key: str) -> Node:
        value = self.value
        if isinstance(value, dict):
            return Node(value.get(key, MISSING), self, key)
        raise self.wrong("an object")

    def find(self, *keys: str) -> Node:
        """Follow keys down; below what is absent, everything is."""
        node = self
        for key in keys:
            node = Node(MISSING, node, key) if node.absent else node[key]
        return node

    @property
    def pointer(self) -> str:
        """The JSON pointer that leads here from the body's root."""
        return "" if self._parent is None else f"{self._parent.pointer}/{self._key}"

    @property
    def absent(self) -> bool:
        """Whether nothing stands here, or null."""
        return self.value is MISSING or self.value is None

    def anything(self, otherwise: JSON) -> JSON:
        """Return what stands here, whatever it is, or `otherwise` if nothing does."""
        return otherwise if isinstance(self.value, Missing) else self.value

    def members(self) -> JSONObject:
        """Return the object that must stand here."""
        if isinstance(self.value, dict):
            return self.value
        raise self.wrong("an object")

    def optional_members(self) -> JSONObject:
        """Return the object that stands here; an absent one is empty."""
        value = self.value
        return {} if value is MISSING or value is None else self.members()

    def items(self) -> tuple[Node, ...]:
        """Return the elements of the array that must stand here."""
        if isinstance(self.value, list):
            return tuple([Node(item, self, k) for k, item in enumerate(self.value)])
        raise self.wrong("an array")

    def optional_items(self) -> tuple[Node, ...]:
        """Return the elements of the array that stands here; an absent one has none."""
        value = self.value
        return () if value is MISSING or value is None else self.items()

    def text(self) -> str:
        """Return the string that must stand here."""
        value = self.value
        if isinstance(value, str):
            return value
        raise self.wrong("a string")

    def optional_text(self) -> str:
        """Return the string that stands here; an absent one is empty."""
        value = self.value
        return "" if value is MISSING or value is None else self.text()

    def flag(self) -> bool:
        """Return the boolean that stands here; an absent one is false."""
        if self.absent or isinstance(self.value, bool):
            return bool(self.value)
        raise self.wrong("a boolean")

    def number(self) -> int:
        """Return the whole number that stands here; an absent one is 0."""
        if self.absent:
            return 0
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        raise self.wrong("a whole number")

    def one_of(self, choices: Mapping[str, T]) -> T:
        """Return what the string that must stand here means."""
        word = self.text()
        meaning = choices.get(word, MISSING)
        if not isinstance(meaning, Missing):
            return meaning
        raise WireError(f"{word!r} is none of {', '.join(choices)}", where=self.pointer)

    def blocks(self, kind: str) -> tuple[Node, ...]:
        """Return the blocks of one type of a message content; a content that is a plain string has none."""
        blocks = () if isinstance(self.value, str) else self.optional_items()
        return tuple(block for block in blocks if block["type"].text() == kind)

    def texts(self) -> tuple[str, ...]:
        """Return the texts of a message content: a string is one, of an array every text block, absent is none."""
        value = self.value
        return (value,) if isinstance(value, str) else tuple([b["text"].text() for b in self.blocks("text")])

    def wrong(self, expected: str) -> WireError:
        """Build the error that says what was expected here and what stands here."""
        return WireError(f"expected {expected}, found {_KINDS[type(self.value)]}", where=self.pointer)


def document(text: str) -> Node:
    """Read a text that must be one JSON document."""
    try:
        return Node(loads(text))
    except ValueError as error:
        message = f"not JSON: {error}"
        raise WireError(message) from error
