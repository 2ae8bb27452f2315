"""Gemini generateContent: the conversation of a request.

Calls may come without ids, and so may results: then a call is known by its place, and a result belongs to the first
call of its name that has none yet. What a model said in a stream may come back as one content for each chunk: contents
of the model that follow each other are one message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_agentcontract.jsonvalue import JSONObject, dumps
from pytest_agentcontract.wire.gemini_generate.words import either, many
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.recall import recalled
from pytest_agentcontract.wire.request import Message, Role, Thinking, ToolResult
from pytest_agentcontract.wire.turn import Call

_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant", "function": "tool"}
_ALONE: Final = frozenset({"output", "result", "error"})


@dataclass(frozen=True, slots=True)
class _Result:
    """What a function returned: `call_id` is empty where the client numbers no calls."""

    call_id: str
    name: str
    text: str
    is_error: bool | None


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of a content. A call that came without an id has an empty one."""

    text: str | None
    thought: bool
    signature: str
    call: Call | None
    result: _Result | None


def messages(contents: Iterable[Node]) -> tuple[Message, ...]:
    """Read all contents; raise WireError with a JSON pointer where one is wrong."""
    said: list[tuple[Role, list[_Part]]] = []
    for node in contents:
        role: Role = "user" if node["role"].absent else node["role"].one_of(_ROLES)
        parts = [_part(part) for part in many(node["parts"])]
        if said and said[-1][0] == role == "assistant":
            said[-1][1].extend(parts)
        else:
            said.append((role, parts))
    calls = _Calls()
    return tuple([_message(role, parts, calls) for role, parts in said])


def texts_of(content: Node) -> tuple[str, ...]:
    """Return the texts of a content that are no thoughts."""
    return _texts([_part(part) for part in many(content["parts"])])


@recalled
def _part(node: Node) -> _Part:
    call, result = either(node, "functionCall"), either(node, "functionResponse")
    return _Part(
        text=None if node["text"].absent else node["text"].text(),
        thought=node["thought"].flag(),
        signature=either(node, "thoughtSignature").optional_text(),
        call=None if call.absent else _call(call),
        result=None if result.absent else _result(result),
    )


def _call(node: Node) -> Call:
    return Call(node["name"].text(), node["args"].optional_members(), id=node["id"].optional_text())


def _result(node: Node) -> _Result:
    response = node["response"].optional_members()
    failed = True if "error" in response else None
    return _Result(node["id"].optional_text(), node["name"].text(), _returned(response), failed)


def _returned(response: JSONObject) -> str:
    """Return the text of a result: its one string under a documented name, else all of it as JSON."""
    texts = [value for key, value in response.items() if key in _ALONE and isinstance(value, str)]
    return texts[0] if len(texts) == len(response) == 1 else dumps(response)


@dataclass(slots=True)
class _Calls:
    """The calls of a conversation, as it is put together: those that wait for a result, and how many there were."""

    waiting: list[Call] = field(default_factory=list)
    count: int = 0

    def made(self, call: Call) -> Call:
        """Take a call; one that has no id is known by its place."""
        self.count += 1
        known = call if call.id else replace(call, id=f"call-{self.count}")
        self.waiting.append(known)
        return known

    def answered(self, result: _Result) -> ToolResult:
        """Find the call of a result; one that has none bears its function's name for an id."""
        call_id, name = result.call_id, result.name
        call = next((c for c in self.waiting if (c.id == call_id if call_id else c.name == name)), None)
        if call is not None:
            self.waiting.remove(call)
        return ToolResult(call_id or (call.id if call else name), result.text, result.is_error)


def _message(role: Role, parts: Sequence[_Part], calls: _Calls) -> Message:
    texts = _texts(parts)
    return Message(
        role,
        ("".join(texts),) if texts and role == "assistant" else texts,
        tuple([calls.made(part.call) for part in parts if part.call is not None]),
        tuple([calls.answered(part.result) for part in parts if part.result is not None]),
        tuple(_thinking(parts)),
    )


def _texts(parts: Iterable[_Part]) -> tuple[str, ...]:
    return tuple([part.text for part in parts if part.text is not None and not part.thought])


def _thinking(parts: Iterable[_Part]) -> Iterator[Thinking]:
    """Yield the thinking up to each signature: the text that one signs may have been left out."""
    text = ""
    for part in parts:
        text += part.text or "" if part.thought else ""
        if part.signature:
            yield Thinking(text, part.signature)
            text = ""
    if text:
        yield Thinking(text)
