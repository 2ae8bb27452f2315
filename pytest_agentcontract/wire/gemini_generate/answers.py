"""Gemini generateContent: encode a turn as one response or as a stream of them.

Arguments are an object on this wire. A call whose arguments are none can't be sent, and the real API sends none: it
drops the calls of such an answer and says MALFORMED_FUNCTION_CALL. A call comes whole, as one delta. A refusal is text.
Thinking is signed on the first part of what follows it that is whole: a call, else the text, which in a stream ends in
an empty part for that; where nothing follows, on the thinking itself. Every chunk but that of an empty answer has a
part, since Google's client takes a chunk without one for a broken answer. What Google's JSON writers escape stands
escaped in a stream: angle brackets, and characters that nobody sees, line separators among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps
from pytest_agentcontract.wire.gemini_generate.words import FINISH_REASONS, error_body
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import Event, documents, framed, pieces
from pytest_agentcontract.wire.turn import Call, Turn, Usage, read_call

_ESCAPED: Final = re.compile(
    "[<>\u00ad\u0600-\u0603\u06dd\u070f\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]"
)


def encode_whole(turn: Turn, request: Request, serial: int) -> JSON:
    """Render a turn as one response document."""
    calls = _calls(turn, serial)
    parts: list[JSON] = []
    if turn.thinking is not None:
        ends = turn.prose is None and not calls
        parts.append(_thought(turn.thinking) | (_signature(turn) if ends else {}))
    if turn.prose is not None:
        parts.append({"text": turn.prose, **({} if calls else _signature(turn))})
    return _response(request, serial, [*parts, *calls], **_end(turn))


def encode_stream(turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
    """Render a turn as the chunks of a streamed response; the first one is a piece of the answer already."""
    calls = _calls(turn, serial)

    def chunk(part: JSON) -> JSON:
        return _response(request, serial, [part])

    return (
        *_texts(turn, chunk, followed=bool(calls)),
        *(_chunk(dumps(chunk(call)), delta=True) for call in calls),
        _chunk(dumps(_response(request, serial, _last(turn, calls), **_end(turn)))),
    )


def encode_error(status: int, message: str) -> JSON:
    """Render the error body of a response that is not a success."""
    return error_body(status, message)


def encode_failure(status: int, message: str, sent: int) -> Event:  # noqa: ARG001 - chunks bear no numbers
    """Render the error that a provider reports inside a stream."""
    return _chunk(dumps(error_body(status, message)))


def _texts(turn: Turn, chunk: Callable[[JSON], JSON], *, followed: bool) -> Iterator[Event]:
    """Yield the chunks of thinking and text: an empty text stands only before what follows it."""
    if turn.thinking == "":
        yield _chunk(dumps(chunk(_thought(""))))
    yield from _series(lambda piece: chunk(_thought(piece)), pieces(turn.thinking or "", turn.deltas))
    if turn.prose == "" and followed:
        yield _chunk(dumps(chunk({"text": ""})))
    yield from _series(lambda piece: chunk({"text": piece}), pieces(turn.prose or "", turn.deltas))


def _series(around: Callable[[str], JSON], texts: Sequence[str]) -> Iterator[Event]:
    return (_chunk(document, delta=True) for document in documents(around, texts))


def _chunk(document: str, *, delta: bool = False) -> Event:
    escaped = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", document)
    return framed(None, escaped, delta=delta)


def _last(turn: Turn, calls: list[JSON]) -> list[JSON]:
    """Return the parts of the last chunk: an empty one of the kind that came before, if anything did."""
    if calls:
        return [{"text": ""}]
    if turn.prose is not None:
        return [{"text": "", **_signature(turn)}]
    return [] if turn.thinking is None else [_thought("") | _signature(turn)]


def _thought(text: str) -> JSONObject:
    return {"text": text, "thought": True}


def _signature(turn: Turn) -> JSONObject:
    return {} if turn.thinking is None else {"thoughtSignature": turn.signature}


def _calls(turn: Turn, serial: int) -> list[JSON]:
    """Return the parts of all calls, the first one signed; none if the arguments of one are no object."""
    arguments = [_arguments(call) for call in turn.calls]
    return [
        {
            "functionCall": {"id": call.id or f"call_{serial:08d}_{k}", "name": call.name, "args": given},
            **({} if k else _signature(turn)),
        }
        for k, (call, given) in enumerate(zip(turn.calls, arguments, strict=True))
        if None not in arguments
    ]


def _arguments(call: Call) -> JSONObject | None:
    read = read_call(call.name, call.arguments_text, call.id)
    return read.arguments if isinstance(read.arguments, dict) and read.raw_arguments is None else None


def _end(turn: Turn) -> JSONObject:
    """Return what the end of an answer says: its label, and what it cost."""
    label, message = FINISH_REASONS[turn.natural_stop], None
    broken = next((call for call in turn.calls if _arguments(call) is None), None)
    if broken is not None and label == FINISH_REASONS["end"]:
        label = FINISH_REASONS["malformed-call"]
        message = f"Malformed function call: {broken.name}({broken.arguments_text})"
    return {"finish_reason": label, "finish_message": message, "usage": _usage(turn.usage)}


def _usage(usage: Usage) -> JSONObject:
    return {
        "promptTokenCount": usage.whole_input,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": usage.whole_input + usage.output_tokens,
        "cachedContentTokenCount": usage.cache_read,
        "thoughtsTokenCount": 0,
    }


def _response(
    request: Request,
    serial: int,
    parts: list[JSON],
    finish_reason: JSON = None,
    finish_message: JSON = None,
    usage: JSON = None,
) -> JSONObject:
    """Return one response; what says nothing is left out, as the API does it."""
    content: JSONObject = {"role": "model"} if not parts else {"parts": parts, "role": "model"}
    ended: JSONObject = {"finishReason": finish_reason, "finishMessage": finish_message}
    told: JSONObject = {"usageMetadata": usage} if usage is not None else {}
    return {
        "candidates": [{"content": content, **{k: v for k, v in ended.items() if v is not None}, "index": 0}],
        **told,
        "modelVersion": request.model,
        "responseId": f"response-{serial:08d}",
    }
