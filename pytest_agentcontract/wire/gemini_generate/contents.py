"""Gemini generateContent: the conversation of a request.

Calls may come without ids, and so may results: then a call is known by its place, and a result belongs to the first
call of its name that has none yet. What a model said in a stream may come back as one content for each chunk: contents
of the model that follow each other are one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_agentcontract.jsonvalue import JSONObject, dumps
from pytest_agentcontract.wire.gemini_generate.words import either, many
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.request import Message, Role, Thinking, ToolResult
from pytest_agentcontract.wire.turn import Call

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "tool"}
_ALONE: Final = frozenset({"output", "result", "error"})


def messages(contents: Iterable[Node]) -> tuple[Message, ...]:
    """Read all contents; raise WireError with a JSON pointer where one is wrong."""
    said: list[tuple[Role, list[Node]]] = []
    for node in contents:
        role: Role = "user" if node["role"].absent else node["role"].one_of(_ROLES)
        if said and said[-1][0] == role == "assistant":
            said[-1][1].extend(parts_of(node))
        else:
            said.append((role, list(parts_of(node))))
    calls = _Calls()
    return tuple(_message(role, parts, calls) for role, parts in said)


def parts_of(content: Node) -> tuple[Node, ...]:
    """Return the parts of a content."""
    return many(content["parts"])


def texts_of(parts: Iterable[Node]) -> tuple[str, ...]:
    """Return the texts that are no thoughts."""
    return tuple(part["text"].text() for part in parts if not part["text"].absent and not part["thought"].flag())


@dataclass(slots=True)
class _Calls:
    """The calls of a conversation, as it is read: those that wait for a result, and how many there were."""

    waiting: list[Call] = field(default_factory=list)
    count: int = 0

    def made(self, node: Node) -> Call:
        """Read a call."""
        self.count += 1
        call_id = node["id"].optional_text() or f"call-{self.count}"
        call = Call(node["name"].text(), node["args"].optional_members(), id=call_id)
        self.waiting.append(call)
        return call

    def answered(self, node: Node) -> ToolResult:
        """Read a result, and find its call; one that has none bears its function's name for an id."""
        call_id, name = node["id"].optional_text(), node["name"].text()
        call = next((c for c in self.waiting if (c.id == call_id if call_id else c.name == name)), None)
        if call is not None:
            self.waiting.remove(call)
        response = node["response"].optional_members()
        failed = True if "error" in response else None
        return ToolResult(call_id or (call.id if call else name), _result(response), failed)


def _message(role: Role, parts: Sequence[Node], calls: _Calls) -> Message:
    texts = texts_of(parts)
    return Message(
        role,
        ("".join(texts),) if texts and role == "assistant" else texts,
        tuple(calls.made(node) for node in _members(parts, "functionCall")),
        tuple(calls.answered(node) for node in _members(parts, "functionResponse")),
        tuple(_thinking(parts)),
    )


def _thinking(parts: Iterable[Node]) -> Iterator[Thinking]:
    """Yield the thinking up to each signature: the text that one signs may have been left out."""
    text = ""
    for part in parts:
        text += part["text"].optional_text() if part["thought"].flag() else ""
        if signature := either(part, "thoughtSignature").optional_text():
            yield Thinking(text, signature)
            text = ""
    if text:
        yield Thinking(text)


def _members(parts: Iterable[Node], name: str) -> Iterator[Node]:
    return (member for part in parts if not (member := either(part, name)).absent)


def _result(response: JSONObject) -> str:
    """Return the text of a result: its one string under a documented name, else all of it as JSON."""
    texts = [value for key, value in response.items() if key in _ALONE and isinstance(value, str)]
    return texts[0] if len(texts) == len(response) == 1 else dumps(response)
