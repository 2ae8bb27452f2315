"""One model request, in no provider's words: what every wire format decodes to and every check reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps
from pytest_agentcontract.wire.turn import Call

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool call. `is_error` is None where the wire format has no flag for it (Chat Completions)."""

    call_id: str
    text: str
    is_error: bool | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """Thinking that a client hands back, and what it was signed with; "" where nothing stands."""

    text: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its text blocks in order, the tool calls or tool results it carries, the thinking before them."""

    role: Role
    texts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[ToolResult, ...] = ()
    thinking: tuple[Thinking, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One advertised tool and the JSON Schema of its arguments.

    A tool that stands in a `namespace` of its wire format is called `namespace.name` everywhere but on that wire. One
    of `free_text` takes text in place of JSON, which is a matter of its wire format alone.
    """

    name: str
    schema: JSONObject = field(default_factory=dict)
    description: str = ""
    namespace: str = ""
    free_text: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """How free the model is: `auto`, `none`, `any` (some tool is forced) or `tool` (this `name` is forced)."""

    kind: Literal["auto", "none", "any", "tool"] = "auto"
    name: str = ""


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """What the answer's text must be: anything, some JSON, or JSON of a `schema`."""

    kind: Literal["text", "json", "schema"] = "text"
    schema: JSONObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One decoded model request; `system` is the system prompt wherever the wire format puts it."""

    wire: str
    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    tool_choice: ToolChoice
    stream: bool
    body: JSON
    response_format: ResponseFormat = ResponseFormat()

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the advertised tools."""
        return frozenset(tool.name for tool in self.tools)

    @property
    def opening(self) -> str:
        """The user's text before the first answer: where an agent's token stands."""
        texts: list[str] = []
        for message in self.messages:
            if message.role == "assistant":
                break
            texts += message.texts if message.role == "user" else ()
        return "\n".join(texts)

    @property
    def digest(self) -> str:
        """What makes two requests the same to a retry: messages, system and tools, whatever else changed."""
        parts = [self.system, repr(self.messages), dumps([[tool.name, tool.schema] for tool in self.tools])]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def split_system(messages: Iterable[Message]) -> tuple[tuple[str, ...], tuple[Message, ...]]:
    """Take the system messages before the first other one off as the system prompt; later ones stay in their place."""
    given = tuple(messages)
    leading = tuple(takewhile(lambda message: message.role == "system", given))
    return tuple(text for message in leading for text in message.texts), given[len(leading) :]
