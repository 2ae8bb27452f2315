"""The client side of the Gemini generateContent API: render a conversation, put a streamed answer together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps
from pytest_agentcontract.reference.conversation import Answer, Ask, Entry, Results, Said, ToolCall
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.reference.usage import Reading

PATH = "/v1beta/models/{model}:streamGenerateContent?alt=sse"
STOPS = {"STOP": "end", "MAX_TOKENS": "length", "SAFETY": "refusal", "PROHIBITED_CONTENT": "refusal"}


def headers(key: str) -> dict[str, str]:
    """Return the header that carries the key."""
    return {"x-goog-api-key": key}


def body(ask: Ask, model: str) -> JSONObject:  # noqa: ARG001 - the path names the model
    """Render one request."""
    names = {call.id: call.name for entry in ask.history if isinstance(entry, Answer) for call in entry.calls}
    declared: list[JSON] = [
        {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema} for tool in ask.tools
    ]
    config: JSONObject = {"mode": "ANY", "allowedFunctionNames": [ask.force]}
    return {
        "systemInstruction": {"parts": [{"text": ask.system}]},
        "contents": [_content(entry, names) for entry in ask.history],
        **({"tools": [{"functionDeclarations": declared}]} if declared else {}),
        **({} if ask.force is None else {"toolConfig": {"functionCallingConfig": config}}),
    }


def _content(entry: Entry, names: Mapping[str, str]) -> JSON:
    if isinstance(entry, Answer):
        return {"role": "model", "parts": _answer(entry)}
    told: list[JSON] = [{"text": text} for text in entry.texts] if isinstance(entry, Said) else _results(entry, names)
    return {"role": "user", "parts": told}


def _results(entry: Results, names: Mapping[str, str]) -> list[JSON]:
    return [
        {
            "functionResponse": {
                "id": result.call_id,
                "name": names.get(result.call_id, ""),
                "response": {"error" if result.is_error else "output": result.text},
            }
        }
        for result in entry.results
    ]


def _answer(entry: Answer) -> list[JSON]:
    """Render an answer with its signature in the place where it came: on the first call, else on what was said last."""
    parts: list[JSONObject] = [{"text": entry.thinking, "thought": True}] if entry.thinking else []
    parts += [{"text": entry.text}] if entry.text else []
    signed = len(parts) if entry.calls else len(parts) - 1
    parts += [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments or {}}} for call in entry.calls
    ]
    if entry.signature and parts:
        parts[signed]["thoughtSignature"] = entry.signature
    return [*parts]


@dataclass(slots=True)
class Assembly:
    """One answer in the making: `done` once a chunk has named the reason of the end, `enough` once one told usage."""

    on_text: Callable[[str], None]
    reading: Reading
    done: bool = False
    enough: bool = False
    _text: str = ""
    _thinking: str = ""
    _signature: str = ""
    _stop: str = ""
    _calls: list[ToolCall] = field(default_factory=list)

    def feed(self, event: JSONObject) -> None:
        """Take one chunk; an error in its place is a ModelError."""
        if "error" in event:
            raise ModelError(as_text(as_object(event["error"]).get("message")) or "the provider reported an error")
        if "blockReason" in as_object(event.get("promptFeedback")):
            self._stop, self.done = "refusal", True
        usage = as_object(event.get("usageMetadata"))
        if usage:
            self.enough = True
            self.reading.report(_figures(usage))
        for candidate in as_list(event.get("candidates"))[:1]:
            self._candidate(as_object(candidate))

    def answer(self) -> Answer:
        """Return what has arrived."""
        return Answer(self._text, self._thinking, tuple(self._calls), self._stop, self._signature)

    def _candidate(self, candidate: JSONObject) -> None:
        for part in as_list(as_object(candidate.get("content")).get("parts")):
            self._part(as_object(part))
        if label := as_text(candidate.get("finishReason")):
            self._stop, self.done = STOPS.get(label, label), True

    def _part(self, part: JSONObject) -> None:
        self._signature = as_text(part.get("thoughtSignature")) or self._signature
        text = as_text(part.get("text"))
        if call := as_object(part.get("functionCall")):
            name = as_text(call.get("name"))
            # Not every model numbers its calls.
            self._calls.append(ToolCall(as_text(call.get("id")) or name, name, dumps(as_object(call.get("args")))))
        elif part.get("thought"):
            self._thinking += text
        elif text:
            self._text += text
            self.on_text(text)


def _figures(usage: JSONObject) -> JSON:
    """Put the figures in the names of the others; here, thinking is counted beside the answer."""
    spent = [usage[name] for name in ("candidatesTokenCount", "thoughtsTokenCount") if name in usage]
    return {
        "input_tokens": usage.get("promptTokenCount"),
        "output_tokens": sum(count for count in spent if isinstance(count, int)),
    }
