"""What an answer holds that no turn of a script can say: blocks, items and parts of the provider's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pytest_agentcontract.jsonvalue import JSONObject, as_list, as_object, as_text, point
from pytest_agentcontract.recorded.reading import Reading, documents

_BLOCKS: Final = frozenset({"text", "thinking", "tool_use"})
_ITEMS: Final = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})
_MEMBERS: Final = frozenset({"text", "thought", "thoughtSignature", "functionCall"})
_SAID: Final = frozenset({"role", "content", "refusal", "reasoning_content", "tool_calls"})


def beyond(reading: Reading) -> tuple[str, ...]:
    """Return what is left out of an answer, each once, in words."""
    found = (what for document in documents(reading) for what in _READERS[reading.wire](as_object(document)))
    return tuple(dict.fromkeys(found))


def _messages(body: JSONObject) -> Iterator[str]:
    for block in (body.get("content_block"), *as_list(body.get("content"))):
        kind = as_text(as_object(block).get("type"))
        if kind and kind not in _BLOCKS:
            yield f"its block of type {kind}"
        elif as_list(as_object(block).get("citations")):
            yield "its citations"


def _chat(body: JSONObject) -> Iterator[str]:
    for choice in map(as_object, as_list(body.get("choices"))):
        if choice.get("index") not in (None, 0):
            yield "its further choices"
        said = as_object(choice.get("message")) or as_object(choice.get("delta"))
        yield from (f"its {key}" for key, value in said.items() if value and key not in _SAID)


def _responses(body: JSONObject) -> Iterator[str]:
    for item in (body.get("item"), *as_list(body.get("output"))):
        kind = as_text(as_object(item).get("type"))
        if kind and kind not in _ITEMS:
            yield f"its item of type {kind}"
        if any(as_list(as_object(part).get("annotations")) for part in as_list(as_object(item).get("content"))):
            yield "its annotations"


def _gemini(body: JSONObject) -> Iterator[str]:
    for candidate in map(as_object, as_list(body.get("candidates"))):
        if candidate.get("index") not in (None, 0):
            yield "its further candidates"
        for part in as_list(point(candidate, "/content/parts")):
            yield from (f"its part {key}" for key in as_object(part) if key not in _MEMBERS)
        yield from (f"its {key}" for key in ("groundingMetadata", "citationMetadata") if candidate.get(key))


_READERS: Final[Mapping[str, Callable[[JSONObject], Iterator[str]]]] = {
    "anthropic-messages": _messages,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini-generate": _gemini,
}
