"""The words of the Responses API: how an answer ended, and what stands for a text in items and in events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.wire.openai_chat import words as openai
from pytest_agentcontract.wire.turn import Stop

HEADER: Final = openai.HEADER
"""The clients of all of OpenAI's formats are known by the same."""

ECHOED: Final[tuple[str, ...]] = ()
"""Where a request says, beside the model's name, what its answers look like."""

NAME: Final = "openai-responses"


@dataclass(frozen=True, slots=True)
class Status:
    """How an answer ended: its status, and why it is incomplete if it is."""

    word: str | None
    reason: str | None = None


_COMPLETED = Status("completed")
_FULL = Status("incomplete", "max_output_tokens")

STATUSES: Final[dict[Stop, Status]] = {
    "end": _COMPLETED,
    "tool-use": _COMPLETED,
    "length": _FULL,
    "stop-sequence": _COMPLETED,
    "context": _FULL,
    "pause": _COMPLETED,
    "refusal": Status("incomplete", "content_filter"),
    "malformed-call": _COMPLETED,
    "absent": Status(None),
}
"""The absent one is a null: a client sees a stream that is completed, and a response that doesn't say so."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that grows in a stream.

    `event` names its events (`response.<event>.delta`, `.done`), `key` is where all of it stands. A text that is a
    part among others has a frame, which is announced by events of its own, and a number among its like, the `index`.
    """

    event: str
    key: str
    index: str = ""
    frame: str = ""


TEXTS: Final[dict[str, Text]] = {
    "output_text": Text("output_text", "text", "content_index", "content_part"),
    "refusal": Text("refusal", "refusal", "content_index", "content_part"),
    "reasoning_text": Text("reasoning_text", "text", "content_index", "content_part"),
    "summary_text": Text("reasoning_summary_text", "text", "summary_index", "reasoning_summary_part"),
    "function_call": Text("function_call_arguments", "arguments"),
    "custom_tool_call": Text("custom_tool_call_input", "input"),
}
"""Every text by the type of what holds it: the part of an item, or the item itself."""
