"""The values of a hand-off: what an agent decided, where the workflow stands, and whom to tell.

`AgentRunConfig` is the decision as its sentinel carries it; `WorkflowState` is the engine's own record, which adds the
origin of a decision and the return address. Field names are those of the contract, in JSON as in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from pytest_agentcontract.contract.checker import Diagnostic, Fields, Items, Maybe, Text, shaped, text_of
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object

CALL_AGENT: Final = "call_agent"
NO_DECISION: Final = "no-action default: agent emitted no decision"
_Member = TypeVar("_Member", bound=StrEnum)


class Status(StrEnum):
    """How a run ends inside its workflow."""

    ADVANCE = "advance"
    HOLD = "hold"
    LOOP = "loop"
    TERMINATE = "terminate"


class Origin(StrEnum):
    """Who made a decision: the agent, or the engine for want of one."""

    AGENT = "agent"
    ENGINE_FALLBACK = "engine_fallback"


class Phase(StrEnum):
    """Where a workflow stands between two runs."""

    RUNNING = "running"
    AWAITING_HUMAN = "awaiting-human"
    ENDED = "ended"


class Stop(StrEnum):
    """Why a workflow stopped, so that a human is told."""

    HOLD = "hold"
    HUMAN_GATE = "human_gate"
    TERMINAL = "terminal"
    TERMINATE = "terminate"


NAME = Text()
_DESTINATIONS = {"task_hint": NAME, "workflow": NAME, "step": NAME}
_STATUS = Text(choices=tuple(Status))
_DISPATCH = Fields({"status": _STATUS}, {"reason": Text(empty=True), **_DESTINATIONS})
_POSTED_DISPATCH = Fields({"status": _STATUS, "origin": Text(choices=tuple(Origin))}, _DISPATCH.optional)
_FUNCTION_CALL = Fields({"function": Text(choices=(CALL_AGENT,)), "agent_name": NAME}, {"callback": Maybe(NAME)})
_CONFIG = Fields(optional={"task": NAME, "dispatch": _DISPATCH, "function_call": _FUNCTION_CALL})
_NAME_OR_NONE = Maybe(NAME)
_STATE = Fields(
    {
        "workflow": NAME,
        "step": NAME,
        "agent": _NAME_OR_NONE,
        "next": _NAME_OR_NONE,
        "called_by": _NAME_OR_NONE,
        "status": Text(choices=tuple(Phase)),
        "stop": Maybe(Text(choices=tuple(Stop))),
        "dispatch": Maybe(_POSTED_DISPATCH),
        "started_by": _NAME_OR_NONE,
        "CONFIG_CALLBACK": _NAME_OR_NONE,
        "consumed": Fields({"events": Items(NAME), "comments": Items(NAME)}),
    }
)


@dataclass(frozen=True, slots=True)
class Dispatch:
    """How a run ends inside its workflow; `origin` is set by the engine and never part of a sentinel."""

    status: Status
    reason: str | None = None
    task_hint: str | None = None
    workflow: str | None = None
    step: str | None = None
    origin: Origin = Origin.AGENT

    @classmethod
    def fallback_for(cls, callback: str | None, diagnostic: Diagnostic | str | None = None) -> Dispatch:
        """Make up for a missing decision: back to the caller where there is one, else hold for a human."""
        unread = f" and the AGENT_RUN_CONFIG sentinel could not be parsed ({diagnostic})" if diagnostic else ""
        if not callback:
            return cls.no_action_default(f"{NO_DECISION}{unread}")
        back = f"{NO_DECISION}{unread}; returning to caller '{callback}'"
        return cls(Status.ADVANCE, back, origin=Origin.ENGINE_FALLBACK)

    @classmethod
    def no_action_default(cls, reason: str = NO_DECISION) -> Dispatch:
        """Hold for a human, whatever the reason: the fallback of a run without a return address."""
        return cls(Status.HOLD, reason, origin=Origin.ENGINE_FALLBACK)

    @property
    def names_a_destination(self) -> bool:
        """Tell whether it says where to go, rather than leaving it to the engine."""
        return any(name is not None for name in (self.task_hint, self.workflow, self.step))

    def to_json(self) -> JSONObject:
        """Return it as a sentinel carries it: without its origin, and without what is absent."""
        return _present(
            status=self.status.value,
            reason=self.reason,
            task_hint=self.task_hint,
            workflow=self.workflow,
            step=self.step,
        )

    @staticmethod
    def of(value: JSONObject) -> Dispatch:
        """Build it from an object whose shape is known to be right."""
        return Dispatch(
            status=_member(Status, value, "status"),
            reason=text_of(value, "reason"),
            task_hint=text_of(value, "task_hint"),
            workflow=text_of(value, "workflow"),
            step=text_of(value, "step"),
            origin=_member(Origin, value, "origin") if "origin" in value else Origin.AGENT,
        )


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of another agent by name; `callback` is the return address, by default the calling agent."""

    agent_name: str
    callback: str | None = None
    function: str = CALL_AGENT

    def to_json(self) -> JSONObject:
        """Return it as a sentinel carries it."""
        return _present(function=self.function, agent_name=self.agent_name, callback=self.callback)

    @staticmethod
    def of(value: JSONObject) -> FunctionCall:
        """Build it from an object whose shape is known to be right."""
        return FunctionCall(text_of(value, "agent_name") or "", text_of(value, "callback"))


@dataclass(frozen=True, slots=True)
class AgentRunConfig:
    """One agent's decision: at least one of its three actions, and never both ways to name a target."""

    task: str | None = None
    dispatch: Dispatch | None = None
    function_call: FunctionCall | None = None

    @staticmethod
    def from_json(value: JSON) -> AgentRunConfig | Diagnostic:
        """Check a payload; the first rule it breaks comes back as a Diagnostic."""
        found = shaped(value, _CONFIG)
        if isinstance(found, Diagnostic):
            return found
        return _broken_invariant(found) or AgentRunConfig(
            task=text_of(found, "task"),
            dispatch=Dispatch.of(as_object(found["dispatch"])) if "dispatch" in found else None,
            function_call=FunctionCall.of(as_object(found["function_call"])) if "function_call" in found else None,
        )

    def to_json(self) -> JSONObject:
        """Return it as its sentinel carries it, without what is absent."""
        return _present(
            task=self.task,
            dispatch=self.dispatch.to_json() if self.dispatch else None,
            function_call=self.function_call.to_json() if self.function_call else None,
        )


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """Where a workflow stands after a run, as the engine posts it.

    `agent` ran last (null before the first run), `next` runs next - at once, or when a human has answered - and
    `called_by` is who called that one. `stop` says why the workflow is not running.
    """

    workflow: str
    step: str
    agent: str | None = None
    next: str | None = None
    called_by: str | None = None
    status: Phase = Phase.RUNNING
    stop: Stop | None = None
    dispatch: Dispatch | None = None
    started_by: str | None = None
    callback: str | None = None
    consumed_events: tuple[str, ...] = ()
    consumed_comments: tuple[str, ...] = ()

    @staticmethod
    def from_json(value: JSON) -> WorkflowState | Diagnostic:
        """Check a posted state; the first fault comes back as a Diagnostic."""
        found = shaped(value, _STATE)
        if isinstance(found, Diagnostic):
            return found
        consumed = as_object(found["consumed"])
        return WorkflowState(
            workflow=text_of(found, "workflow") or "",
            step=text_of(found, "step") or "",
            agent=text_of(found, "agent"),
            next=text_of(found, "next"),
            called_by=text_of(found, "called_by"),
            status=_member(Phase, found, "status"),
            stop=None if found["stop"] is None else _member(Stop, found, "stop"),
            dispatch=None if found["dispatch"] is None else Dispatch.of(as_object(found["dispatch"])),
            started_by=text_of(found, "started_by"),
            callback=text_of(found, "CONFIG_CALLBACK"),
            consumed_events=tuple(map(str, as_list(consumed["events"]))),
            consumed_comments=tuple(map(str, as_list(consumed["comments"]))),
        )

    def to_json(self) -> JSONObject:
        """Return it as its line carries it: every key stands there, and null where there is nothing."""
        dispatch = self.dispatch
        return {
            "workflow": self.workflow,
            "step": self.step,
            "agent": self.agent,
            "next": self.next,
            "called_by": self.called_by,
            "status": self.status.value,
            "stop": self.stop.value if self.stop else None,
            "dispatch": {**dispatch.to_json(), "origin": dispatch.origin.value} if dispatch else None,
            "started_by": self.started_by,
            "CONFIG_CALLBACK": self.callback,
            "consumed": {"events": [*self.consumed_events], "comments": [*self.consumed_comments]},
        }


@dataclass(frozen=True, slots=True)
class HumanActionNotice:
    """One message of the engine's to one human: that the workflow stopped, and why."""

    mention: str
    stop: Stop
    step: str
    reason: str | None = None


def _broken_invariant(config: JSONObject) -> Diagnostic | None:
    if not config:
        return Diagnostic("needs at least one action: task, dispatch or function_call")
    if "task" in config and "function_call" in config:
        return Diagnostic("task and function_call exclude each other: both name a target")
    return None


def _member(kind: type[_Member], value: JSONObject, key: str) -> _Member:
    return kind(text_of(value, key) or "")


def _present(**fields: JSON) -> JSONObject:
    return {key: value for key, value in fields.items() if value is not None}
