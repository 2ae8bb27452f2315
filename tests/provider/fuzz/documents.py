"""Good model requests of every wire, and what can stand nowhere in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Path = tuple[str | int, ...]

_SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}, "required": ["q"]}


def target(wire: str, *, stream: bool) -> str:
    """Return where a wire's model requests go."""
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return {
        "anthropic-messages": "/v1/messages",
        "openai-chat": "/v1/chat/completions",
        "openai-responses": "/v1/responses",
        "gemini-generate": f"/v1beta/models/m:{method}",
    }[wire]


def document(wire: str, mark: str, rng: Random, *, stream: bool) -> dict[str, Any]:
    """Build a good request of an agent: with tools always, with a history at times."""
    return _MAKERS[wire](f"Hi {mark}", stream, rng.random() < 0.5)


def _anthropic(text: str, stream: bool, history: bool) -> dict[str, Any]:  # noqa: FBT001 - one row of a table
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    if history:
        call = {"type": "tool_use", "id": "c1", "name": "look", "input": {"q": "x", "n": 1}}
        result = {"type": "tool_result", "tool_use_id": "c1", "content": "seen", "is_error": False}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {
        "model": "m",
        "max_tokens": 9,
        "stream": stream,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": messages,
        "tools": [{"name": "look", "description": "Look.", "input_schema": _SCHEMA}],
        "tool_choice": {"type": "auto"},
        "temperature": 0.5,
    }


def _chat(text: str, stream: bool, history: bool) -> dict[str, Any]:  # noqa: FBT001 - one row of a table
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    if history:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q": "x"}'}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
        messages += [{"role": "tool", "tool_call_id": "c1", "content": "seen"}]
    function = {"name": "look", "description": "Look.", "parameters": _SCHEMA}
    return {
        "model": "m",
        "stream": stream,
        "messages": messages,
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "auto",
        "stream_options": {"include_usage": True},
        "response_format": {"type": "text"},
    }


def _responses(text: str, stream: bool, history: bool) -> dict[str, Any]:  # noqa: FBT001 - one row of a table
    items: list[Any] = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
    if history:
        items += [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]
        items += [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"q": "x"}'}]
        items += [{"type": "function_call_output", "call_id": "c1", "output": "seen"}]
    return {
        "model": "m",
        "stream": stream,
        "instructions": "Be brief.",
        "input": items,
        "tools": [{"type": "function", "name": "look", "description": "Look.", "parameters": _SCHEMA}],
        "tool_choice": "auto",
        "text": {"format": {"type": "text"}},
    }


def _gemini(text: str, _stream: bool, history: bool) -> dict[str, Any]:  # noqa: FBT001 - one row of a table
    contents: list[Any] = [{"role": "user", "parts": [{"text": text}]}]
    if history:
        contents += [{"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"q": "x"}}}]}]
        contents += [{"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": "1"}}}]}]
    declared = {"name": "look", "description": "Look.", "parameters": {"type": "OBJECT", "properties": {}}}
    return {
        "contents": contents,
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [declared]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"temperature": 0.5},
    }


_MAKERS: Mapping[str, Callable[[str, bool, bool], dict[str, Any]]] = {
    "anthropic-messages": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini-generate": _gemini,
}

_NO_TEXT = (None, 1, True, [], {})
_NO_OBJECT = (None, 1, True, "x", [])
_NO_FLAG = (1, 0.5, "true", [], {})
_NO_TOOLS: Mapping[Path, tuple[Any, ...]] = {("tools",): (1, True, "x"), ("tools", 0): _NO_OBJECT}
_ASKED: Mapping[Path, tuple[Any, ...]] = {("model",): _NO_TEXT, ("stream",): _NO_FLAG, **_NO_TOOLS}
_SAID: Mapping[Path, tuple[Any, ...]] = {
    ("messages",): (None, 1, True, "x", {}),
    ("messages", 0): _NO_OBJECT,
    ("messages", 0, "role"): (*_NO_TEXT, "robot"),
    ("messages", 0, "content"): (1, True, {}, 0.5),
    ("messages", 0, "content", 0): _NO_OBJECT,
    ("messages", 0, "content", 0, "text"): _NO_TEXT,
}
WRONG: Mapping[str, Mapping[Path, tuple[Any, ...]]] = {
    "anthropic-messages": _ASKED | _SAID,
    "openai-chat": _ASKED | _SAID,
    "openai-responses": {
        **_ASKED,
        ("input",): (None, 1, True, {}),
        ("input", 0): _NO_OBJECT,
        ("input", 0, "role"): (*_NO_TEXT, "robot"),
        ("input", 0, "content"): (None, 1, True, {}),
        ("input", 0, "content", 0): _NO_OBJECT,
        ("input", 0, "content", 0, "text"): _NO_TEXT,
    },
    "gemini-generate": {
        **_NO_TOOLS,
        ("contents",): (None, 1, True, "x"),
        ("contents", 0): _NO_OBJECT,
        ("contents", 0, "role"): (1, True, [], {}, "robot"),
        ("contents", 0, "parts"): (1, True, "x"),
        ("contents", 0, "parts", 0): _NO_OBJECT,
        ("contents", 0, "parts", 0, "text"): (1, True, [], {}),
    },
}
"""What can stand at a place of a request in no reading of the providers' documentation."""
