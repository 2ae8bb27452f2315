"""The client side of the OpenAI Chat Completions API: render a conversation, put a streamed answer together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps
from pytest_agentcontract.reference.conversation import Answer, Ask, Entry, Results, Said, ToolCall
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.reference.usage import Reading

PATH = "/chat/completions"
STOPS = {"stop": "end", "tool_calls": "tool-use", "length": "length", "content_filter": "refusal"}


def headers(key: str) -> dict[str, str]:
    """Return the header that carries the key."""
    return {"authorization": f"Bearer {key}"}


def body(ask: Ask, model: str) -> JSONObject:
    """Render one request."""
    messages: list[JSON] = [{"role": "system", "content": ask.system}]
    for entry in ask.history:
        messages += _RENDERERS[type(entry)](entry)
    choice: JSONObject = {}
    if ask.force is not None:
        choice = {"tool_choice": {"type": "function", "function": {"name": ask.force}}}
    # An empty list of tools is refused upstream.
    tools: JSONObject = {"tools": [_tool(tool.name, tool.description, tool.schema) for tool in ask.tools]}
    return {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": messages,
        **(tools if ask.tools else {}),
        **choice,
    }


def _tool(name: str, description: str, schema: JSONObject) -> JSON:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def _said(entry: Said) -> list[JSON]:
    return [{"role": "user", "content": text} for text in entry.texts]


def _results(entry: Results) -> list[JSON]:
    return [{"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in entry.results]


def _answer(entry: Answer) -> list[JSON]:
    calls: list[JSON] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": dumps(call.arguments or {})}}
        for call in entry.calls
    ]
    if calls:
        return [{"role": "assistant", "content": entry.text or None, "tool_calls": calls}]
    return [{"role": "assistant", "content": entry.text}]


_RENDERERS: dict[type[Entry], Callable[..., list[JSON]]] = {Said: _said, Results: _results, Answer: _answer}


@dataclass(slots=True)
class Assembly:
    """One answer in the making: `done` once its terminal event has come."""

    on_text: Callable[[str], None]
    reading: Reading
    done: bool = False
    enough: bool = False
    _text: str = ""
    _thinking: str = ""
    _stop: str = ""
    _calls: dict[int, _Call] = field(default_factory=dict)

    def feed(self, event: JSONObject) -> None:
        """Take one chunk; an error in its place is a ModelError."""
        if "error" in event:
            raise ModelError(as_text(as_object(event["error"]).get("message")) or "the provider reported an error")
        self.reading.report(event.get("usage"))
        for choice in as_list(event.get("choices"))[:1]:
            self._choice(as_object(choice))

    def answer(self) -> Answer:
        """Return what has arrived."""
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for _, call in sorted(self._calls.items()))
        return Answer(self._text, self._thinking, calls, self._stop)

    def _choice(self, choice: JSONObject) -> None:
        delta = as_object(choice.get("delta"))
        label = as_text(choice.get("finish_reason"))
        self._stop = STOPS.get(label, label) or self._stop
        self._thinking += as_text(delta.get("reasoning_content"))
        if text := as_text(delta.get("content")):
            self._text += text
            self.on_text(text)
        for position, call in enumerate(as_list(delta.get("tool_calls"))):
            self._call(position, as_object(call))

    def _call(self, position: int, part: JSONObject) -> None:
        index = part.get("index")
        call = self._calls.setdefault(index if isinstance(index, int) else position, _Call())
        function = as_object(part.get("function"))
        call.id = as_text(part.get("id")) or call.id
        call.name = as_text(function.get("name")) or call.name
        call.arguments += as_text(function.get("arguments"))


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
