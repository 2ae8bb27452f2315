"""What of a case has no place on a wire format: such a case can't be played there."""

from __future__ import annotations

from pytest_agentcontract.scenario.case import Case, ScriptedTurn
from pytest_agentcontract.wire.projection import LOSSES
from pytest_agentcontract.wire.turn import Call, Turn, read_call

_BROKEN = "{"


def inexpressible(case: Case, wire: str) -> str:
    """Say what the case needs and the wire format can't carry; empty where it carries all that matters."""
    vital = [loss for loss in LOSSES.get(wire, ()) if loss.vital]
    turns = [_sample(turn) for turns in case.script.values() for turn in turns] if vital else []
    lost = dict.fromkeys(loss.what for loss in vital for turn in turns if loss.change(turn) != turn)
    return f"{wire} can't carry {', '.join(lost)}" if lost else ""


def _sample(turn: ScriptedTurn) -> Turn:
    """Say a turn as far as losses are about it: before it is bound to a runtime's tools."""
    calls = (
        read_call(call.tool, call.raw_arguments or _BROKEN, "") if call.broken else Call(call.tool)
        for call in turn.calls
    )
    return Turn(turn.text, turn.thinking, tuple(calls), turn.stop, turn.usage, turn.refusal)
