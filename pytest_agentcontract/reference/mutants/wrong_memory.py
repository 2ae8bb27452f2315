"""Wrong decisions on what the model is reminded of, and how long it is waited for: put in by a mutant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_agentcontract.reference import rules
from pytest_agentcontract.reference.conversation import Answer, Entry, Results, ToolCall
from pytest_agentcontract.reference.mutants.wrong_reading import repair

_KEPT = 20


def without_calls(history: Sequence[Entry]) -> Sequence[Entry]:
    """Forget that the model made calls, and answer them all the same."""
    return rules.what_was_said([_of_answer(entry, calls=()) for entry in history])


def without_errors(history: Sequence[Entry]) -> Sequence[Entry]:
    """Leave out the results of the calls that failed."""
    return [fine for entry in rules.what_was_said(history) if (fine := _fine(entry)) is not None]


def every_entry(history: Sequence[Entry]) -> Sequence[Entry]:
    """Keep an answer of nothing as a message of nothing."""
    return history


def shortened(history: Sequence[Entry]) -> Sequence[Entry]:
    """Cut what was said earlier down to its beginning."""
    newest = max((at for at, entry in enumerate(history) if isinstance(entry, Answer)), default=0)
    earlier = [_of_answer(entry, text=_beginning(entry)) for entry in history[:newest]]
    return rules.what_was_said([*earlier, *history[newest:]])


def unsigned(history: Sequence[Entry]) -> Sequence[Entry]:
    """Lose what thinking was signed with."""
    return [_of_answer(entry, signature="") for entry in rules.what_was_said(history)]


def repaired_calls(history: Sequence[Entry]) -> Sequence[Entry]:
    """Show the model its broken calls as if they had been whole."""
    return [_of_answer(entry, calls=tuple(map(_repaired, _calls(entry)))) for entry in rules.what_was_said(history)]


def once_for_each_id(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Take the second call of one id for the first."""
    return tuple({call.id: call for call in reversed(calls)}.values())[::-1]


def for_ever(_env: Mapping[str, str]) -> float | None:
    """Bear any silence."""
    return None


def _of_answer(entry: Entry, **changes: object) -> Entry:
    return replace(entry, **changes) if isinstance(entry, Answer) else entry  # type: ignore[arg-type] # any field


def _calls(entry: Entry) -> tuple[ToolCall, ...]:
    return entry.calls if isinstance(entry, Answer) else ()


def _repaired(call: ToolCall) -> ToolCall:
    return call if call.arguments is not None else replace(call, arguments=repair(call.raw))


def _beginning(entry: Entry) -> str:
    return entry.text[:_KEPT] if isinstance(entry, Answer) else ""


def _fine(entry: Entry) -> Entry | None:
    if not isinstance(entry, Results):
        return entry
    fine = tuple(result for result in entry.results if not result.is_error)
    return Results(fine) if fine else None
