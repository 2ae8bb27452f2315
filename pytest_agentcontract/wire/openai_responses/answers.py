"""The Responses API: encode a turn as one document or as an event stream.

An answer is a list of items: thinking as a reasoning item, whose signature is its encrypted content; text and refusal
as the parts of one message; then each call. Every `done` event repeats all of what it ends, and the last event the
whole response. What a response echoes of its request (tools, instructions) is left out: no client reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps
from pytest_agentcontract.wire.openai_chat.words import error_body
from pytest_agentcontract.wire.openai_responses.words import STATUSES, TEXTS, Status, Text
from pytest_agentcontract.wire.request import Request, Tool
from pytest_agentcontract.wire.sse import Event, documents, framed, pieces
from pytest_agentcontract.wire.turn import Call, Turn, Usage

_EPOCH = 1_750_000_000
_Step: TypeAlias = tuple[str, str, bool]
"""An event that has no number yet: its name, its fields as JSON, and whether it carries a piece of the answer."""


def encode_whole(turn: Turn, request: Request, serial: int) -> JSON:
    """Render a turn as one response document."""
    return _response(turn, request, serial, _items(turn, request, serial))


def encode_stream(turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
    """Render a turn as the events of a streamed response."""
    steps = enumerate(_steps(turn, request, serial))
    return tuple(_event(name, number, fields, delta=carries) for number, (name, fields, carries) in steps)


def encode_failure(status: int, message: str, sent: int) -> Event:
    """Render the error that a provider reports inside a stream.

    The documents put code and message beside the type; what the service sends has the body of an error response.
    """
    return _event("error", sent, dumps(error_body(status, message)))


def _event(name: str, number: int, fields: str, *, delta: bool = False) -> Event:
    return framed(name, f'{{"type": "{name}", "sequence_number": {number}, {fields[1:]}', delta=delta)


@dataclass(frozen=True, slots=True)
class _Item:
    """One item of the output: whole, as a stream opens it, and the texts that fill it."""

    whole: JSONObject
    opened: JSONObject
    texts: tuple[_Filled, ...]


@dataclass(frozen=True, slots=True)
class _Filled:
    """One text of an item; `place` is its number among its like, `part` what frames it (None: nothing does)."""

    kind: Text
    text: str
    place: JSONObject
    part: JSONObject | None = None


def _steps(turn: Turn, request: Request, serial: int) -> Iterator[_Step]:
    items = _items(turn, request, serial)
    begun = dumps({"response": _envelope(request, serial, Status("in_progress"), [], None)})
    yield "response.created", begun, False
    yield "response.in_progress", begun, False
    for index, item in enumerate(items):
        yield from _item_steps(index, item, turn.deltas)
    response = _response(turn, request, serial, items)
    last = "response.incomplete" if response["status"] == "incomplete" else "response.completed"
    yield _step(last, {"response": response})


def _item_steps(index: int, item: _Item, most: int) -> Iterator[_Step]:
    yield _step("response.output_item.added", {"output_index": index, "item": item.opened})
    for filled in item.texts:
        place: JSONObject = {"item_id": item.whole["id"], "output_index": index} | filled.place
        yield from _text_steps(filled, place, most)
    yield _step("response.output_item.done", {"output_index": index, "item": item.whole})


def _text_steps(filled: _Filled, place: JSONObject, most: int) -> Iterator[_Step]:
    kind, part = filled.kind, filled.part
    more: JSONObject = {"logprobs": []} if part and "logprobs" in part else {}
    if part is not None:
        yield _step(f"response.{kind.frame}.added", place | {"part": part | {kind.key: ""}})
    for fields in documents(lambda piece: place | {"delta": piece} | more, pieces(filled.text, most)):
        yield f"response.{kind.event}.delta", fields, True
    yield _step(f"response.{kind.event}.done", place | {kind.key: filled.text} | more)
    if part is not None:
        yield _step(f"response.{kind.frame}.done", place | {"part": part})


def _step(name: str, fields: JSONObject) -> _Step:
    return name, dumps(fields), False


def _items(turn: Turn, request: Request, serial: int) -> list[_Item]:
    items: list[_Item] = []
    if turn.thinking is not None:
        items.append(_reasoning(turn.thinking, turn.signature, serial))
    if turn.prose is not None:
        items.append(_message(turn, serial))
    if turn.calls:
        known = {tool.name: tool for tool in request.tools}
        items += (
            _call(call, known.get(call.name, Tool(call.name)), f"{serial:08d}_{k}") for k, call in enumerate(turn.calls)
        )
    return items


def _reasoning(thinking: str, signature: str, serial: int) -> _Item:
    part: JSONObject = {"type": "summary_text", "text": thinking}
    opened: JSONObject = {"type": "reasoning", "id": f"rs_{serial:08d}", "summary": [], "encrypted_content": None}
    whole = opened | {"summary": [part], "encrypted_content": signature}
    return _Item(whole, opened, (_Filled(TEXTS["summary_text"], thinking, {"summary_index": 0}, part),))


def _message(turn: Turn, serial: int) -> _Item:
    parts: list[JSONObject] = []
    if turn.text is not None:
        parts.append({"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []})
    if turn.refusal is not None:
        parts.append({"type": "refusal", "refusal": turn.refusal})
    opened: JSONObject = {"type": "message", "id": f"msg_{serial:08d}", "role": "assistant"}
    texts = tuple(_part(part, k) for k, part in enumerate(parts))
    whole = opened | {"status": "completed", "content": [*parts]}
    return _Item(whole, opened | {"status": "in_progress", "content": []}, texts)


def _part(part: JSONObject, number: int) -> _Filled:
    kind = TEXTS[str(part["type"])]
    return _Filled(kind, str(part[kind.key]), {kind.index: number}, part)


def _call(call: Call, tool: Tool, number: str) -> _Item:
    word, prefix = ("custom_tool_call", "ctc") if tool.free_text else ("function_call", "fc")
    kind = TEXTS[word]
    # Such a tool takes text as it is; a script may give it as a value, too.
    text = call.arguments if tool.free_text and isinstance(call.arguments, str) else call.arguments_text
    named: JSONObject = {"name": call.name}
    if tool.namespace:
        named = {"name": call.name.removeprefix(f"{tool.namespace}."), "namespace": tool.namespace}
    opened: JSONObject = {"type": word, "id": f"{prefix}_{number}", "call_id": call.id or f"call_{number}", **named}
    whole = opened | {kind.key: text, "status": "completed"}
    return _Item(whole, opened | {kind.key: "", "status": "in_progress"}, (_Filled(kind, text, {}),))


def _response(turn: Turn, request: Request, serial: int, items: list[_Item]) -> JSONObject:
    """Return the finished response; a refusal that is said in words is an ordinary end."""
    said = turn.refusal is not None and turn.natural_stop == "refusal"
    status = STATUSES["end" if said else turn.natural_stop]
    return _envelope(request, serial, status, [item.whole for item in items], _usage(turn.usage))


def _usage(usage: Usage) -> JSONObject:
    return {
        "input_tokens": usage.whole_input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.whole_input + usage.output_tokens,
    }


def _envelope(
    request: Request, serial: int, status: Status, output: list[JSON], usage: JSONObject | None
) -> JSONObject:
    return {
        "id": f"resp_{serial:08d}",
        "object": "response",
        "created_at": _EPOCH,
        "status": status.word,
        "error": None,
        "incomplete_details": status.reason and {"reason": status.reason},
        "model": request.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }
