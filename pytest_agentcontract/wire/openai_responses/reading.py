"""The Responses API: read an answer back, whole or streamed.

A stream says everything twice, in pieces and whole. The pieces are what is read; whatever repeats them must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.node import Node, document
from pytest_agentcontract.wire.openai_responses.requests import qualified_name
from pytest_agentcontract.wire.openai_responses.words import STATUSES, TEXTS
from pytest_agentcontract.wire.sse import Frame
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage, read_call

_Texts: TypeAlias = dict[tuple[str, int], str]
"""The texts of an item by the type of what holds each (see TEXTS), and by its number there."""

_REASONS: Final[dict[str, Stop]] = {status.reason: stop for stop, status in reversed(STATUSES.items()) if status.reason}
_FINISHED: Final = {"completed": True, "incomplete": False}
_CALLS: Final = ("function_call", "custom_tool_call")


@dataclass(slots=True)
class _Item:
    """One item of the output as it grows. What names it doesn't change."""

    kind: str
    name: str
    call_id: str
    texts: _Texts
    signature: str


@dataclass(slots=True)
class _Answer:
    """An answer as far as it was read; `stop` None is the end that its content calls for."""

    items: dict[int, _Item] = field(default_factory=dict)
    stop: Stop | None = "absent"
    usage: Usage = field(default_factory=Usage)


def decode_whole(body: JSON) -> Turn:
    """Read a response document; raise WireError with a JSON pointer where it can't be one."""
    root = Node(body)
    _refuse_error(root)
    items = dict(enumerate(_item(node) for node in root["output"].items()))
    return _turn(_Answer(items, _stop(root), _usage(root["usage"])))


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
    items = [answer.items[index] for index in sorted(answer.items)]
    reasoning = [item for item in items if item.kind == "reasoning"]
    turn = Turn(
        text=_text(items, "output_text"),
        refusal=_text(items, "refusal"),
        calls=tuple(_call(item) for item in items if item.kind in _CALLS),
        stop=answer.stop,
        usage=answer.usage,
    )
    turn = replace(turn, stop=turn.natural_stop)
    if not reasoning:
        return turn
    thinking = "".join(text for item in reasoning for text in item.texts.values())
    return replace(turn, thinking=thinking, signature=reasoning[-1].signature)


def _text(items: list[_Item], holder: str) -> str | None:
    texts = [text for item in items for (held_by, _), text in item.texts.items() if held_by == holder]
    return "".join(texts) if texts else None


def _call(item: _Item) -> Call:
    text = item.texts[item.kind, 0]
    if item.kind == "custom_tool_call":
        return Call(item.name, raw_arguments=text, id=item.call_id)
    return read_call(item.name, text, item.call_id)


def _item(node: Node) -> _Item:
    kind = node["type"].text()
    called = kind in _CALLS
    name, call_id = (qualified_name(node), node["call_id"].text()) if called else ("", "")
    return _Item(kind, name, call_id, _texts(kind, node), node["encrypted_content"].optional_text())


def _texts(kind: str, node: Node) -> _Texts:
    if kind in TEXTS:
        return {(kind, 0): node[TEXTS[kind].key].text()}
    lists = {"message": ("content",), "reasoning": ("summary", "content")}.get(kind, ())
    parts = [(k, part) for key in lists for k, part in enumerate(node[key].optional_items())]
    held = [(part["type"].text(), k, part) for k, part in parts]
    return {(holder, k): part[TEXTS[holder].key].text() for holder, k, part in held if holder in TEXTS}


def _added(answer: _Answer, node: Node) -> None:
    answer.items[node["output_index"].number()] = _item(node["item"])


def _item_done(answer: _Answer, node: Node) -> None:
    grown, told = _grown(answer, node), _item(node["item"])
    _agree(grown, told, node["item"])
    grown.signature = told.signature


def _part_added(answer: _Answer, node: Node) -> None:
    holder = node["part"]["type"].text()
    if holder in TEXTS:
        slot = holder, node[TEXTS[holder].index].number()
        _grown(answer, node).texts[slot] = node["part"][TEXTS[holder].key].text()


def _part_done(answer: _Answer, node: Node) -> None:
    holder = node["part"]["type"].text()
    if holder in TEXTS:
        _same(answer, node, holder, node["part"][TEXTS[holder].key])


def _text_grew(answer: _Answer, node: Node, holder: str) -> None:
    texts, slot = _slot(answer, node, holder)
    texts[slot] += node["delta"].text()


def _text_done(answer: _Answer, node: Node, holder: str) -> None:
    _same(answer, node, holder, node[TEXTS[holder].key])


def _completed(answer: _Answer, node: Node) -> None:
    response = node["response"]
    _refuse_error(response)
    told = response["output"].items()
    if len(told) != len(answer.items):
        raise WireError(f"holds {len(told)} items, and {len(answer.items)} came", where=response["output"].pointer)
    for item, index in zip(told, sorted(answer.items), strict=True):
        _agree(answer.items[index], _item(item), item)
    answer.stop, answer.usage = _stop(response), _usage(response["usage"])


def _slot(answer: _Answer, node: Node, holder: str) -> tuple[_Texts, tuple[str, int]]:
    """Find the text that an event is about; one that has no number among its like is the first."""
    texts, slot = _grown(answer, node).texts, (holder, node[TEXTS[holder].index].number())
    if slot not in texts:
        raise WireError(f"{holder} {slot[1]} grows, but was never started", where=node.pointer)
    return texts, slot


def _same(answer: _Answer, node: Node, holder: str, told: Node) -> None:
    texts, slot = _slot(answer, node, holder)
    if told.text() != texts[slot]:
        raise WireError("is not what its deltas say", where=told.pointer)


def _agree(grown: _Item, told: _Item, node: Node) -> None:
    if (told.kind, told.name, told.call_id, told.texts) != (grown.kind, grown.name, grown.call_id, grown.texts):
        raise WireError("is not the item that came before, or not what its deltas say", where=node.pointer)


def _grown(answer: _Answer, node: Node) -> _Item:
    index = node["output_index"].number()
    if index not in answer.items:
        raise WireError(f"item {index} grows, but was never started", where=node["output_index"].pointer)
    return answer.items[index]


def _stop(response: Node) -> Stop | None:
    if response["status"].absent:
        return "absent"
    finished = response["status"].one_of(_FINISHED)
    return None if finished else response["incomplete_details"]["reason"].one_of(_REASONS)


def _refuse_error(root: Node) -> None:
    error = root["error"]
    if not error.absent:
        raise WireError(f"the provider reported: {error['message'].text()}", where=error.pointer)


def _failed(_answer: _Answer, node: Node) -> None:
    """Take an `error` event, whose words stand in a body of their own or in the event itself."""
    _refuse_error(node)
    raise WireError(f"the provider reported: {node['message'].text()}", where=node.pointer)


def _usage(node: Node) -> Usage:
    details = node.find("input_tokens_details")
    read, written = (details.find(key).number() for key in ("cached_tokens", "cache_write_tokens"))
    return Usage(
        node.find("input_tokens").number() - read - written, node.find("output_tokens").number(), read, written
    )


_EVENTS: Final[Mapping[str, Callable[[_Answer, Node], None]]] = {
    "error": _failed,
    "response.output_item.added": _added,
    "response.output_item.done": _item_done,
    "response.completed": _completed,
    "response.incomplete": _completed,
    "response.failed": _completed,
    **{f"response.{kind.frame}.added": _part_added for kind in TEXTS.values() if kind.frame},
    **{f"response.{kind.frame}.done": _part_done for kind in TEXTS.values() if kind.frame},
    **{f"response.{kind.event}.delta": partial(_text_grew, holder=holder) for holder, kind in TEXTS.items()},
    **{f"response.{kind.event}.done": partial(_text_done, holder=holder) for holder, kind in TEXTS.items()},
}
