"""OpenAI Chat Completions: read an answer back, whole or streamed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.node import Node, document
from pytest_agentcontract.wire.openai_chat.words import FINISH_REASONS
from pytest_agentcontract.wire.sse import Frame
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage, read_call

_DONE = "[DONE]"
_STOPS: Final[dict[str, Stop]] = {label: stop for stop, label in reversed(FINISH_REASONS.items()) if label}
_CHOICE = 0


@dataclass(slots=True)
class _Call:
    """One tool call as it grows."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Answer:
    """An answer as far as it was read: a text is None until a string stands in its place."""

    said: dict[str, str] = field(default_factory=dict)
    calls: dict[int, _Call] = field(default_factory=dict)
    stop: Stop = "absent"
    usage: Usage = field(default_factory=Usage)


def decode_whole(body: JSON) -> Turn:
    """Read a response document; raise WireError with a JSON pointer where it can't be one."""
    root = Node(body)
    _refuse_error(root)
    answer = _Answer(usage=_usage(root["usage"]))
    for choice in root["choices"].items()[: _CHOICE + 1]:
        _take(answer, choice, choice["message"])
    return _turn(answer)


def decode_stream(frames: Iterable[Frame]) -> Turn:
    """Read the chunks of a streamed response, as far as they go; raise WireError for a wrong or failing one."""
    answer = _Answer()
    for frame in frames:
        if frame.data == _DONE:
            break
        chunk = document(frame.data)
        _refuse_error(chunk)
        for choice in chunk["choices"].items():
            if choice["index"].number() == _CHOICE:
                _take(answer, choice, choice["delta"])
        if not chunk["usage"].absent:
            answer.usage = _usage(chunk["usage"])
    return _turn(answer)


def _turn(answer: _Answer) -> Turn:
    refusal = answer.said.get("refusal")
    return Turn(
        text=answer.said.get("content"),
        thinking=answer.said.get("reasoning_content"),
        calls=tuple(_read(answer.calls[index]) for index in sorted(answer.calls)),
        stop="refusal" if refusal is not None and answer.stop == "end" else answer.stop,
        usage=answer.usage,
        refusal=refusal,
    )


def _read(call: _Call) -> Call:
    return read_call(call.name, call.arguments, call.id)


def _take(answer: _Answer, choice: Node, part: Node) -> None:
    """Add a message, or a piece of one."""
    for key in ("content", "reasoning_content", "refusal"):
        if not part[key].absent:
            answer.said[key] = answer.said.get(key, "") + part[key].text()
    for position, node in enumerate(part["tool_calls"].optional_items()):
        index = position if node["index"].absent else node["index"].number()
        _grow(answer.calls.setdefault(index, _Call()), node)
    if not choice["finish_reason"].absent:
        answer.stop = choice["finish_reason"].one_of(_STOPS)


def _grow(call: _Call, node: Node) -> None:
    kind = "custom" if node["type"].value == "custom" else "function"
    named = node.find(kind)
    call.id = node["id"].optional_text() or call.id
    call.name += named.find("name").optional_text()
    call.arguments += named.find("input" if kind == "custom" else "arguments").optional_text()


def _refuse_error(root: Node) -> None:
    error = root["error"]
    if not error.absent:
        raise WireError(f"the provider reported: {error['message'].text()}", where=error.pointer)


def _usage(node: Node) -> Usage:
    cached = node.find("prompt_tokens_details", "cached_tokens").number()
    return Usage(node.find("prompt_tokens").number() - cached, node.find("completion_tokens").number(), cached)
