"""Anthropic Messages against the official SDK: it parses what we encode, and we decode what it sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import anthropic
import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.wire import anthropic_messages
from pytest_agentcontract.wire.anthropic_messages import words
from pytest_agentcontract.wire.request import Message, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage

if TYPE_CHECKING:
    from conftest import Desk

Ask: TypeAlias = Callable[..., Any]

USER: Any = {"role": "user", "content": "hi"}
ASK: Any = {"model": "scripted", "max_tokens": 99, "messages": [USER]}
FULL = Turn(
    "Let me see \u2198",
    "First, think.",
    (Call("touch", {"path": "a b", "deep": [1, {"\u00e9": None}]}, id="toolu_mine"), Call("reply", {"value": "{}"})),
    usage=Usage(17, 4),
)


def whole(client: anthropic.Anthropic, **more: object) -> anthropic.types.Message:
    """Ask for one response document."""
    return client.messages.create(**ASK | more)


def streamed(client: anthropic.Anthropic, **more: object) -> anthropic.types.Message:
    """Ask for a stream and let the SDK's own helper put it together."""
    with client.messages.stream(**ASK | more) as stream:
        return stream.get_final_message()


both_ways = pytest.mark.parametrize("ask", [whole, streamed])


# ---- answers


@both_ways
def test_a_full_turn_is_what_the_sdk_reads(desk: Desk, claude: anthropic.Anthropic, ask: Ask) -> None:
    """Thinking with its signature, text and parallel calls arrive in order, with usage and the natural label."""
    desk.turn = FULL
    message = ask(claude)
    thinking, text, touch, reply = message.content
    assert (thinking.thinking, bool(thinking.signature)) == ("First, think.", True)
    assert text.text == "Let me see \u2198"
    assert ("touch", "toolu_mine", FULL.calls[0].arguments) == (touch.name, touch.id, touch.input)
    assert (reply.name, reply.input) == ("reply", {"value": "{}"})
    assert (message.stop_reason, message.model) == ("tool_use", "scripted")
    assert (message.usage.input_tokens, message.usage.output_tokens) == (17, 4)


def test_a_stream_tells_its_usage_twice(desk: Desk, claude: anthropic.Anthropic) -> None:
    """At first the input and one token of output, at its end the totals of both: whoever adds them up is wrong."""
    desk.turn = Turn("x", usage=Usage(17, 4))
    events: list[Any] = list(claude.messages.create(**ASK, stream=True))
    first = next(event.message.usage for event in events if event.type == "message_start")
    last = next(event.usage for event in events if event.type == "message_delta")
    assert (first.input_tokens, first.output_tokens) == (17, 1)
    assert (last.input_tokens, last.output_tokens) == (17, 4)


@both_ways
@pytest.mark.parametrize(("text", "count"), [(None, 0), ("", 1)])
def test_no_text_is_no_block_and_empty_text_an_empty_one(
    desk: Desk, claude: anthropic.Anthropic, ask: Ask, text: str | None, count: int
) -> None:
    """A turn without text has an empty content; with an empty one it has a text block that says nothing."""
    desk.turn = Turn(text)
    message = ask(claude)
    assert [""] * count == [block.text for block in message.content]
    assert message.stop_reason == "end_turn"


@both_ways
@pytest.mark.parametrize(("stop", "label"), words.STOP_REASONS.items())
def test_every_stop_label_arrives(
    desk: Desk, claude: anthropic.Anthropic, ask: Ask, stop: Stop, label: str | None
) -> None:
    """A scripted label goes out in the provider's word, whatever the turn holds, and the absent one as null."""
    desk.turn = Turn("x", calls=(Call("t"),), stop=stop)
    assert label == ask(claude).stop_reason


def test_broken_arguments_of_a_stream_arrive_as_they_are(desk: Desk, claude: anthropic.Anthropic) -> None:
    """Raw arguments go out piece by piece, unrepaired."""
    desk.turn = Turn(calls=(Call("t", raw_arguments='{"value": "unfini'),))
    events = list(claude.messages.create(**ASK, stream=True))
    deltas: list[Any] = [event.delta for event in events if event.type == "content_block_delta"]
    assert "".join(delta.partial_json for delta in deltas) == '{"value": "unfini'


def test_the_sdk_refuses_arguments_that_are_no_json(desk: Desk, claude: anthropic.Anthropic) -> None:
    """What the model broke reaches the client: its own parser complains."""
    desk.turn = Turn(calls=(Call("t", raw_arguments="value=1"),))
    with pytest.raises(ValueError, match="tool parameter JSON"):
        streamed(claude)


@pytest.mark.parametrize(("raw", "value"), [('{"a": 1}', {"a": 1}), ("[1]", [1]), ('{"a"', '{"a"'), ("", "")])
def test_raw_arguments_of_a_whole_answer(desk: Desk, claude: anthropic.Anthropic, raw: str, value: JSON) -> None:
    """A whole answer holds raw arguments as the value they spell, and as a string where they spell none."""
    desk.turn = Turn(calls=(Call("t", raw_arguments=raw),))
    assert value == whole(claude).content[0].input


@both_ways
def test_a_lone_surrogate_goes_through(desk: Desk, claude: anthropic.Anthropic, ask: Ask) -> None:
    """Half a character in the text arrives as it is and does not break the encoding of the rest."""
    desk.turn = Turn("\u00e9\ud800\u2198")
    assert ask(claude).content[0].text == "\u00e9\ud800\u2198"


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (401, "authentication_error", anthropic.AuthenticationError),
        (403, "permission_error", anthropic.PermissionDeniedError),
        (404, "not_found_error", anthropic.NotFoundError),
        (409, "conflict_error", anthropic.ConflictError),
        (413, "request_too_large", anthropic.APIStatusError),
        (418, "invalid_request_error", anthropic.APIStatusError),
        (422, "invalid_request_error", anthropic.UnprocessableEntityError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (503, "api_error", anthropic.InternalServerError),
        (529, "overloaded_error", anthropic.InternalServerError),
    ],
)
def test_error_bodies_are_native(
    desk: Desk, claude: anthropic.Anthropic, status: int, kind: str, error: type[anthropic.APIStatusError]
) -> None:
    """An error status raises the SDK's own exception, with the provider's type and our message in its body."""
    desk.status = status
    with pytest.raises(error) as caught:
        whole(claude)
    assert {"type": "error", "error": {"type": kind, "message": "scripted"}} == caught.value.body


# ---- requests


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("Be brief.", "Be brief."),
        (
            [{"type": "text", "text": "A"}, {"type": "text", "text": "B", "cache_control": {"type": "ephemeral"}}],
            "A\nB",
        ),
    ],
)
def test_the_system_prompt_is_a_string_or_blocks(
    desk: Desk, claude: anthropic.Anthropic, system: object, expected: str
) -> None:
    """The system prompt is read in both of its forms."""
    whole(claude, system=system)
    assert expected == desk.request.system


def test_system_messages_among_the_others() -> None:
    """Leading system messages join the system prompt; one amid the conversation stays in its place."""
    messages: JSON = [
        {"role": "system", "content": "B"},
        {"role": "user", "content": "hi"},
        {"role": "system", "content": [{"type": "text", "text": "reminder"}]},
    ]
    request = anthropic_messages.decode_request({"model": "m", "system": "A", "messages": messages})
    assert request.system == "A\nB"
    assert (Message("user", ("hi",)), Message("system", ("reminder",))) == request.messages


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "auto", "disable_parallel_tool_use": True}, ToolChoice("auto")),
        ({"type": "any"}, ToolChoice("any")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "tool", "name": "reply"}, ToolChoice("tool", "reply")),
        (anthropic.NOT_GIVEN, ToolChoice("auto")),
    ],
)
def test_every_tool_choice(desk: Desk, claude: anthropic.Anthropic, choice: object, expected: ToolChoice) -> None:
    """How free the model is, in every form that the SDK sends."""
    whole(claude, tool_choice=choice)
    assert expected == desk.request.tool_choice


def test_advertised_tools(desk: Desk, claude: anthropic.Anthropic) -> None:
    """Client tools come with their schema, provider tools with their name, and a tool set without one not at all."""
    schema: JSONObject = {"type": "object", "properties": {"value": {}}}
    web = {"type": "web_search_20250305", "name": "web_search"}
    tools: Any = [{"name": "reply", "description": "Return.", "input_schema": schema}, web, {"type": "mcp_toolset"}]
    whole(claude, tools=tools)
    assert (Tool("reply", schema, "Return."), Tool("web_search")) == desk.request.tools


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"content": "done"}, ToolResult("c1", "done", is_error=False)),
        ({"content": "bad", "is_error": True}, ToolResult("c1", "bad", is_error=True)),
        ({}, ToolResult("c1", "", is_error=False)),
        (
            {
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                    {"type": "text", "text": "b"},
                ]
            },
            ToolResult("c1", "a\nb", is_error=False),
        ),
    ],
)
def test_tool_results(desk: Desk, claude: anthropic.Anthropic, block: dict[str, object], expected: ToolResult) -> None:
    """A tool result is a string, blocks or nothing, says whether it is an error, and leaves the user's text alone."""
    content = [{"type": "tool_result", "tool_use_id": "c1", **block}, {"type": "text", "text": "go on"}]
    whole(claude, messages=[USER, {"role": "user", "content": content}])
    assert Message("user", ("go on",), results=(expected,)) == desk.request.messages[1]


@both_ways
def test_an_answer_comes_back_as_the_calls_that_it_made(desk: Desk, claude: anthropic.Anthropic, ask: Ask) -> None:
    """The SDK's own blocks, handed back as history, decode to what was encoded; thinking is left out."""
    desk.turn = FULL
    history = [USER, {"role": "assistant", "content": ask(claude).content}, USER]
    ask(claude, messages=history)
    _, answer, _ = desk.request.messages
    assert ("assistant", (FULL.text,)) == (answer.role, answer.texts)
    assert [(call.name, call.arguments) for call in FULL.calls] == [(c.name, c.arguments) for c in answer.calls]
    assert answer.calls[0].id == "toolu_mine"
    assert desk.request.opening == "hi"


def test_broken_arguments_come_back_as_they_were_sent(desk: Desk, claude: anthropic.Anthropic) -> None:
    """A client that keeps a string for arguments is not refused for what it was given."""
    desk.turn = Turn(calls=(Call("t", raw_arguments="{no"),))
    block = whole(claude).content[0].model_dump(warnings=False)
    whole(claude, messages=[USER, {"role": "assistant", "content": [block]}, USER])
    assert desk.request.messages[1].calls[0].arguments == "{no"


@pytest.mark.parametrize(("ask", "stream"), [(whole, False), (streamed, True)])
def test_the_stream_flag_and_the_model(desk: Desk, claude: anthropic.Anthropic, ask: Ask, *, stream: bool) -> None:
    """Both helpers of the SDK are told apart, and the model is the one that was asked for."""
    ask(claude)
    assert (stream, "scripted") == (desk.request.stream, desk.request.model)


def test_the_beta_path_is_the_same_format(desk: Desk, claude: anthropic.Anthropic) -> None:
    """A request of the beta client, with its query and structured output, is an ordinary one."""
    claude.beta.messages.create(**ASK, extra_body={"output_config": {"effort": "low"}})
    assert desk.request.opening == "hi"


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"tool_choice": {"type": "tool"}}, "/tool_choice/name"),
        ({"tool_choice": {"type": "must"}}, "/tool_choice/type"),
        ({"tools": [{"name": "t", "input_schema": []}]}, "/tools/0/input_schema"),
        ({"system": [{"type": "text"}]}, "/system/0/text"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "/messages/0/content/0/tool_use_id"),
        ({"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]}, "/messages/0/content/0/name"),
    ],
)
def test_what_is_wrong_is_pointed_at(more: dict[str, Any], pointer: str) -> None:
    """Errors in the format's own places carry a pointer to them."""
    with pytest.raises(WireError) as caught:
        anthropic_messages.decode_request(ASK | more)
    assert pointer == caught.value.where
