"""A conversation in no provider's words: what the loop keeps and each API renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_agentcontract.jsonvalue import JSONObject


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of the model's: its arguments as they came, and as read (None where they can't be)."""

    id: str
    name: str
    raw: str
    arguments: JSONObject | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One whole message of the model's; `stop` is its label: end, tool-use, length, refusal, or "" for none.

    `signature` is what its thinking was signed with: whoever hands that back hands back this too.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: str = ""
    signature: str = ""


@dataclass(slots=True)
class Part:
    """One part of an answer as it grows: `content` is its text, its thinking, or a call's arguments."""

    kind: str
    id: str = ""
    name: str = ""
    content: str = ""
    signature: str = ""


def answer_of(parts: Mapping[int, Part], stop: str, *, text: str, thinking: str, call: str) -> Answer:
    """Put parts together in the order of their numbers; the last three say what an API calls each kind."""
    ordered = [parts[number] for number in sorted(parts)]
    return Answer(
        text="".join(part.content for part in ordered if part.kind == text),
        thinking="".join(part.content for part in ordered if part.kind == thinking),
        calls=tuple(ToolCall(part.id, part.name, part.content) for part in ordered if part.kind == call),
        stop=stop,
        signature="".join(part.signature for part in ordered),
    )


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What the model is told: by its user, by a child, or by a nudge."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The answers to one batch of calls."""

    results: tuple[ToolResult, ...]


Entry: TypeAlias = Said | Answer | Results


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as the model is offered it."""

    name: str
    description: str
    schema: JSONObject


@dataclass(frozen=True, slots=True)
class Ask:
    """One model request; `force` names a tool that the model must call."""

    system: str
    history: Sequence[Entry]
    tools: tuple[Tool, ...]
    force: str | None = None
