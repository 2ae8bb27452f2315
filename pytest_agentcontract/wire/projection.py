"""What a wire format has no place for, as a table: `project` says what of a turn arrives at the other end.

The documentation's table is made from this one. A loss that is `vital` makes another turn of it: a case that needs such
a turn can't be played on that wire at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from pytest_agentcontract.wire.turn import SIGNATURE, Call, Stop, Turn, read_call


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that does not arrive as it was said: what it is, what stands in its place, and the change itself."""

    what: str
    instead: str
    change: Callable[[Turn], Turn]
    streamed: bool | None = None
    vital: bool = False


def project(turn: Turn, wire: str, *, stream: bool) -> Turn:
    """Return the turn that is read back from an answer of this wire format; every call has an id of its own."""
    losses = [loss for loss in LOSSES[wire] if loss.streamed in (None, stream)]
    return reduce(lambda said, loss: loss.change(said), losses, _as_read(turn))


def _as_read(turn: Turn) -> Turn:
    """Say outright what is left open: the stop's label, and arguments as what they spell."""
    calls = tuple(read_call(call.name, call.arguments_text, call.id) for call in turn.calls)
    signature = SIGNATURE if turn.thinking is None else turn.signature
    return replace(turn, calls=calls, stop=turn.natural_stop, signature=signature)


# -- changes ----------------------------------------------------------------------------------------------------------


def _refusal_is_text(turn: Turn) -> Turn:
    return replace(turn, text=turn.prose, refusal=None)


def _stops(table: Mapping[Stop, Stop]) -> Callable[[Turn], Turn]:
    return lambda turn: replace(turn, stop=table.get(turn.natural_stop, turn.natural_stop))


def _calls(change: Callable[[Call], Call]) -> Callable[[Turn], Turn]:
    return lambda turn: replace(turn, calls=tuple(map(change, turn.calls)))


def _broken_is_a_string(call: Call) -> Call:
    return call if call.raw_arguments is None else Call(call.name, call.raw_arguments, id=call.id)


def _nothing_is_an_object(call: Call) -> Call:
    return Call(call.name, {}, id=call.id) if call.raw_arguments == "" else call


def _unsigned(turn: Turn) -> Turn:
    return replace(turn, signature=SIGNATURE)


def _writes_are_input(turn: Turn) -> Turn:
    usage = turn.usage
    return replace(turn, usage=replace(usage, input_tokens=usage.input_tokens + usage.cache_write, cache_write=0))


def _refused_in_words(turn: Turn) -> Turn:
    return replace(turn, stop="refusal") if turn.refusal is not None and turn.stop == "end" else turn


def _broken_is_dropped(turn: Turn) -> Turn:
    if all(call.raw_arguments is None and isinstance(call.arguments, dict) for call in turn.calls):
        return turn
    done = turn.stop in ("end", "tool-use", "stop-sequence")
    return replace(turn, calls=(), stop="malformed-call" if done else turn.stop)


def _one_label_for_done(turn: Turn) -> Turn:
    done = turn.stop in ("end", "tool-use", "stop-sequence")
    return replace(turn, stop="tool-use" if turn.calls else "end") if done else turn


def _read_by_content(turn: Turn) -> Turn:
    """Read a completed answer: its label says no more than that."""
    said = turn.refusal is not None and turn.stop == "refusal"
    return turn if turn.stop in ("length", "absent", "refusal") and not said else _as_read(replace(turn, stop=None))


# -- the table --------------------------------------------------------------------------------------------------------

_MALFORMED = Loss("the stop `malformed-call`", "the label of a tool call", _stops({"malformed-call": "tool-use"}))
_NO_SIGNATURE = Loss("the signature of thinking", "nothing", _unsigned)
_CONTEXT = Loss("the stop `context`", "the label of the length", _stops({"context": "length"}))
_CACHE_WRITES = Loss("tokens written to a cache", "counted as input", _writes_are_input)

LOSSES: Final[Mapping[str, tuple[Loss, ...]]] = {
    "anthropic-messages": (
        Loss("a refusal in words", "text, after the text", _refusal_is_text),
        Loss(
            "broken arguments", "a string, in an answer that is sent whole", _calls(_broken_is_a_string), streamed=False
        ),
        Loss("arguments that are no text at all", "an empty object", _calls(_nothing_is_an_object), streamed=True),
        _MALFORMED,
    ),
    "openai-chat": (
        _NO_SIGNATURE,
        _CACHE_WRITES,
        Loss(
            "the stops `stop-sequence`, `pause` and `context`",
            "the labels of an end and of the length",
            _stops({"stop-sequence": "end", "pause": "end", "context": "length"}),
        ),
        Loss("the stop of a refusal in words", "an ordinary end, read as a refusal", _refused_in_words),
        _MALFORMED,
    ),
    "openai-responses": (
        _CONTEXT,
        Loss(
            "the stops `end`, `tool-use`, `stop-sequence`, `pause` and `malformed-call`",
            "one label for all, read by whether there are calls or a refusal in words",
            _read_by_content,
        ),
    ),
    "gemini-generate": (
        Loss("a refusal in words", "text, after the text", _refusal_is_text),
        _CACHE_WRITES,
        Loss(
            "calls, where the arguments of one are no object",
            "none of them, and the label of a malformed call",
            _broken_is_dropped,
            vital=True,
        ),
        Loss(
            "the stops `end`, `tool-use` and `stop-sequence`",
            "one label for all three, read by whether there are calls",
            _one_label_for_done,
        ),
        _CONTEXT,
    ),
}
