"""Anthropic Messages: read an answer back, whole or streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.wire.anthropic_messages.words import STOP_REASONS
from pytest_agentcontract.wire.node import Node, document
from pytest_agentcontract.wire.sse import Frame
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage, read_call

_STOPS: Final[dict[str, Stop]] = {label: stop for stop, label in reversed(STOP_REASONS.items()) if label}


@dataclass(slots=True)
class _Block:
    """One content block as it grows: `text` is its text, its thinking or the JSON text of its input."""

    kind: str
    text: str = ""
    signature: str = ""
    name: str = ""
    id: str = ""


@dataclass(slots=True)
class _Answer:
    """A streamed answer as far as it was read."""

    blocks: dict[int, _Block] = field(default_factory=dict)
    stop: Stop = "absent"
    usage: Usage = field(default_factory=Usage)


def decode_whole(body: JSON) -> Turn:
    """Read a response document; raise WireError with a JSON pointer where it can't be one."""
    root = Node(body)
    if root["type"].value == "error":
        raise _reported(root)
    blocks = [_whole(node) for node in root["content"].items()]
    return _turn(_Answer(dict(enumerate(blocks)), _stop(root["stop_reason"]), _usage(root["usage"], Usage())))


def decode_stream(frames: Iterable[Frame]) -> Turn:
    """Read the events of a streamed response, as far as they go; raise WireError for a wrong or failing one."""
    answer = _Answer()
    for frame in frames:
        node = document(frame.data)
        take = _EVENTS.get(node["type"].text())
        if take is not None:
            take(answer, node)
    return _turn(answer)


def _turn(answer: _Answer) -> Turn:
    blocks = [answer.blocks[index] for index in sorted(answer.blocks)]
    thinking = [block for block in blocks if block.kind == "thinking"]
    texts = [block.text for block in blocks if block.kind == "text"]
    turn = Turn(
        text="".join(texts) if texts else None,
        calls=tuple(_call(block) for block in blocks if block.kind == "tool_use"),
        stop=answer.stop,
        usage=answer.usage,
    )
    if not thinking:
        return turn
    return replace(turn, thinking="".join(block.text for block in thinking), signature=thinking[-1].signature)


def _call(block: _Block) -> Call:
    return read_call(block.name, block.text or "{}", block.id)


def _whole(node: Node) -> _Block:
    block = _opened(node)
    if block.kind == "tool_use":
        block.text = dumps(node["input"].anything({}))
    return block


def _opened(node: Node) -> _Block:
    kind = node["type"].text()
    if kind == "tool_use":
        return _Block(kind, name=node["name"].text(), id=node["id"].text())
    texts = {"text": "text", "thinking": "thinking"}
    return _Block(kind, node[texts[kind]].text() if kind in texts else "", node["signature"].optional_text())


def _started(answer: _Answer, node: Node) -> None:
    answer.usage = _usage(node["message"]["usage"], answer.usage)


def _block_started(answer: _Answer, node: Node) -> None:
    answer.blocks[node["index"].number()] = _opened(node["content_block"])


def _block_grew(answer: _Answer, node: Node) -> None:
    index, delta = node["index"].number(), node["delta"]
    if index not in answer.blocks:
        raise WireError(f"block {index} grows, but was never started", where=node["index"].pointer)
    key = _GROWTH.get(delta["type"].text())
    if key == "signature":
        answer.blocks[index].signature += delta[key].text()
    elif key:
        answer.blocks[index].text += delta[key].text()


def _closed(answer: _Answer, node: Node) -> None:
    answer.stop = _stop(node["delta"]["stop_reason"])
    answer.usage = _usage(node["usage"], answer.usage)


def _failed(_answer: _Answer, node: Node) -> None:
    raise _reported(node)


_EVENTS: Mapping[str, Callable[[_Answer, Node], None]] = {
    "message_start": _started,
    "content_block_start": _block_started,
    "content_block_delta": _block_grew,
    "message_delta": _closed,
    "error": _failed,
}
_GROWTH: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
    "signature_delta": "signature",
}


def _reported(node: Node) -> WireError:
    error = node["error"]
    return WireError(f"the provider reported {error['type'].text()}: {error['message'].text()}", where=error.pointer)


def _stop(node: Node) -> Stop:
    return "absent" if node.absent else node.one_of(_STOPS)


def _usage(node: Node, before: Usage) -> Usage:
    """Read usage figures, which are totals so far; those that are not told again stand."""
    if node.absent:
        return before
    told = {mine: node[theirs].number() for mine, theirs in _FIGURES.items() if not node[theirs].absent}
    return replace(before, **told)


_FIGURES: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
