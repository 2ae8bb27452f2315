"""One model answer, in no provider's words: what a script says and what every wire format encodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, dumps

Stop: TypeAlias = Literal["end", "tool-use", "length", "refusal", "absent"]
"""Why the model stopped. `absent` sends no label at all; a turn without one gets the natural label."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `raw_arguments`, if given, goes on the wire instead of `arguments`, however broken."""

    name: str
    arguments: JSON = field(default_factory=dict)
    raw_arguments: str | None = None
    id: str = ""

    @property
    def arguments_text(self) -> str:
        """The arguments as the text that goes on the wire."""
        return dumps(self.arguments) if self.raw_arguments is None else self.raw_arguments


@dataclass(frozen=True, slots=True)
class Usage:
    """What the provider bills for one answer, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


TYPICAL_USAGE = Usage(10, 5)
"""What an answer costs that says nothing of it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One model answer: thinking, then text, then tool calls. `text` None sends no text block, "" an empty one."""

    text: str | None = None
    thinking: str | None = None
    calls: tuple[Call, ...] = ()
    stop: Stop | None = None
    usage: Usage = TYPICAL_USAGE

    @property
    def natural_stop(self) -> Stop:
        """The label to send: the scripted one, else `tool-use` with calls and `end` without."""
        return self.stop or ("tool-use" if self.calls else "end")
