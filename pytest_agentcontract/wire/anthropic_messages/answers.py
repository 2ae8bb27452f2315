"""Anthropic Messages: encode a turn as one document or as an event stream.

Raw arguments are text, which only a stream has a place for: there they go out as they are, piece by piece. A whole
answer holds the value that they spell, and the text itself as a string if they spell none. A refusal is text here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON, JSONObject, loads
from pytest_agentcontract.wire.anthropic_messages.words import STOP_REASONS, error_type
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import Event, event, pieces, series
from pytest_agentcontract.wire.turn import Call, Turn, Usage

_DELTA = "content_block_delta"


def encode_whole(turn: Turn, request: Request, serial: int) -> JSON:
    """Render a turn as one response document."""
    usage = _usage(turn.usage, turn.usage.output_tokens)
    content: list[JSON] = [block.whole for block in _blocks(turn, serial)]
    return _envelope(request, serial, content, STOP_REASONS[turn.natural_stop], usage)


def encode_stream(turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
    """Render a turn as the events of a streamed response: usage is told as it stands at first, and whole at the end."""
    opened = _envelope(request, serial, [], None, _usage(turn.usage, turn.usage.at_first))
    closed: JSONObject = {"stop_reason": STOP_REASONS[turn.natural_stop], "stop_sequence": None}
    return (
        _event("message_start", {"message": opened}),
        _PING,
        *(framed for index, block in enumerate(_blocks(turn, serial)) for framed in _block_events(index, block)),
        _event("message_delta", {"delta": closed, "usage": _usage(turn.usage, turn.usage.output_tokens)}),
        _END,
    )


def encode_error(status: int, message: str) -> JSON:
    """Render the error body of a response that is not a success."""
    return {"type": "error", "error": {"type": error_type(status), "message": message}}


def encode_failure(status: int, message: str, sent: int) -> Event:  # noqa: ARG001 - events bear no numbers here
    """Render the error that a provider reports inside a stream."""
    return event("error", encode_error(status, message))


@dataclass(frozen=True, slots=True)
class _Block:
    """One content block: as it stands in a whole answer, as a stream opens it, and how it grows.

    A stream fills it by deltas of the kind `grows`, whose text stands at `key`, and signs it if there is a `signature`.
    """

    whole: JSONObject
    opened: JSONObject
    grows: str
    key: str
    texts: tuple[str, ...]
    signature: str | None = None


def _blocks(turn: Turn, serial: int) -> Iterator[_Block]:
    if turn.thinking is not None:
        yield _thinking_block(turn.thinking, turn)
    if turn.prose is not None:
        yield _text_block(turn.prose, turn.deltas)
    for k, call in enumerate(turn.calls):
        yield _call_block(call, call.id or f"toolu_{serial:08d}_{k}", turn.deltas)


def _thinking_block(thinking: str, turn: Turn) -> _Block:
    block: JSONObject = {"type": "thinking", "thinking": thinking, "signature": turn.signature}
    opened = block | {"thinking": "", "signature": ""}
    return _Block(block, opened, "thinking_delta", "thinking", pieces(thinking, turn.deltas), turn.signature)


def _text_block(text: str, most: int) -> _Block:
    block: JSONObject = {"type": "text", "text": text}
    return _Block(block, block | {"text": ""}, "text_delta", "text", pieces(text, most))


def _call_block(call: Call, call_id: str, most: int) -> _Block:
    raw = call.arguments_text
    block: JSONObject = {"type": "tool_use", "id": call_id, "name": call.name, "input": _input(raw)}
    return _Block(block, block | {"input": {}}, "input_json_delta", "partial_json", pieces(raw, most))


def _input(raw: str) -> JSON:
    """Return what a whole answer holds as `input`: arguments that are no JSON have no place but a string."""
    try:
        return loads(raw)
    except ValueError:
        return raw


def _block_events(index: int, block: _Block) -> Iterator[Event]:
    yield _event("content_block_start", {"index": index, "content_block": block.opened})
    yield from series(_DELTA, lambda text: _grown(index, {"type": block.grows, block.key: text}), block.texts)
    if block.signature is not None:
        yield event(_DELTA, _grown(index, {"type": "signature_delta", "signature": block.signature}))
    yield _event("content_block_stop", {"index": index})


def _grown(index: int, delta: JSONObject) -> JSON:
    return {"type": _DELTA, "index": index, "delta": delta}


def _event(name: str, fields: JSONObject) -> Event:
    value: JSONObject = {"type": name}
    return event(name, value | fields)


def _usage(usage: Usage, output_tokens: int) -> JSONObject:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": output_tokens,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
    }


def _envelope(
    request: Request, serial: int, content: list[JSON], stop_reason: str | None, usage: JSONObject
) -> JSONObject:
    return {
        "id": f"msg_{serial:08d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


_PING, _END = _event("ping", {}), _event("message_stop", {})
