"""OpenAI Chat Completions: encode a turn as one document or as a stream of chunks.

Thinking has no place in this format; it goes out as `reasoning_content`, as most servers that imitate it do. Arguments
are text on this wire, whole and streamed, so that raw ones go out as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pytest_agentcontract.jsonvalue import JSON, JSONObject, point
from pytest_agentcontract.wire.openai_chat.words import FINISH_REASONS, error_body
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import DONE, Event, event, pieces, series
from pytest_agentcontract.wire.turn import Call, Turn, Usage

_EPOCH = 1_750_000_000


def encode_whole(turn: Turn, request: Request, serial: int) -> JSON:
    """Render a turn as one response document."""
    message: JSONObject = {"role": "assistant", "content": turn.text, "refusal": turn.refusal}
    if turn.thinking is not None:
        message["reasoning_content"] = turn.thinking
    if turn.calls:
        message["tool_calls"] = [_call_value(call, serial, k, call.arguments_text) for k, call in enumerate(turn.calls)]
    choice = _choice("message", message, _finish(turn))
    return _envelope("chat.completion", request, serial) | {"choices": [choice], "usage": _usage(turn.usage)}


def encode_stream(turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
    """Render a turn as the chunks of a streamed response; usage is sent only if the request asks for it."""
    asked = point(request.body, "/stream_options/include_usage") is True
    frame = _envelope("chat.completion.chunk", request, serial) | ({"usage": None} if asked else {})
    final: JSONObject = {"choices": [], "usage": _usage(turn.usage)}
    return (
        *_said(turn, serial, lambda delta: frame | {"choices": [_choice("delta", delta, None)]}),
        event(None, frame | {"choices": [_choice("delta", {}, _finish(turn))]}),
        *([event(None, frame | final)] if asked else []),
        DONE,
    )


def encode_error(status: int, message: str) -> JSON:
    """Render the error body of a response that is not a success."""
    return error_body(status, message)


def encode_failure(status: int, message: str, sent: int) -> Event:  # noqa: ARG001 - chunks bear no numbers
    """Render the error that a provider reports inside a stream."""
    return event(None, error_body(status, message))


def _finish(turn: Turn) -> str | None:
    """Return the finish reason: a refusal that is said in words is an ordinary end."""
    said = turn.refusal is not None and turn.natural_stop == "refusal"
    return FINISH_REASONS["end" if said else turn.natural_stop]


def _said(turn: Turn, serial: int, chunk: Callable[[JSONObject], JSON]) -> Iterator[Event]:
    """Yield the events of what is said, each a `chunk` around its delta."""
    yield event(None, chunk({"role": "assistant", "content": None if turn.text is None else "", "refusal": None}))
    for key, text in (("reasoning_content", turn.thinking), ("content", turn.text), ("refusal", turn.refusal)):
        if text == "":
            yield event(None, chunk({key: ""}))
        yield from series(None, partial(_text, chunk, key), pieces(text or "", turn.deltas))
    for k, call in enumerate(turn.calls):
        yield event(None, chunk({"tool_calls": [{"index": k} | _call_value(call, serial, k, "")]}))
        yield from series(None, partial(_arguments, chunk, k), pieces(call.arguments_text, turn.deltas))


def _text(chunk: Callable[[JSONObject], JSON], key: str, piece: str) -> JSON:
    return chunk({key: piece})


def _arguments(chunk: Callable[[JSONObject], JSON], k: int, piece: str) -> JSON:
    return chunk({"tool_calls": [{"index": k, "function": {"arguments": piece}}]})


def _call_value(call: Call, serial: int, k: int, arguments: str) -> JSONObject:
    call_id = call.id or f"call_{serial:08d}_{k}"
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _choice(key: str, value: JSONObject, finish_reason: str | None) -> JSONObject:
    return {"index": 0, key: value, "logprobs": None, "finish_reason": finish_reason}


def _usage(usage: Usage) -> JSONObject:
    return {
        "prompt_tokens": usage.whole_input,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.whole_input + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    }


def _envelope(kind: str, request: Request, serial: int) -> JSONObject:
    return {"id": f"chatcmpl-{serial:08d}", "object": kind, "created": _EPOCH, "model": request.model}
