"""One model answer, in no provider's words: what a script says and what every wire format encodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, dumps, loads

Stop: TypeAlias = Literal[
    "end", "tool-use", "length", "stop-sequence", "context", "pause", "refusal", "malformed-call", "absent"
]
"""Why the model stopped. `absent` sends no label at all; a turn without one gets the natural label.

`length` is the output's limit, `context` that of the whole window; `pause` asks for the same again, to go on.
"""

SIGNATURE = "c2NyaXB0ZWQ="
"""What thinking is signed with where nothing else is said: clients have to hand it back as it is."""

DELTAS = 8
"""Into how many pieces a stream cuts a text at most, where nothing else is said."""


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
    """What the provider bills for one answer, in tokens; `input_tokens` are those that came from no cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def at_first(self) -> int:
        """The output that is told before any of it was sent, where figures come twice: one token, if there is any."""
        return min(self.output_tokens, 1)

    @property
    def whole_input(self) -> int:
        """The input with what a cache gave and took: some wire formats count so."""
        return self.input_tokens + self.cache_read + self.cache_write


TYPICAL_USAGE = Usage(10, 5)
"""What an answer costs that says nothing of it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One model answer: thinking, then text, then a refusal, then tool calls.

    `text` None sends no text block, "" an empty one. `deltas` says into how many pieces a stream cuts each text at
    most, which is no part of what is said.
    """

    text: str | None = None
    thinking: str | None = None
    calls: tuple[Call, ...] = ()
    stop: Stop | None = None
    usage: Usage = TYPICAL_USAGE
    refusal: str | None = None
    signature: str = SIGNATURE
    deltas: int = field(default=DELTAS, compare=False)

    @property
    def natural_stop(self) -> Stop:
        """The label to send: the scripted one, else what the content calls for."""
        return self.stop or ("refusal" if self.refusal is not None else "tool-use" if self.calls else "end")

    @property
    def prose(self) -> str | None:
        """What a reader sees where a refusal has no place of its own: the text, and the refusal after it."""
        said = [part for part in (self.text, self.refusal) if part is not None]
        return "".join(said) if said else None


def read_call(name: str, text: str, call_id: str) -> Call:
    """Read a call whose arguments came as text, which may be broken."""
    try:
        return Call(name, loads(text), id=call_id)
    except ValueError:
        return Call(name, raw_arguments=text, id=call_id)
