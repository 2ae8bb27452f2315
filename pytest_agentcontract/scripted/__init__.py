"""The scripted provider for users' own tests: what a test types to say what the model says."""

from pytest_agentcontract.errors import ScriptError, ScriptViolation
from pytest_agentcontract.scripted.builders import (
    call,
    delivered,
    gate,
    pace,
    raw_call,
    reply,
    side_call,
    special,
    turn,
)
from pytest_agentcontract.scripted.faults import content_type, cut, error, malformed, silence, status
from pytest_agentcontract.wire.turn import Usage

__all__ = [
    "ScriptError",
    "ScriptViolation",
    "Usage",
    "call",
    "content_type",
    "cut",
    "delivered",
    "error",
    "gate",
    "malformed",
    "pace",
    "raw_call",
    "reply",
    "side_call",
    "silence",
    "special",
    "status",
    "turn",
]
