"""The official SDKs against the scripted provider: they notice nothing, and their own retries see every turn once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import openai
import pytest

from pytest_agentcontract.scenario.case import ScriptedCall, ScriptedTurn
from pytest_agentcontract.wire.faults import CutFault, StatusFault
from pytest_agentcontract.wire.turn import Usage

Play = Callable[..., Any]

OVERLOADED = StatusFault(529, {"retry-after-ms": "1"})
TEXT = "A report of some length, with ünïcode and a\nnew line."
REPLY = ScriptedTurn(text=TEXT, calls=(ScriptedCall("$return", value={"found": [1, None]}),))
MESSAGES_TOOLS = [{"name": "reply", "input_schema": {"type": "object"}}]
CHAT_TOOLS = [{"type": "function", "function": {"name": "reply", "parameters": {"type": "object"}}}]
RESPONSES_TOOLS = [{"type": "function", "name": "reply", "parameters": {"type": "object"}, "strict": False}]


def messages(table: Any, *, stream: bool, **options: Any) -> tuple[str, Any]:
    """Ask over Anthropic Messages; return the text and the first call's arguments."""
    client = table.anthropic(**options)
    body = table.body(tools=MESSAGES_TOOLS)
    if stream:
        with client.messages.stream(**body) as events:
            answer = events.get_final_message()
    else:
        answer = client.messages.create(**body)
    calls = [block.input for block in answer.content if block.type == "tool_use"]
    return "".join(block.text for block in answer.content if block.type == "text"), calls


def chat(table: Any, *, stream: bool, **options: Any) -> tuple[str, Any]:
    """Ask over Chat Completions; return the text and the first call's arguments."""
    client, body = table.openai(**options), table.body(tools=CHAT_TOOLS)
    if stream:
        with client.chat.completions.stream(**body) as events:
            message = events.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(**body).choices[0].message
    calls = [json.loads(call.function.arguments) for call in message.tool_calls or ()]
    return message.content or "", calls


def responses(table: Any, *, stream: bool, **options: Any) -> tuple[str, Any]:
    """Ask over the Responses API; return the text and the first call's arguments."""
    client, body = table.openai(**options), table.body()
    body = {"model": body["model"], "input": body["messages"], "tools": RESPONSES_TOOLS}
    if stream:
        with client.responses.stream(**body) as events:
            answer = events.get_final_response()
    else:
        answer = client.responses.create(**body)
    return answer.output_text, [json.loads(item.arguments) for item in answer.output if item.type == "function_call"]


ASK = {"anthropic-messages": messages, "openai-chat": chat, "openai-responses": responses}
WIRES = pytest.mark.parametrize("wire", ASK)
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@WIRES
@STREAM
def test_an_sdk_gets_the_scripted_turn(play: Play, wire: str, *, stream: bool) -> None:
    """Text and call arrive as scripted, and the exchange is noted as delivered."""
    table = play(REPLY, wire=wire)
    assert ASK[wire](table, stream=stream) == (TEXT, [{"value": {"found": [1, None]}}])
    (exchange,) = table.close()
    assert (exchange.agent, exchange.kind, exchange.delivered, exchange.request.stream) == (
        "root",
        "turn",
        True,
        stream,
    )
    assert table.seat.left == {}


@WIRES
@STREAM
def test_an_sdks_own_retry_after_an_error_gets_the_turn(play: Play, wire: str, *, stream: bool) -> None:
    """A passing 529 uses up an attempt and no turn; the scripted headers steer the SDK's waiting."""
    table = play(ScriptedTurn(text=TEXT, fault=OVERLOADED), wire=wire)
    assert ASK[wire](table, stream=stream) == (TEXT, [])
    assert [(e.kind, e.turn, e.retry, e.delivered) for e in table.close()] == [
        ("fault", 1, False, False),
        ("turn", 1, True, True),
    ]


@WIRES
@pytest.mark.parametrize("ending", ["fin", "rst"])
@STREAM
def test_a_connection_that_breaks_before_the_first_byte_is_asked_again(
    play: Play,
    wire: str,
    ending: Any,
    *,
    stream: bool,
) -> None:
    """The SDKs retry it on their own."""
    table = play(ScriptedTurn(text=TEXT, fault=CutFault(0, ending)), wire=wire)
    assert ASK[wire](table, stream=stream) == (TEXT, [])
    assert [e.kind for e in table.close()] == ["fault", "turn"]


@WIRES
@pytest.mark.parametrize("ending", ["fin", "rst"])
@STREAM
def test_a_broken_answer_is_an_error_and_its_retry_gets_the_turn(
    play: Play,
    wire: str,
    ending: Any,
    *,
    stream: bool,
) -> None:
    """Cut in the middle, it is no answer; the same request again gets the whole one."""
    table = play(ScriptedTurn(text=TEXT, fault=CutFault(2, ending)), wire=wire)
    with pytest.raises(Exception, match=r".+"):
        ASK[wire](table, stream=stream, max_retries=0)
    assert ASK[wire](table, stream=stream) == (TEXT, [])
    first, second = table.close()
    assert (first.kind, first.delivered, first.answer.text) == ("fault", False, TEXT)
    assert first.sent == (Usage(10, 1) if stream and wire == "anthropic-messages" else None)
    assert (second.kind, second.retry, second.delivered) == ("turn", True, True)


@WIRES
def test_a_refusal_is_not_retried(play: Play, wire: str) -> None:
    """A withheld turn costs one request and names what was missing."""
    table = play(ScriptedTurn(calls=(ScriptedCall("$work", mark="w"),)), wire=wire)
    with pytest.raises((anthropic.BadRequestError, openai.BadRequestError), match="'touch'"):
        ASK[wire](table, stream=True)
    assert [e.kind for e in table.close()] == ["withheld"]


def test_a_lasting_fault_outlasts_the_sdks_patience(play: Play) -> None:
    """Every attempt is noted."""
    table = play(ScriptedTurn(fault=OVERLOADED, repeat=True))
    with pytest.raises(anthropic.InternalServerError, match="scripted fault"):
        messages(table, stream=False)
    assert [(e.kind, e.retry) for e in table.close()] == [("fault", False), ("fault", True), ("fault", True)]


def test_cut_streams_end_where_the_script_says(play: Play) -> None:
    """The SDK sees exactly the first two pieces of the text."""
    table = play(ScriptedTurn(text="abcdefgh", fault=CutFault(2)))
    seen: list[str] = []
    with (
        pytest.raises(Exception, match=r".+"),
        table.anthropic(max_retries=0).messages.stream(**table.body()) as events,
    ):
        seen.extend(events.text_stream)
    assert seen == ["a", "b"]


def test_64_agents_stream_at_once(play: Play) -> None:
    """Each gets its own turns, none waits for another."""
    names = [f"c{n}" for n in range(64)]
    table = play(REPLY, **{name: (ScriptedTurn(f"{name} one"), ScriptedTurn(f"{name} two")) for name in names})
    client = table.anthropic()

    def converse(name: str) -> list[str]:
        return [client.messages.create(**table.body(name)).content[0].text for _ in range(2)]

    begun = time.monotonic()
    with ThreadPoolExecutor(64) as pool:
        heard = dict(zip(names, pool.map(converse, names), strict=True))
    assert heard == {name: [f"{name} one", f"{name} two"] for name in names}
    assert time.monotonic() - begun < 20
    assert len(table.close()) == 128
