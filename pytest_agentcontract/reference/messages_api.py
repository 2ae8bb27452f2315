"""The client side of the Anthropic Messages API: render a conversation, put a streamed answer together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, as_text, dumps
from pytest_agentcontract.reference.conversation import Answer, Ask, Entry, Part, Results, Said, answer_of
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.reference.usage import Reading

PATH = "/v1/messages"
STOPS = {"end_turn": "end", "stop_sequence": "end", "tool_use": "tool-use", "max_tokens": "length"}
_MAX_TOKENS = 32_000


def headers(key: str) -> dict[str, str]:
    """Return the headers that carry the key and the API's version."""
    return {"x-api-key": key, "anthropic-version": "2023-06-01"}


def body(ask: Ask, model: str) -> JSONObject:
    """Render one request."""
    choice: JSONObject = {} if ask.force is None else {"tool_choice": {"type": "tool", "name": ask.force}}
    return {
        "model": model,
        "max_tokens": _MAX_TOKENS,
        "stream": True,
        "system": ask.system,
        "messages": [_message(entry) for entry in ask.history],
        "tools": [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in ask.tools
        ],
        **choice,
    }


def _message(entry: Entry) -> JSONObject:
    role, blocks = _RENDERERS[type(entry)](entry)
    return {"role": role, "content": blocks}


def _said(entry: Said) -> tuple[str, list[JSON]]:
    return "user", [_text(text) for text in entry.texts]


def _results(entry: Results) -> tuple[str, list[JSON]]:
    return "user", [
        {
            "type": "tool_result",
            "tool_use_id": result.call_id,
            "content": result.text,
            **({"is_error": True} if result.is_error else {}),
        }
        for result in entry.results
    ]


def _answer(entry: Answer) -> tuple[str, list[JSON]]:
    calls: list[JSON] = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}} for call in entry.calls
    ]
    return "assistant", _thinking(entry) + ([_text(entry.text)] if entry.text.strip() else []) + calls


def _thinking(entry: Answer) -> list[JSON]:
    block: JSON = {"type": "thinking", "thinking": entry.thinking, "signature": entry.signature}
    return [block] if entry.thinking else []


def _text(text: str) -> JSON:
    return {"type": "text", "text": text}


_RENDERERS: dict[type, Callable[..., tuple[str, list[JSON]]]] = {Said: _said, Results: _results, Answer: _answer}


@dataclass(slots=True)
class Assembly:
    """One answer in the making: `done` once its terminal event has come."""

    on_text: Callable[[str], None]
    reading: Reading
    done: bool = False
    enough: bool = False
    _stop: str = ""
    _blocks: dict[int, Part] = field(default_factory=dict)

    def feed(self, event: JSONObject) -> None:
        """Take one event; an error event is a ModelError."""
        kind = as_text(event.get("type"))
        if kind in _HANDLERS:
            _HANDLERS[kind](self, event)

    def answer(self) -> Answer:
        """Return what has arrived."""
        return answer_of(self._blocks, self._stop, text="text", thinking="thinking", call="tool_use")

    def start(self, event: JSONObject) -> None:
        """Take `message_start`, which holds the first figures of usage."""
        self.reading.report(as_object(event.get("message")).get("usage"))

    def block(self, event: JSONObject) -> None:
        """Take `content_block_start`; what a block starts with is its first delta."""
        block = as_object(event.get("content_block"))
        kind = as_text(block.get("type"))
        # A call may come whole in its first event; an empty object there means that its arguments follow.
        content = dumps(block["input"]) if block.get("input") else as_text(block.get(kind))
        self._blocks[_index(event)] = Part(kind, as_text(block.get("id")), as_text(block.get("name")))
        self._add(_index(event), content)

    def delta(self, event: JSONObject) -> None:
        """Take `content_block_delta`."""
        delta = as_object(event.get("delta"))
        if signature := as_text(delta.get("signature")):
            self._blocks.setdefault(_index(event), Part("thinking")).signature += signature
        part = _DELTAS.get(as_text(delta.get("type")))
        if part is not None:
            self._add(_index(event), as_text(delta.get(part)))

    def finish(self, event: JSONObject) -> None:
        """Take `message_delta`: the label and the last figures of usage."""
        label = as_text(as_object(event.get("delta")).get("stop_reason"))
        self._stop = STOPS.get(label, label)
        self.reading.report(event.get("usage"))

    def end(self, _event: JSONObject) -> None:
        """Take `message_stop`, the terminal event."""
        self.done = True

    def error(self, event: JSONObject) -> None:
        """Take `error`, which may come in the middle of a stream."""
        raise ModelError(as_text(as_object(event.get("error")).get("message")) or "the provider reported an error")

    def _add(self, index: int, content: str) -> None:
        block = self._blocks.setdefault(index, Part("text"))
        block.content += content
        if block.kind == "text" and content:
            self.on_text(content)


def _index(event: JSONObject) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_HANDLERS: dict[str, Callable[[Assembly, JSONObject], None]] = {
    "message_start": Assembly.start,
    "content_block_start": Assembly.block,
    "content_block_delta": Assembly.delta,
    "message_delta": Assembly.finish,
    "message_stop": Assembly.end,
    "error": Assembly.error,
}
