"""The reference's client of the Responses API: what it sends, and what it makes of the events."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.reference import responses_api
from pytest_agentcontract.reference.clients import connect
from pytest_agentcontract.reference.conversation import Answer, Ask, Results, Said, Tool, ToolCall, ToolResult
from pytest_agentcontract.reference.rules import BASES
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.reference.usage import Reading, Tokens, last_figures

WORK = ToolCall("c1", "touch", '{"path": "a"}', {"path": "a"})
BROKEN = ToolCall("c2", "read", "{", None)
RESULTS = Results((ToolResult("c1", "done"), ToolResult("c2", "broken", is_error=True)))


def body(*history: Any, force: str | None = None) -> Any:
    """Render a request with this history."""
    tool = Tool("touch", "Touch.", {"type": "object"})
    return responses_api.body(Ask("Be brief.", history, (tool,), force), "m")


def assembled(*events: tuple[str, dict[str, Any]]) -> tuple[responses_api.Assembly, list[str]]:
    """Feed events to an answer in the making; return it and what was printed."""
    printed: list[str] = []
    assembly = responses_api.Assembly(printed.append, Reading(of_root=True))
    for kind, fields in events:
        assembly.feed({"type": kind} | fields)
    return assembly, printed


def added(index: int, kind: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """Open an item."""
    return "response.output_item.added", {"output_index": index, "item": {"type": kind, **more}}


def piece(word: str, index: int, delta: str) -> tuple[str, dict[str, Any]]:
    """Add to one of its texts."""
    return f"response.{word}.delta", {"output_index": index, "delta": delta}


def ended(status: str | None = "completed", reason: str | None = None) -> tuple[str, dict[str, Any]]:
    """End the answer."""
    usage = {"input_tokens": 7, "output_tokens": 5}
    response = {"status": status, "incomplete_details": reason and {"reason": reason}, "usage": usage}
    return f"response.{'incomplete' if reason else 'completed'}", {"response": response}


def test_a_conversation_is_rendered_in_items() -> None:
    """Signed thinking goes back before the text, each call and each result is an item; nothing is stored."""
    sent = body(Said(("hi", "there")), Answer("Look.", "Hm.", (WORK, BROKEN), signature="s"), RESULTS, force="touch")
    assert sent["instructions"] == "Be brief."
    assert sent["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}, {"type": "input_text", "text": "there"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "s"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
        {"type": "function_call", "call_id": "c1", "name": "touch", "arguments": '{"path": "a"}'},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "function_call_output", "call_id": "c2", "output": "broken"},
    ]
    (tool,) = sent["tools"]
    assert tool.items() >= {"type": "function", "name": "touch", "description": "Touch."}.items()
    assert (sent["tool_choice"], sent["store"]) == ({"type": "function", "name": "touch"}, False)
    assert "tool_choice" not in body()


def test_events_become_an_answer() -> None:
    """Texts are printed as they come, thinking is not; what `done` events repeat is not taken twice."""
    assembly, printed = assembled(
        added(0, "reasoning"),
        piece("reasoning_summary_text", 0, "Hm"),
        ("response.output_item.done", {"output_index": 0, "item": {"type": "reasoning", "encrypted_content": "s"}}),
        added(1, "message"),
        piece("output_text", 1, "Lo"),
        piece("output_text", 1, "ok."),
        ("response.output_text.done", {"output_index": 1, "text": "Look."}),
        added(2, "function_call", call_id="c1", name="touch"),
        piece("function_call_arguments", 2, '{"path": "a"}'),
        ("response.function_call_arguments.done", {"output_index": 2, "arguments": '{"path": "a"}'}),
        ended(),
    )
    assert assembly.answer() == Answer("Look.", "Hm", (ToolCall("c1", "touch", '{"path": "a"}'),), "tool-use", "s")
    assert (printed, assembly.done) == (["Lo", "ok."], True)
    assert last_figures(assembly.reading.reports) == Tokens(7, 5)


@pytest.mark.parametrize(
    ("status", "reason", "stop"),
    [
        ("completed", None, "end"),
        ("incomplete", "max_output_tokens", "length"),
        ("incomplete", "content_filter", "refusal"),
        ("incomplete", "steered", "steered"),
        (None, None, ""),
    ],
)
def test_every_end_is_an_end(status: str | None, reason: str | None, stop: str) -> None:
    """By the status, and by the reason of an incomplete answer."""
    assembly, _ = assembled(ended(status, reason))
    assert (assembly.answer(), assembly.done) == (Answer(stop=stop), True)


def test_a_refusal_in_words_is_text_and_a_refusal() -> None:
    """It is shown, and says why the model stopped."""
    assembly, printed = assembled(added(0, "message"), piece("refusal", 0, "No."), ended())
    assert (assembly.answer(), printed) == (Answer("No.", stop="refusal"), ["No."])


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("error", {"error": {"message": "busy"}}),
        ("error", {"message": "busy", "code": None}),
        ("response.failed", {"response": {"status": "failed", "error": {"message": "busy"}}}),
    ],
)
def test_an_error_event_is_raised(kind: str, fields: dict[str, Any]) -> None:
    """In the provider's words, wherever they stand."""
    with pytest.raises(ModelError, match="busy"):
        assembled(added(0, "message"), (kind, fields))


def test_the_environment_chooses_it() -> None:
    """OpenAI's two APIs have one address and one key; a variable says which is meant."""
    rules = BASES["reference"]
    chosen = connect({"OPENAI_API_KEY": "k", "OPENAI_WIRE_API": "responses"}, rules)
    assert (chosen.api.path, chosen.key) == ("/responses", "k")
    for env in ({}, {"OPENAI_WIRE_API": "chat"}):
        assert connect({"OPENAI_API_KEY": "k"} | env, rules).api.path == "/chat/completions"
    with pytest.raises(UsageError, match="'completions' is no API"):
        connect({"OPENAI_API_KEY": "k", "OPENAI_WIRE_API": "completions"}, rules)
