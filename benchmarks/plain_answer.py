"""The answer as anybody would write it by hand, for servers that bring none of their own: json.dumps at every event."""

from __future__ import annotations

import json
from collections.abc import Iterator

from question import PIECE, TEXT

PATH = "/v1/chat/completions"
STREAM = "text/event-stream"


def whole(model: str) -> str:
    """Render the answer as one document."""
    choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
    return json.dumps(head | {"choices": [choice], "usage": usage})


def events(model: str) -> Iterator[bytes]:
    """Render the answer event by event."""
    yield _event(model, {"role": "assistant", "content": ""}, None)
    for at in range(0, len(TEXT), PIECE):
        yield _event(model, {"content": TEXT[at : at + PIECE]}, None)
    yield _event(model, {}, "stop")
    yield b"data: [DONE]\n\n"


def _event(model: str, delta: dict[str, str], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()
