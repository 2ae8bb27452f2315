"""The client side of the OpenAI Responses API: render a conversation, put a streamed answer together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, as_text, dumps
from pytest_agentcontract.reference.chat_api import headers
from pytest_agentcontract.reference.conversation import Answer, Ask, Entry, Part, Results, Said, answer_of
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.reference.usage import Reading

__all__ = ["PATH", "Assembly", "body", "headers"]

PATH = "/responses"
STOPS = {"max_output_tokens": "length", "content_filter": "refusal"}


def body(ask: Ask, model: str) -> JSONObject:
    """Render one request; nothing is stored at the provider, so signed thinking is asked for and handed back."""
    choice: JSONObject = {} if ask.force is None else {"tool_choice": {"type": "function", "name": ask.force}}
    return {
        "model": model,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": ask.system,
        "input": [item for entry in ask.history for item in _RENDERERS[type(entry)](entry)],
        "tools": [_tool(tool.name, tool.description, tool.schema) for tool in ask.tools],
        **choice,
    }


def _tool(name: str, description: str, schema: JSONObject) -> JSON:
    return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": False}


def _said(entry: Said) -> list[JSON]:
    return [{"role": "user", "content": [{"type": "input_text", "text": text} for text in entry.texts]}]


def _results(entry: Results) -> list[JSON]:
    return [
        {"type": "function_call_output", "call_id": result.call_id, "output": result.text} for result in entry.results
    ]


def _answer(entry: Answer) -> list[JSON]:
    items: list[JSON] = []
    if entry.thinking:
        summary: JSON = [{"type": "summary_text", "text": entry.thinking}]
        items.append({"type": "reasoning", "summary": summary, "encrypted_content": entry.signature})
    if entry.text.strip():
        items.append({"role": "assistant", "content": [{"type": "output_text", "text": entry.text}]})
    items += (
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": dumps(call.arguments or {})}
        for call in entry.calls
    )
    return items


_RENDERERS: dict[type[Entry], Callable[..., list[JSON]]] = {Said: _said, Results: _results, Answer: _answer}


@dataclass(slots=True)
class Assembly:
    """One answer in the making: `done` once its terminal event has come."""

    on_text: Callable[[str], None]
    reading: Reading
    done: bool = False
    enough: bool = False
    _stop: str = ""
    _refused: bool = False
    _items: dict[int, Part] = field(default_factory=dict)

    def feed(self, event: JSONObject) -> None:
        """Take one event; an error event is a ModelError."""
        kind = as_text(event.get("type"))
        if kind in _HANDLERS:
            _HANDLERS[kind](self, event)

    def answer(self) -> Answer:
        """Return what has arrived."""
        return answer_of(self._items, self._stop, text="message", thinking="reasoning", call="function_call")

    def item(self, event: JSONObject) -> None:
        """Take `response.output_item.added`."""
        item = as_object(event.get("item"))
        self._items[_index(event)] = Part(
            as_text(item.get("type")), as_text(item.get("call_id")), as_text(item.get("name"))
        )

    def text(self, event: JSONObject) -> None:
        """Take a piece of text; a refusal in words is text, too, and says why the model stopped."""
        self._refused |= event["type"] == "response.refusal.delta"
        self.piece(event)
        if piece := as_text(event.get("delta")):
            self.on_text(piece)

    def piece(self, event: JSONObject) -> None:
        """Take a piece of thinking or of arguments, which nobody is shown."""
        self._items.setdefault(_index(event), Part("message")).content += as_text(event.get("delta"))

    def signed(self, event: JSONObject) -> None:
        """Take `response.output_item.done`, of which only the signature is news."""
        if item := self._items.get(_index(event)):
            item.signature = as_text(as_object(event.get("item")).get("encrypted_content"))

    def end(self, event: JSONObject) -> None:
        """Take the terminal event: how the answer ended, and what it cost."""
        response = as_object(event.get("response"))
        self.reading.report(response.get("usage"))
        self._stop = self._ended(response)
        self.done = True

    def error(self, event: JSONObject) -> None:
        """Take an error, whose words stand in the event, in a body within it, or in the failed response."""
        within = as_object(event.get("response")) or event
        said = as_text((as_object(within.get("error")) or within).get("message"))
        raise ModelError(said or "the provider reported an error")

    def _ended(self, response: JSONObject) -> str:
        status = as_text(response.get("status"))
        if status == "incomplete":
            reason = as_text(as_object(response.get("incomplete_details")).get("reason"))
            return STOPS.get(reason, reason)
        called = any(item.kind == "function_call" for item in self._items.values())
        whole = "refusal" if self._refused else "tool-use" if called else "end"
        return whole if status == "completed" else status


def _index(event: JSONObject) -> int:
    index = event.get("output_index")
    return index if isinstance(index, int) else 0


_HANDLERS: dict[str, Callable[[Assembly, JSONObject], None]] = {
    "response.output_item.added": Assembly.item,
    "response.output_text.delta": Assembly.text,
    "response.refusal.delta": Assembly.text,
    "response.reasoning_summary_text.delta": Assembly.piece,
    "response.function_call_arguments.delta": Assembly.piece,
    "response.output_item.done": Assembly.signed,
    "response.completed": Assembly.end,
    "response.incomplete": Assembly.end,
    "response.failed": Assembly.error,
    "error": Assembly.error,
}
