"""The control plane: the two tools by which an agent of a workflow says what comes after it, and what it said."""

from __future__ import annotations

from typing import Final

from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import CALL_AGENT, AgentRunConfig, Status
from pytest_agentcontract.contract.sentinel import Model
from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.reference.conversation import Tool
from pytest_agentcontract.reference.tools import ToolError

_TEXT: JSONObject = {"type": "string"}
DISPATCH_NEXT: Final = Tool(
    "dispatch_next",
    "Say how your part of the workflow ends: `advance` hands on, `hold` waits for a human, `loop` runs you again, "
    "`terminate` ends the workflow. Name a task_hint (an agent), a step or a workflow only to leave the usual way.",
    {
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": [*Status]},
            "reason": _TEXT,
            "task_hint": _TEXT,
            "workflow": _TEXT,
            "step": _TEXT,
        },
        "required": ["status"],
    },
)
CALL: Final = Tool(
    CALL_AGENT,
    "Hand work to a teammate by name. It runs when you have finished, and its answer comes back to you; with a "
    "callback, to the agent that you name there.",
    {
        "type": "object",
        "properties": {"agent_name": _TEXT, "callback": {"type": ["string", "null"]}},
        "required": ["agent_name"],
    },
)


class ControlPlane:
    """Takes the calls of one run: the first of each tool is recorded, and whatever is not valid is a tool error."""

    tools: Final = (DISPATCH_NEXT, CALL)

    def __init__(self, model: Model) -> None:
        self._model = model
        self._given: dict[str, AgentRunConfig] = {}

    def use(self, name: str, arguments: JSONObject) -> str:
        """Record one call."""
        if name in self._given:
            raise ToolError("already_called", f"{name!r} was called before, and its first call counts")
        action: JSONObject = (
            {"dispatch": arguments}
            if name == DISPATCH_NEXT.name
            else {"function_call": {"function": CALL_AGENT, **arguments}}
        )
        found = self._model(action)
        if isinstance(found, Diagnostic):
            raise ToolError("invalid_input", str(found))
        self._given[name] = found
        return "recorded; it takes effect when you have finished"

    @property
    def config(self) -> AgentRunConfig | None:
        """What the calls amount to; None where there were none."""
        dispatch, call = self._given.get(DISPATCH_NEXT.name), self._given.get(CALL.name)
        if dispatch is None and call is None:
            return None
        return AgentRunConfig(
            dispatch=dispatch.dispatch if dispatch else None, function_call=call.function_call if call else None
        )
