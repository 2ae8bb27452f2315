"""A parent that waits for its child by a tool of its own, which names what the child's start was answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, ScriptedCall, ScriptedTurn, When
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.scenario.profile import Binding, Profile, ResultRule
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.wire.request import Message, Request, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.turn import Call

WAIT = Binding("wait", {"ids": ["{id}"], "by": "{agent}"}, captures={"id": r'"id": "(\w+)"'})
TOOLS = {
    "work": Binding("touch", {"path": "{mark}"}),
    "spawn": Binding("agent", {"prompt": "{child_prompt}"}),
    "await": WAIT,
}
SPAWNS = ScriptedTurn(calls=(ScriptedCall("$work", mark="w"), ScriptedCall("$spawn", agent="child")))


def begun(event: str = "sees", *, tools: dict[str, Binding] | None = None) -> Script:
    """Script a root that starts a child and whose next turn waits for an event of that child's."""
    last = ScriptedTurn(text="Done.", when=When(event, "child"))
    agents = {"root": (SPAWNS, last), "child": (ScriptedTurn(text="Child done."),)}
    case = Case("g/n", "t", "w", (), Given("json", "Go."), agents, Expect())
    profile = Profile("p", "command", {}, ResultRule(), frozenset(), tools=tools or TOOLS)
    return Script(case, profile, Nonces("7f", "a9"), Path("runs"))


def ask(played: Script, *results: str, offered: tuple[str, ...] = ("touch", "agent", "wait")) -> Answer:
    """Ask as the root, with results for the calls so far; the answer arrives."""
    calls = [call for seen in played.exchanges() if seen.answer for call in seen.answer.calls]
    heard = tuple(ToolResult(call.id, text, is_error=False) for call, text in zip(calls, results, strict=True))
    messages = (Message("user", ("Hello [[root-7f]]",)), Message("assistant"), Message("user", results=heard))
    request = Request("openai-chat", "m", "", messages, tuple(map(Tool, offered)), ToolChoice(), stream=False, body={})
    answer = played.answer(request, {})
    played.log.delivered(answer.exchange.serial)
    return answer


def called(answer: Answer) -> tuple[Call, ...]:
    """Return the calls of an answer."""
    return answer.turn.calls if answer.turn else ()


def test_the_wait_names_what_the_start_was_answered() -> None:
    """It is put in once, as a poll; what goes on waiting afterwards works."""
    played = begun()
    [_, spawned] = called(ask(played))
    [wait] = called(ask(played, "made", '{"id": "x1"}'))
    assert wait == Call("wait", {"ids": ["x1"], "by": "child"}, id=f"{spawned.id}_await")
    [work] = called(ask(played, "made", '{"id": "x1"}', "timed out"))
    assert work.name == "touch"
    assert [seen.kind for seen in played.exchanges()] == ["turn", "poll", "poll"]


def test_without_what_it_takes_the_parent_works_while_it_waits() -> None:
    """No answer that holds the value, no such tool on offer, or none bound: never a wait for nobody."""
    for offered, answer, tools in (
        (("touch", "agent", "wait"), "no agent was started", TOOLS),
        (("touch", "agent"), '{"id": "x1"}', TOOLS),
        (("touch", "agent", "wait"), '{"id": "x1"}', {name: TOOLS[name] for name in ("work", "spawn")}),
    ):
        played = begun(tools=tools)
        ask(played)
        assert [call.name for call in called(ask(played, "made", answer, offered=offered))] == ["touch"]


def test_nobody_waits_for_the_end_of_a_child_that_is_to_be_at_work() -> None:
    """A turn that waits for its start alone goes on beside it."""
    played = begun("started")
    ask(played)
    assert [call.name for call in called(ask(played, "made", '{"id": "x1"}'))] == ["touch"]


def test_a_wait_without_a_name_needs_no_value() -> None:
    """A tool that waits for whoever is at work is called as soon as the start is answered."""
    tools: dict[str, Any] = {**TOOLS, "await": Binding("wait")}
    played = begun(tools=tools)
    ask(played)
    assert [call.arguments for call in called(ask(played, "made", "started"))] == [{}]
