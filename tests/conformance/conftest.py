"""Runs played by hand: a scene takes a case through its script, request by request, and ends as the test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pytest

from pytest_agentcontract.conformance.checks import CHECKS
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.verdict import Finding
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, place
from pytest_agentcontract.scenario.case import Case, ScriptedCall, ScriptedTurn
from pytest_agentcontract.scenario.load_case import load_case
from pytest_agentcontract.scenario.observation import Delivery, Exchange, Kind, Observation
from pytest_agentcontract.scenario.profile import Binding, Limits, Profile, ResultRule, WireSetup
from pytest_agentcontract.wire.request import Message, Request, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.turn import Call, Turn, Usage

TOOLS = ("reply", "touch", "agent")
BINDINGS = {
    "return": Binding("reply", payload="/value"),
    "work": Binding("touch", {"path": "{mark}"}),
    "spawn": Binding("agent", {"prompt": "{child_prompt}"}),
}
ALL = frozenset(
    {
        "headless", "interactive", "text", "root-return", "child-return", "sub-agents", "async", "schema", "step-cap",
        "payload-string", "payload-object", "payload-array",
    }
)  # fmt: skip
RULE = ResultRule(failed="/is_error", usage_input="/usage/in", usage_output="/usage/out")
FULL = Profile(
    "hand-made",
    "python",
    {"anthropic-messages": WireSetup(), "openai-chat": WireSetup()},
    RULE,
    ALL,
    tools=BINDINGS,
    limits=Limits(steps=20, nudges=3),
    failure="failed:",
)
TOOL_LESS = replace(
    FULL,
    tools={name: binding for name, binding in BINDINGS.items() if name != "return"},
    capabilities=ALL - {"root-return", "child-return"},
)
NAMES = {"$return": "reply", "$work": "touch", "$spawn": "agent"}


@dataclass
class Voice:
    """One agent of a scene: what it has read and said so far, and where its script stands."""

    messages: list[Message]
    at: int = 0
    asked: int = 0
    last: Turn | None = None


@dataclass
class Scene:
    """A run in the making. `root()` and `child()` make the next request of an agent; an `end` closes the run."""

    case: Case
    profile: Profile = FULL
    wire: str = "anthropic-messages"
    voices: dict[str, Voice] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)

    def root(self, times: int = 1, **how: Any) -> Self:
        """Let the root ask so many times, each time the same way."""
        for _ in range(times):
            self._ask("root", **how)
        return self

    def child(self, times: int = 1, *, name: str = "child", **how: Any) -> Self:
        """Let a child ask so many times."""
        for _ in range(times):
            self._ask(name, **how)
        return self

    def lost(self, *marks: str) -> Self:
        """Let marks be missing from the disk."""
        self.marks -= set(marks)
        return self

    def left(self, *marks: str) -> Self:
        """Let marks be found on the disk."""
        self.marks |= set(marks)
        return self

    def success(self, value: JSON | Missing = MISSING, **changes: Any) -> Run:
        """End as a success with a value."""
        document = {"is_error": False} if isinstance(value, Missing) else {"is_error": False, "result": value}
        return self.end(document=document, value=value, failed=False, exit_code=0, exit_ok=True, **changes)

    def failure(self, value: JSON | Missing = "", **changes: Any) -> Run:
        """End as an honest failure, if no value is named."""
        document = {"is_error": True} if isinstance(value, Missing) else {"is_error": True, "result": value}
        return self.end(document=document, value=value, failed=True, exit_code=1, exit_ok=False, **changes)

    def end(self, **delivery: Any) -> Run:
        """End in any way at all."""
        made = Delivery(**{"ended": "exited", "exit_code": 0, "returned_at": len(self.exchanges) / 10, **delivery})
        return Run(self.case, self.profile, self.wire, Observation(tuple(self.exchanges), made, frozenset(self.marks)))

    def _ask(
        self,
        agent: str,
        *,
        told: tuple[str, ...] = (),
        nudge: str = "Call reply to finish.",
        error: bool = False,
        results: Mapping[int, str] | None = None,
        tools: tuple[str, ...] = TOOLS,
        choice: ToolChoice | None = None,
        kind: Kind = "turn",
        **changes: Any,
    ) -> None:
        voice = self.voices.setdefault(agent, Voice([Message("user", (f"Go. [[{agent}]]",))]))
        voice.messages += self._reaction(voice, nudge, error=error, results=results or {})
        voice.messages += [Message("user", told)] if told else []
        answer, number = self._answer(agent, voice, kind)
        offered, wanted = tuple(map(Tool, tools)), choice or ToolChoice()
        request = Request(self.wire, "m", "", tuple(voice.messages), offered, wanted, stream=False, body={})
        delivered = changes.pop("delivered", kind in ("turn", "poll", "beyond"))
        exchange = Exchange(
            serial=len(self.exchanges) + 1,
            agent=agent,
            kind=kind,
            request=request,
            turn=number,
            answer=answer,
            delivered=delivered,
            received_at=changes.pop("at", len(self.exchanges) / 10),
            sent=answer.usage if delivered and answer else None,
            **changes,
        )
        self.exchanges.append(exchange)
        voice.asked += 1
        voice.last = answer if delivered else None
        if delivered and answer:
            voice.messages.append(Message("assistant", (answer.text,) if answer.text else (), answer.calls))

    def _reaction(self, voice: Voice, nudge: str, *, error: bool, results: Mapping[int, str]) -> list[Message]:
        """Return what a runtime adds after an answer: tool results, or a nudge."""
        if voice.last is None:
            return []
        if not voice.last.calls:
            return [Message("user", (nudge,))] if nudge else []
        flag = error if self.wire == "anthropic-messages" else None
        texts = [
            results.get(at, "error: no" if error else f"did {call.id}") for at, call in enumerate(voice.last.calls)
        ]
        found = (ToolResult(call.id, text, flag) for call, text in zip(voice.last.calls, texts, strict=True))
        return [Message("user", results=tuple(found))]

    def _answer(self, agent: str, voice: Voice, kind: str) -> tuple[Turn | None, int]:
        if kind == "poll":
            return Turn(calls=(Call("touch", {"path": "poll"}, id=f"{agent}-poll-{voice.asked}"),)), 0
        if kind not in ("turn", "fault"):
            return (Turn("(end of script)"), 0) if kind == "beyond" else (None, 0)
        turns = self.case.script[agent]
        scripted, number = turns[voice.at], voice.at + 1
        if not scripted.repeat and (kind == "turn" or scripted.only_fault):
            voice.at += 1
        self.marks |= {call.mark for call in scripted.calls if call.mark and not call.broken and kind == "turn"}
        return (None if scripted.only_fault else self._bound(agent, voice, scripted)), number

    def _bound(self, agent: str, voice: Voice, scripted: ScriptedTurn) -> Turn:
        calls = tuple(_call(call, call.id or f"{agent}-{voice.asked}-{at}") for at, call in enumerate(scripted.calls))
        return Turn(scripted.text, scripted.thinking, calls, scripted.stop, scripted.usage)


def _call(call: ScriptedCall, call_id: str) -> Call:
    arguments = place("/value", call.value) if not isinstance(call.value, Missing) else {"prompt": f"For {call.agent}."}
    raw = '{"value": "cut' if call.broken else None
    return Call(NAMES.get(call.tool, call.tool), arguments, raw, call_id)


@pytest.fixture
def scene(tmp_path: Path) -> Callable[..., Scene]:
    """Open a scene on a case that is written as JSON."""

    def opened(data: Mapping[str, Any], **changes: Any) -> Scene:
        path = tmp_path / "case.json"
        whole = {"title": "t", "why": "w", "covers": ["RET-101"], "given": {"prompt": "Go."}, **data}
        path.write_text(json.dumps(whole))
        return Scene(load_case(path, "group/case"), **changes)

    return opened


@pytest.fixture
def found() -> Callable[[str, Run], Finding]:
    """Return what the check of a requirement finds in a run."""
    return lambda requirement, run: CHECKS[requirement].judge(run)


@pytest.fixture
def full() -> Profile:
    """Return the profile of a runtime that declares everything."""
    return FULL


@pytest.fixture
def tool_less() -> Profile:
    """Return the profile of a runtime without a return tool."""
    return TOOL_LESS


@pytest.fixture
def spent() -> Usage:
    """Return what one answer costs."""
    return Usage(10, 5)
