"""Gemini generateContent: read an answer back, whole or streamed. Every chunk of a stream is a whole response."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.gemini_generate.words import FINISH_REASONS, READ_ALONE
from pytest_agentcontract.wire.node import Node, document
from pytest_agentcontract.wire.sse import Frame
from pytest_agentcontract.wire.turn import SIGNATURE, Call, Stop, Turn, Usage

_STOPS: Final[dict[str, Stop]] = {
    **READ_ALONE,
    **{label: stop for stop, label in reversed(FINISH_REASONS.items()) if label},
}


@dataclass(slots=True)
class _Answer:
    """An answer as far as it was read: a text is None until a part holds one."""

    text: str | None = None
    thinking: str | None = None
    calls: list[Call] = field(default_factory=list)
    signature: str = ""
    stop: Stop = "absent"
    usage: Usage = field(default_factory=Usage)
    refusal: str | None = None


def decode_whole(body: JSON) -> Turn:
    """Read a response document; raise WireError with a JSON pointer where it can't be one."""
    answer = _Answer()
    _take(answer, Node(body))
    return _turn(answer)


def decode_stream(frames: Iterable[Frame]) -> Turn:
    """Read the chunks of a streamed response, as far as they go; raise WireError for a wrong or failing one."""
    answer = _Answer()
    for frame in frames:
        _take(answer, document(frame.data))
    return _turn(answer)


def _turn(answer: _Answer) -> Turn:
    # One label says that the model is done, with calls or without.
    stop: Stop = "tool-use" if answer.calls and answer.stop == "end" else answer.stop
    return Turn(
        text=answer.text,
        thinking=answer.thinking,
        calls=tuple(answer.calls),
        stop=stop,
        usage=answer.usage,
        refusal=answer.refusal,
        signature=answer.signature or (SIGNATURE if answer.thinking is None else ""),
    )


def _take(answer: _Answer, root: Node) -> None:
    """Add a response, or a chunk of one."""
    error = root["error"]
    if not error.absent:
        raise WireError(f"the provider reported: {error['message'].text()}", where=error.pointer)
    blocked = root["promptFeedback"]
    if not blocked.find("blockReason").absent:
        answer.refusal, answer.stop = blocked["blockReasonMessage"].optional_text(), "refusal"
    for candidate in root["candidates"].optional_items()[:1]:
        for part in candidate.find("content", "parts").optional_items():
            _take_part(answer, part)
        if not candidate["finishReason"].absent:
            answer.stop = candidate["finishReason"].one_of(_STOPS)
    if not root["usageMetadata"].absent:
        answer.usage = _usage(root["usageMetadata"])


def _take_part(answer: _Answer, part: Node) -> None:
    answer.signature = part["thoughtSignature"].optional_text() or answer.signature
    call, text = part["functionCall"], part["text"].optional_text()
    if not call.absent:
        answer.calls.append(Call(call["name"].text(), call["args"].optional_members(), id=call["id"].optional_text()))
    elif part["thought"].flag():
        answer.thinking = (answer.thinking or "") + text
    elif text or not (part["text"].absent or answer.calls):  # an empty text after a call ends the stream, no more
        answer.text = (answer.text or "") + text


def _usage(node: Node) -> Usage:
    cached = node["cachedContentTokenCount"].number()
    output = node["candidatesTokenCount"].number() + node["thoughtsTokenCount"].number()
    return Usage(node["promptTokenCount"].number() - cached, output, cached)
