"""The scripted model: whose request it is, which turn answers it, and what it writes down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import (
    Case,
    Expect,
    Given,
    Handoff,
    Hold,
    Say,
    ScriptedCall,
    ScriptedTurn,
    When,
)
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.scenario.profile import Binding, Limits, Profile, ResultRule, SideCall
from pytest_agentcontract.scenario.script import MOST_POLLS, POLL_DELAY, Script
from pytest_agentcontract.wire.faults import ContentTypeFault, CutFault, MalformedFault, StatusFault
from pytest_agentcontract.wire.request import Message, Request, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.turn import Call, Turn, Usage

NONCE = "7f"
TOOLS = ("reply", "touch", "agent")
BINDINGS = {
    "return": Binding("reply", payload="/value"),
    "work": Binding("touch", {"path": "{mark}"}),
    "spawn": Binding("agent", {"prompt": "{child_prompt}"}),
}
WORK = ScriptedTurn(calls=(ScriptedCall("$work", mark="w"),))
REPLY = ScriptedTurn(calls=(ScriptedCall("$return", value="done"),))
OVERLOADED = StatusFault(529, {"retry-after-ms": "1"})


def profile(**changes: Any) -> Profile:
    """Build a profile whose agents carry tokens."""
    return replace(Profile("p", "command", {}, ResultRule(), frozenset(), tools=BINDINGS), **changes)


def script(
    root: tuple[ScriptedTurn, ...] = (),
    *,
    given: Given | None = None,
    runtime: Profile | None = None,
    **children: tuple[ScriptedTurn, ...],
) -> Script:
    """Script a root and its children."""
    case = Case("g/n", "t", "w", (), given or Given("json", "Go."), {"root": root, **children}, Expect())
    return Script(case, runtime or profile(), Nonces(NONCE, "a9"), Path("runs"))


@dataclass
class Agent:
    """A client that asks on behalf of one agent, and remembers its conversation."""

    script: Script
    name: str = "root"
    tools: tuple[str, ...] = TOOLS
    messages: list[Message] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    wire: str = "anthropic-messages"

    def __post_init__(self) -> None:
        self.messages.append(Message("user", (f"Hello [[{self.name}-{NONCE}]]",)))

    def request(self, *, stream: bool = False, body: JSON = None) -> Request:
        """Build the request for what was said so far."""
        tools = tuple(map(Tool, self.tools))
        return Request(self.wire, "m", "", tuple(self.messages), tools, ToolChoice(), stream, body)

    def ask(self, *, arrives: bool = True) -> Answer:
        """Ask once; an answer that arrives is remembered, with a result for each call."""
        answer = self.script.answer(self.request(), self.headers)
        if arrives:
            self.script.log.delivered(answer.exchange.serial)
        else:
            self.script.log.broken_off(answer.exchange.serial, begun=False)
        if arrives and answer.turn:
            calls = answer.turn.calls
            self.messages.append(Message("assistant", (answer.turn.text or "",), calls))
            self.messages.append(
                Message("user", (), (), tuple(ToolResult(call.id, "ok", is_error=False) for call in calls))
            )
        return answer

    def hears(self, text: str, *, is_error: bool = False) -> None:
        """Add what the runtime tells the agent."""
        self.messages.append(Message("user", (text,), results=(ToolResult("x", text, is_error=is_error),)))


def kinds(played: Script) -> list[str]:
    """List how the requests were answered, in order."""
    return [exchange.kind for exchange in played.exchanges()]


# ---- order and what is written down


def test_turns_come_in_order_then_plain_text() -> None:
    """Each agent walks through its own script; after its end it hears that there is no more."""
    played = script((ScriptedTurn("one"), REPLY))
    root = Agent(played)
    answers = [root.ask() for _ in range(4)]
    assert [answer.turn and answer.turn.text for answer in answers] == [
        "one",
        None,
        "(end of script)",
        "(end of script)",
    ]
    assert answers[1].turn == Turn(calls=(Call("reply", {"value": "done"}, id="toolu_root_2_1"),))
    assert [(e.serial, e.agent, e.kind, e.turn, e.delivered, e.retry) for e in played.exchanges()] == [
        (1, "root", "turn", 1, True, False),
        (2, "root", "turn", 2, True, False),
        (3, "root", "beyond", 0, True, False),
        (4, "root", "beyond", 0, True, False),
    ]


def test_agents_have_their_own_cursors() -> None:
    """Requests of two agents may come in any order."""
    played = script((ScriptedTurn("r1"), ScriptedTurn("r2")), child=(ScriptedTurn("c1"),))
    root, child = Agent(played), Agent(played, "child")
    said = [answer.turn.text for answer in (root.ask(), child.ask(), root.ask()) if answer.turn]
    assert said == ["r1", "c1", "r2"]


def test_prompts_and_lines_carry_the_tokens() -> None:
    """The root's token stands in what it is told first, a child's in the prompt that its parent hands over."""
    assert script().prompt == "Go. [[root-7f]]"
    talk = Given("interactive", conversation=(Say("Hi"), Say("Bye")))
    assert script(given=talk).lines == ("Hi [[root-7f]]", "Bye")
    assert script().lines == ()
    spawning = script((ScriptedTurn(calls=(ScriptedCall("$spawn", agent="child"),)),), child=(REPLY,))
    turn = Agent(spawning).ask().turn
    assert turn is not None
    assert turn.calls[0].arguments == {"prompt": spawning.places.prompts["child"]}
    assert spawning.places.prompts["child"].endswith("[[child-7f]]")


def test_times_count_from_the_opening_of_the_script() -> None:
    """An exchange notes when it came in by the clock it is given."""
    ticks = iter([100.0, 101.5])
    case = Case("g/n", "t", "w", (), Given("json"), {"root": (REPLY,)}, Expect())
    played = Script(case, profile(), Nonces(NONCE, "a9"), Path("runs"), clock=lambda: next(ticks))
    assert Agent(played).ask().exchange.received_at == 1.5


def test_what_is_left_over_is_counted_by_agent() -> None:
    """Turns that never arrived are left over; an optional tail, a fault alone and what is held to the end are not."""
    held = ScriptedTurn("held", hold=Hold(1, "end"))
    played = script((ScriptedTurn("a"), REPLY, ScriptedTurn("tail", repeat=True)), child=(held,), other=(REPLY, REPLY))
    assert played.unused() == {"root": 2, "child": 1, "other": 2}
    Agent(played).ask()
    Agent(played, "child").ask(arrives=False)
    Agent(played, "other").ask(arrives=False)
    assert played.unused() == {"root": 1, "other": 2}
    faulty = script((ScriptedTurn(fault=OVERLOADED), REPLY))
    Agent(faulty).ask()
    assert faulty.unused() == {"root": 1}


# ---- whose request is this


def test_a_request_without_a_token_is_nobodys() -> None:
    """It is refused with a word on what was expected, and consumes nothing."""
    played = script((REPLY,))
    stranger = Agent(played, "stranger")
    answer = stranger.ask()
    assert (answer.turn, answer.status, answer.exchange.kind, answer.exchange.agent) == (None, 400, "unexpected", "")
    assert "'[[root-7f]]' (root)" in answer.message
    assert Agent(played).ask().exchange.turn == 1


def test_a_request_with_two_tokens_is_an_error_never_a_guess() -> None:
    """A parent's history that is copied into a child makes its requests ambiguous."""
    played = script((REPLY,), child=(REPLY,))
    root = Agent(played)
    root.hears("[[child-7f]]")
    answer = root.ask()
    assert (answer.status, answer.exchange.kind, answer.exchange.agent) == (400, "ambiguous", "")
    assert answer.message == "this could be a request of root and child"


def test_a_token_after_the_first_answer_claims_nothing() -> None:
    """What children send back to their parent does not make the parent's requests theirs."""
    played = script((ScriptedTurn("one"), REPLY), child=(REPLY,))
    root = Agent(played)
    root.ask()
    root.hears("from [[child-7f]]")
    assert root.ask().exchange.agent == "root"


@pytest.mark.parametrize(
    ("attribution", "agents", "request_of_child"),
    [
        ("model", {"root": "big", "child": "small"}, {"model": "small"}),
        ("system", {"root": "You lead", "child": "You follow"}, {"system": "Rules. You follow."}),
        ("header", {"root": "X-Agent: lead", "child": "X-Agent: follow"}, {"headers": {"x-agent": "follow"}}),
    ],
)
def test_agents_are_told_apart_as_the_profile_declares(
    attribution: str, agents: Mapping[str, str], request_of_child: dict[str, object]
) -> None:
    """By model name, a marker in the system prompt, or a header line."""
    played = script((REPLY,), runtime=profile(attribution=attribution, agents=agents), child=(ScriptedTurn("c"),))
    headers = request_of_child.pop("headers", {})
    fields = {"model": "m", "system": "", **request_of_child}
    asked = Request(
        "anthropic-messages", messages=(), tools=(), tool_choice=ToolChoice(), stream=False, body=None, **fields
    )
    assert played.answer(asked, headers).exchange.agent == "child"
    assert (
        played.answer(Request("w", "m", "", (), (), ToolChoice(), stream=False, body=None), {}).exchange.kind
        == "unexpected"
    )


@pytest.mark.parametrize(
    ("rule", "is_side"),
    [
        (SideCall("Title", tools="none"), True),
        (SideCall("Title", model="hai*"), True),
        (SideCall("Title", system_contains="a title", model="haiku"), True),
        (SideCall("Title", system_contains="a summary", model="haiku"), False),
        (SideCall("Title", model="opus"), False),
    ],
)
def test_a_side_call_is_answered_by_rule_and_consumes_nothing(rule: SideCall, *, is_side: bool) -> None:
    """All conditions of a rule hold, even if the request quotes an agent's prompt; it costs no tokens."""
    played = script((REPLY,), runtime=profile(side_calls=(rule,)))
    quote = (Message("user", ("Name this: [[root-7f]]",)),)
    asked = Request("anthropic-messages", "haiku", "Find a title.", quote, (), ToolChoice(), stream=False, body=None)
    answer = played.answer(asked, {})
    assert (answer.exchange.kind == "side") == is_side
    if is_side:
        assert answer.turn == Turn("Title", usage=Usage(0, 0))
        assert answer.exchange.agent == ""
        assert played.unused() == {"root": 1}


def test_a_body_that_is_no_request_is_written_down() -> None:
    """Nothing that comes in is lost, not even what can't be read."""
    played = script((REPLY,))
    answer = played.undecodable("openai-chat", "no JSON")
    assert (answer.status, answer.exchange.kind, answer.exchange.note) == (400, "unexpected", "no JSON")


# ---- retries and faults


def test_the_same_request_after_an_undelivered_answer_gets_the_same_turn() -> None:
    """Also over and over, and with the same call ids; then the script goes on."""
    played = script((WORK, REPLY))
    root = Agent(played)
    first, second, third = root.ask(arrives=False), root.ask(arrives=False), root.ask()
    assert first.turn == second.turn == third.turn
    assert [(e.turn, e.retry, e.delivered) for e in played.exchanges()] == [
        (1, False, False),
        (1, True, False),
        (1, True, True),
    ]
    assert root.ask().exchange.turn == 2


def test_the_same_request_beside_an_answer_on_its_way_is_one_of_its_own() -> None:
    """Two clients that say the same take two turns, until one says that it counts retries or hangs up."""
    played = script((ScriptedTurn("one"), ScriptedTurn("two"), ScriptedTurn("three")))
    asked = Agent(played).request()
    first, second = played.answer(asked, {}).exchange, played.answer(asked, {}).exchange
    counted = played.answer(asked, {"x-stainless-retry-count": "1"}).exchange
    assert [(one.turn, one.retry) for one in (first, second, counted)] == [(1, False), (2, False), (1, True)]
    played.log.broken_off(second.serial, begun=True)
    again = played.answer(asked, {}).exchange
    assert (again.turn, again.retry) == (2, True)
    played.log.delivered(again.serial)
    assert played.answer(asked, {}).exchange.turn == 3


def test_a_retry_finds_its_turn_among_the_answers_of_others() -> None:
    """Of two clients of one agent, the one that was cut off first comes back last."""
    played = script((ScriptedTurn("one"), ScriptedTurn("two"), ScriptedTurn("three")))
    here, there = Agent(played), Agent(played)
    there.hears("something else")
    here.ask(arrives=False)
    assert there.ask().exchange.turn == 2
    assert (here.ask().exchange.turn, there.ask().exchange.turn) == (1, 3)


def test_a_retry_may_look_different_if_it_says_that_it_is_one() -> None:
    """The official SDKs count their retries in a header."""
    played = script((ScriptedTurn("one"), REPLY))
    root = Agent(played)
    root.ask(arrives=False)
    root.hears("noise")
    root.headers["x-stainless-retry-count"] = "1"
    assert root.ask().exchange.turn == 1
    assert played.exchanges()[1].retry


def test_another_request_after_an_undelivered_answer_is_no_retry() -> None:
    """A runtime that goes on with a fragment gets the next turn."""
    played = script((ScriptedTurn("one"), REPLY))
    root = Agent(played)
    root.ask(arrives=False)
    root.hears("go on")
    answer = root.ask()
    assert (answer.exchange.turn, answer.exchange.retry) == (2, False)


def test_the_same_request_after_a_delivered_answer_is_a_new_one() -> None:
    """Only what did not arrive is repeated."""
    played = script((ScriptedTurn("one"), REPLY))
    asked = Agent(played).request()
    played.log.delivered(played.answer(asked, {}).exchange.serial)
    assert played.answer(asked, {}).exchange.turn == 2


def test_a_fault_beside_a_turn_uses_up_the_attempt_and_not_the_turn() -> None:
    """The first attempt meets the fault, the next one the content."""
    played = script((ScriptedTurn("one", fault=OVERLOADED), REPLY))
    root = Agent(played)
    first = root.ask(arrives=False)
    assert (first.status, first.fault, first.turn, first.message) == (529, OVERLOADED, None, "scripted fault")
    second = root.ask()
    assert (second.turn and second.turn.text, second.exchange.retry, second.fault) == ("one", True, None)
    assert [(e.kind, e.turn) for e in played.exchanges()] == [("fault", 1), ("turn", 1)]
    assert root.ask().exchange.turn == 2


def test_a_fault_alone_is_an_entry_of_its_own() -> None:
    """The request after it gets the next entry."""
    played = script((ScriptedTurn(fault=OVERLOADED), ScriptedTurn(fault=CutFault(0)), REPLY))
    root = Agent(played)
    answers = [root.ask(arrives=False) for _ in range(3)]
    assert [answer.exchange.kind for answer in answers] == ["fault", "fault", "turn"]
    assert [answer.exchange.turn for answer in answers] == [1, 2, 3]


def test_a_final_fault_uses_the_turn_up() -> None:
    """A client that is not to ask again leaves nothing behind; what it asks beyond that gets the next entry."""
    played = script((ScriptedTurn("one", fault=CutFault(2), final=True), REPLY))
    root = Agent(played)
    assert root.ask(arrives=False).exchange.turn == 1
    root.hears("go on")
    assert root.ask().exchange.turn == 2
    assert played.unused() == {}


@pytest.mark.parametrize("counted", [False, True])
def test_the_same_request_after_a_final_fault_is_refused(*, counted: bool) -> None:
    """However often it comes: the next entry is for whoever goes on."""
    played = script((ScriptedTurn("one", fault=OVERLOADED, final=True), REPLY))
    root = Agent(played)
    root.ask()
    if counted:
        root.hears("noise")
        root.headers["x-stainless-retry-count"] = "1"
    for _ in range(2):
        answer = root.ask(arrives=False)
        assert (answer.status, answer.exchange.kind, answer.exchange.turn) == (400, "unexpected", 1)
        assert answer.message == "it was asked again after a fault that was final (status 529, request 1)"
    root.hears("go on")
    root.headers.clear()
    assert root.ask().exchange.turn == 2


def test_one_agent_alone_needs_no_mark() -> None:
    """Where the script is of one agent only, every request is its own."""
    played = script((ScriptedTurn("one"), ScriptedTurn("two")), runtime=profile(attribution="sole"))
    request = Request("openai-chat", "m", "", (), (), ToolChoice(), stream=False, body={})
    assert played.answer(request, {}).exchange.agent == "root"


def test_tokens_can_be_chosen() -> None:
    """A marker that is listed for an agent stands in the place of its made-up token."""
    runtime = profile(attribution="token", agents={"child": "the younger"})
    played = script((ScriptedTurn("one"),), runtime=runtime, child=(ScriptedTurn("two"),))
    opening = (Message("user", ("To the younger",)),)
    request = Request("openai-chat", "m", "", opening, (), ToolChoice(), stream=False, body={})
    assert played.answer(request, {}).exchange.agent == "child"


def test_a_scripted_error_never_counts_as_delivered() -> None:
    """Else its retry would not be one."""
    played = script((ScriptedTurn(fault=OVERLOADED), REPLY))
    root = Agent(played)
    assert root.ask().exchange.kind == "fault"
    assert not played.exchanges()[0].delivered
    assert root.ask().exchange.retry


def test_a_last_entry_that_repeats_is_served_for_ever() -> None:
    """Its fault too: a provider that never recovers."""
    played = script((ScriptedTurn("again", repeat=True),), child=(ScriptedTurn(fault=OVERLOADED, repeat=True),))
    root, child = Agent(played), Agent(played, "child")
    assert {answer.exchange.turn for answer in (root.ask(), root.ask(), root.ask())} == {1}
    assert [child.ask(arrives=False).status for _ in range(3)] == [529, 529, 529]
    assert played.unused() == {}


def test_repeated_calls_have_ids_of_their_own() -> None:
    """A call id is unique in a run, however often its turn is served."""
    root = Agent(script((ScriptedTurn(calls=(ScriptedCall("$work", mark="w"),), repeat=True),)))
    turns = [root.ask().turn for _ in range(3)]
    assert len({turn.calls[0].id for turn in turns if turn}) == 3


@pytest.mark.parametrize(
    ("wire", "stream", "body", "begun", "reported"),
    [
        ("anthropic-messages", False, None, None, Usage(10, 5)),
        ("anthropic-messages", True, None, None, Usage(10, 5)),
        ("anthropic-messages", True, None, True, Usage(10, 1)),
        ("anthropic-messages", True, None, False, None),
        ("anthropic-messages", False, None, True, None),
        ("openai-chat", False, None, None, Usage(10, 5)),
        ("openai-chat", True, {"stream_options": {"include_usage": True}}, None, Usage(10, 5)),
        ("openai-chat", True, {}, None, None),
        ("openai-chat", True, {"stream_options": {"include_usage": True}}, True, None),
        ("openai-responses", True, {}, None, Usage(10, 5)),
        ("openai-responses", True, {}, True, None),
    ],
)
def test_usage_is_what_the_client_was_told(
    wire: str,
    *,
    stream: bool,
    body: JSON,
    begun: bool | None,
    reported: Usage | None,
) -> None:
    """A whole answer reports all, a broken stream what came first; `begun` None is an answer that arrived."""
    played = script((ScriptedTurn("one"),))
    serial = played.answer(Agent(played, wire=wire).request(stream=stream, body=body), {}).exchange.serial
    if begun is None:
        played.log.delivered(serial)
    else:
        played.log.broken_off(serial, begun=begun)
    assert played.exchanges()[0].sent == reported


# ---- what is withheld


def test_a_turn_that_calls_an_unadvertised_tool_is_withheld() -> None:
    """The scripted model never steers: the request is refused, the cursor stays, and only refusals follow."""
    played = script((REPLY, ScriptedTurn("two")))
    root = Agent(played, tools=("touch",))
    first = root.ask()
    assert (first.status, first.exchange.kind, first.exchange.turn) == (400, "withheld", 1)
    assert "'reply'" in first.message
    assert "touch" in first.message
    root.tools = TOOLS
    assert root.ask().exchange.kind == "withheld"
    assert played.unused() == {"root": 2}


def test_a_call_may_be_meant_to_be_unadvertised() -> None:
    """Then it is served all the same."""
    played = script((ScriptedTurn(calls=(ScriptedCall("$return", value="x", unadvertised=True),)),))
    assert Agent(played, tools=()).ask().exchange.kind == "turn"


def test_a_withheld_turn_stops_its_own_agent_only() -> None:
    """The others play on."""
    played = script((REPLY,), child=(ScriptedTurn("c"),))
    Agent(played, tools=()).ask()
    assert Agent(played, "child").ask().exchange.kind == "turn"


@pytest.mark.parametrize(
    ("limits", "max_turns", "agents", "budget"),
    [
        (Limits(), None, 1, 200),
        (Limits(), None, 2, 200),
        (Limits(steps=5, nudges=2), None, 1, 17),
        (Limits(steps=5), 8, 1, 18),
        (Limits(nudges=3), 2, 2, 30),
    ],
)
def test_a_run_has_a_budget_of_requests(limits: Limits, max_turns: int | None, agents: int, budget: int) -> None:
    """It follows from what the runtime declares and what the case asks for, and ends a loop without end."""
    children = {f"c{n}": (REPLY,) for n in range(agents - 1)}
    forever = (ScriptedTurn("x", repeat=True),)
    played = script(forever, given=Given("json", "p", max_turns=max_turns), runtime=profile(limits=limits), **children)
    root = Agent(played)
    for _ in range(budget):
        root.ask()
    assert set(kinds(played)) == {"turn"}
    refused = root.ask()
    assert (refused.status, refused.exchange.kind) == (400, "budget")
    assert str(budget) in refused.message


# ---- waiting


def waiting(event: str, **children: tuple[ScriptedTurn, ...]) -> tuple[Script, Agent]:
    """Script a root whose reply waits for its child."""
    reply = ScriptedTurn(calls=(ScriptedCall("$return", value="all"),), when=When(event, "child"))
    played = script((reply,), runtime=profile(failure="✗ .* failed"), **children)
    return played, Agent(played)


@pytest.mark.parametrize(
    ("value", "report"),
    [("the report", "↘ child\nthe report"), ({"a": [1]}, 'child:\n{\n  "a": [\n    1\n  ]\n}')],
)
def test_a_turn_waits_until_the_childs_payload_is_seen(value: JSON, report: str) -> None:
    """Until then the agent is kept busy with work that leaves marks of its own."""
    played, root = waiting("sees", child=(ScriptedTurn(calls=(ScriptedCall("$return", value=value),)),))
    first = root.ask()
    assert (first.exchange.kind, first.exchange.turn, first.delay) == ("poll", 0, POLL_DELAY)
    assert first.turn is not None
    assert first.turn.calls[0].name == "touch"
    assert first.turn.calls[0].arguments == {"path": "runs/mark-poll-1-a9"}
    Agent(played, "child").ask()
    assert root.ask().exchange.kind == "poll"
    root.hears(report)
    answer = root.ask()
    assert (answer.exchange.kind, answer.exchange.turn, answer.exchange.note) == ("turn", 1, "")
    assert kinds(played) == ["poll", "turn", "poll", "turn"]


def test_a_payload_is_not_seen_before_it_was_returned() -> None:
    """A text that happens to be alike, or an empty payload, opens nothing too early."""
    played, root = waiting("sees", child=(ScriptedTurn(calls=(ScriptedCall("$return", value=""),)),))
    root.ask()
    assert root.ask().exchange.kind == "poll"
    Agent(played, "child").ask()
    assert root.ask().exchange.kind == "turn"


def test_a_turn_waits_until_the_child_has_started() -> None:
    """The child's first request is enough, whatever became of it."""
    played, root = waiting("started", child=(REPLY,))
    assert root.ask().exchange.kind == "poll"
    Agent(played, "child").ask(arrives=False)
    assert root.ask().exchange.kind == "turn"


def test_a_turn_waits_until_the_childs_failure_is_seen() -> None:
    """The profile's pattern tells a failure; the root's own words are no news."""
    _, root = waiting("failed", child=(REPLY,))
    assert root.ask().exchange.kind == "poll"
    root.messages.append(Message("assistant", ("✗ it failed",)))
    assert root.ask().exchange.kind == "poll"
    root.hears("✗ child failed: no_reply")
    assert root.ask().exchange.kind == "turn"


def test_without_a_pattern_a_failed_call_tells_a_failure() -> None:
    """Where the profile has no failure pattern, the wire's error flag stands for it."""
    reply = ScriptedTurn(calls=(ScriptedCall("$return", value="all"),), when=When("failed", "child"))
    root = Agent(script((reply,), child=(REPLY,)))
    assert root.ask().exchange.kind == "poll"
    root.hears("boom", is_error=True)
    assert root.ask().exchange.kind == "turn"


def test_polls_are_bounded_and_cost_no_budget() -> None:
    """After fifty the turn is served all the same, with a note."""
    _, root = waiting("sees", child=(REPLY,))
    answers = [root.ask() for _ in range(MOST_POLLS + 1)]
    assert [answer.exchange.kind for answer in answers] == ["poll"] * MOST_POLLS + ["turn"]
    assert answers[-1].exchange.note
    assert len({answer.turn.calls[0].id for answer in answers if answer.turn}) == MOST_POLLS + 1


def test_polls_end_when_the_child_was_withheld() -> None:
    """There is nothing left to wait for."""
    played, root = waiting("sees", child=(REPLY,))
    assert root.ask().exchange.kind == "poll"
    Agent(played, "child", tools=()).ask()
    answer = root.ask()
    assert (answer.exchange.kind, bool(answer.exchange.note)) == ("turn", True)


def test_a_poll_needs_an_advertised_tool_too() -> None:
    """The agent that can't be kept busy is refused."""
    played, root = waiting("sees", child=(REPLY,))
    root.tools = ("reply",)
    assert root.ask().exchange.kind == "withheld"
    assert "'touch'" in played.exchanges()[0].note


def test_an_undelivered_poll_is_repeated() -> None:
    """A retry is one, whatever was served."""
    _, root = waiting("sees", child=(REPLY,))
    first, second = root.ask(arrives=False), root.ask()
    assert first.turn == second.turn
    assert (second.exchange.kind, second.exchange.retry) == ("poll", True)


def test_gates_open_when_what_they_wait_for_has_happened() -> None:
    """The end of the run, a text on standard output, a turn that arrived."""
    played = script((ScriptedTurn("a"), ScriptedTurn("b")))
    gates = [Hold(1, "end"), Hold(1, "printed", "now"), Hold(1, "delivered", agent="root", turn=2)]

    def opened(printed: str = "", *, over: bool = False) -> list[bool]:
        return [played.log.gate_open(gate, printed, set(), over=over) for gate in gates]

    root = Agent(played)
    root.ask()
    assert opened() == [False, False, False]
    assert opened("right now", over=True) == [True, True, False]
    root.ask(arrives=False)
    assert not opened()[2]
    root.ask()
    assert opened() == [False, False, True]


def test_in_a_hand_off_each_agent_asks_for_the_model_of_its_own_name() -> None:
    """Whatever the profile says of other cases: the thread that they all read can't tell them apart."""
    given = Given("handoff", handoff=Handoff({}, (), (None,)))
    case = Case("g/n", "t", "w", (), given, {"architect": (ScriptedTurn("one"),), "context": ()}, Expect())
    played = Script(case, profile(), Nonces(NONCE, "a9"), Path("runs"))
    asked = [replace(Agent(played).request(), model=model) for model in ("architect", "context", "root")]
    answers = [played.answer(request, {}).exchange for request in asked]
    assert [(exchange.agent, exchange.kind) for exchange in answers] == [
        ("architect", "turn"),
        ("context", "beyond"),
        ("", "unexpected"),
    ]
    assert "expected in `model` one of 'architect' (architect)" in answers[2].note


# ---- scripts of a user's own


def test_a_strict_script_refuses_what_it_does_not_say() -> None:
    """After its end nothing is made up: the refusal names the place of what was asked."""
    played = Script(
        Case("g/n", "t", "w", (), Given("json", "Go."), {"root": (ScriptedTurn("one"),)}, Expect()),
        profile(),
        Nonces(NONCE, "a9"),
        Path("runs"),
        strict=True,
    )
    root = Agent(played)
    root.ask()
    root.hears("and now?")
    answer = root.ask(arrives=False)
    assert (answer.status, answer.exchange.kind) == (400, "unexpected")
    assert answer.message == "/messages/3 says 'and now?', but the script of root ends"


def test_a_turn_may_await_a_text() -> None:
    """What is awaited has to be new: an older message that holds it is no answer to the turn before."""
    played = script((ScriptedTurn("one", asked="Hello"), ScriptedTurn("two", asked="42")))
    root = Agent(played)
    assert root.ask().turn
    refused = root.ask(arrives=False)
    assert (refused.status, refused.exchange.kind) == (400, "unexpected")
    assert "but turn 2 of root awaits '42'" in refused.message
    root.hears("it is 42")
    answer = root.ask()
    assert answer.turn is not None
    assert answer.turn.text == "two"


@pytest.mark.parametrize(("goes_on", "text"), [(True, "two"), (False, "one")])
def test_a_mislabelled_answer_counts_for_a_client_that_takes_it(*, goes_on: bool, text: str) -> None:
    """Whoever goes on from it has had the turn; whoever asks the same again gets it again, labelled well."""
    played = script((ScriptedTurn("one", fault=ContentTypeFault("text/html")), ScriptedTurn("two")))
    root = Agent(played)
    assert root.ask(arrives=False).exchange.kind == "fault"
    if goes_on:
        root.hears("go on")
    answer = root.ask()
    assert answer.turn is not None
    assert answer.turn.text == text
    assert played.unused() == ({} if goes_on else {"root": 1})


@pytest.mark.parametrize(
    ("carried_out", "number"), [("toolu_root_1_1", 2), ("another", 1)], ids=["goes on", "asks again"]
)
def test_a_malformed_answer_counts_for_a_client_that_carries_its_call_out(carried_out: str, number: int) -> None:
    """Who passes the spoilt event over and calls the tool is not told to call it again."""
    played = script((replace(WORK, fault=MalformedFault(1)), REPLY))
    root = Agent(played)
    assert root.ask(arrives=False).exchange.kind == "fault"
    root.messages.append(Message("assistant", (), (Call("touch", {}, id=carried_out),)))
    root.messages.append(Message("user", results=(ToolResult(carried_out, "ok"),)))
    assert root.ask().exchange.turn == number
    assert played.unused() == ({} if number == 2 else {"root": 1})
