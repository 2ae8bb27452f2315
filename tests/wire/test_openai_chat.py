"""Chat Completions against the official SDK: it parses what we encode, and we decode what it sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import openai
import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, loads
from pytest_agentcontract.wire import openai_chat
from pytest_agentcontract.wire.openai_chat import words
from pytest_agentcontract.wire.request import Message, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage

if TYPE_CHECKING:
    from conftest import Desk
    from openai.types.chat import ChatCompletion

Ask: TypeAlias = Callable[..., Any]

USER: Any = {"role": "user", "content": "hi"}
ASK: Any = {"model": "scripted", "messages": [USER]}
FULL = Turn(
    "Let me see \u2198",
    "First, think.",
    (Call("touch", {"path": "a b", "deep": [1, {"\u00e9": None}]}, id="call_mine"), Call("reply", {"value": "{}"})),
    usage=Usage(17, 4),
)


def whole(client: openai.OpenAI, **more: object) -> ChatCompletion:
    """Ask for one response document."""
    return client.chat.completions.create(**ASK | more)


def streamed(client: openai.OpenAI, **more: object) -> ChatCompletion:
    """Ask for a stream with usage and let the SDK's own helper put it together."""
    with client.chat.completions.stream(**ASK | {"stream_options": {"include_usage": True}} | more) as stream:
        return stream.get_final_completion()


both_ways = pytest.mark.parametrize("ask", [whole, streamed])


# ---- answers


@both_ways
def test_a_full_turn_is_what_the_sdk_reads(desk: Desk, gpt: openai.OpenAI, ask: Ask) -> None:
    """Text, reasoning and parallel calls with their argument texts arrive, with usage and the natural label."""
    desk.turn = FULL
    completion = ask(gpt)
    message = completion.choices[0].message
    touch, reply = message.tool_calls
    assert (message.content, message.reasoning_content) == ("Let me see \u2198", "First, think.")
    assert (touch.function.name, touch.id, touch.type) == ("touch", "call_mine", "function")
    assert FULL.calls[0].arguments == loads(touch.function.arguments)
    assert (reply.function.name, reply.function.arguments) == ("reply", '{"value": "{}"}')
    assert (completion.choices[0].finish_reason, completion.model) == ("tool_calls", "scripted")
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (17, 4, 21)


@both_ways
@pytest.mark.parametrize("calls", [(), (Call("t"),)], ids=["no-calls", "calls"])
@pytest.mark.parametrize("text", [None, ""])
def test_null_and_empty_content_are_told_apart(
    desk: Desk, gpt: openai.OpenAI, ask: Ask, text: str | None, calls: tuple[Call, ...]
) -> None:
    """A turn without text has the content null; with an empty one it has an empty string."""
    desk.turn = Turn(text, calls=calls)
    message = ask(gpt).choices[0].message
    assert text == message.content
    assert len(calls) == len(message.tool_calls or ())


@pytest.mark.parametrize(("stop", "label"), words.FINISH_REASONS.items())
def test_every_stop_label_arrives(desk: Desk, gpt: openai.OpenAI, stop: Stop, label: str | None) -> None:
    """A scripted label goes out in the provider's word, whatever the turn holds, and the absent one as null."""
    desk.turn = Turn("x", calls=(Call("t"),), stop=stop)
    assert label == whole(gpt).choices[0].finish_reason
    chunks = list(gpt.chat.completions.create(**ASK, stream=True))
    assert [None, label] == [chunk.choices[0].finish_reason for chunk in (chunks[0], chunks[-1])]


@both_ways
@pytest.mark.parametrize("raw", ['{"value": "unfini', "value=1", "", "[1]"])
def test_raw_arguments_arrive_as_they_are(desk: Desk, gpt: openai.OpenAI, ask: Ask, raw: str) -> None:
    """Arguments are text on this wire, so that broken ones go out unrepaired, whole and piece by piece."""
    desk.turn = Turn(calls=(Call("t", raw_arguments=raw),))
    assert raw == ask(gpt).choices[0].message.tool_calls[0].function.arguments


def test_usage_of_a_stream_is_sent_on_demand(desk: Desk, gpt: openai.OpenAI) -> None:
    """A stream tells its usage in a last chunk without choices, and only to those who asked."""
    desk.turn = Turn("x", usage=Usage(3, 2))
    silent = list(gpt.chat.completions.create(**ASK, stream=True))
    asked = list(gpt.chat.completions.create(**ASK, stream=True, stream_options={"include_usage": True}))
    assert not any(chunk.usage for chunk in silent)
    assert [None] * len(silent) == [chunk.usage for chunk in asked[:-1]]
    last: Any = asked[-1]
    assert (last.choices, last.usage.total_tokens) == ([], 5)


@both_ways
def test_a_lone_surrogate_goes_through(desk: Desk, gpt: openai.OpenAI, ask: Ask) -> None:
    """Half a character arrives as it is in the text, and as an escape in the text of the arguments."""
    desk.turn = Turn("\u00e9\ud800\u2198", calls=(Call("t", {"value": "\ud800"}),))
    message = ask(gpt).choices[0].message
    assert message.content == "\u00e9\ud800\u2198"
    assert message.tool_calls[0].function.arguments == '{"value": "\\ud800"}'


@pytest.mark.parametrize(
    ("status", "kind", "code", "error"),
    [
        (400, "invalid_request_error", None, openai.BadRequestError),
        (401, "invalid_request_error", "invalid_api_key", openai.AuthenticationError),
        (403, "insufficient_permissions", None, openai.PermissionDeniedError),
        (404, "invalid_request_error", None, openai.NotFoundError),
        (409, "invalid_request_error", None, openai.ConflictError),
        (422, "invalid_request_error", None, openai.UnprocessableEntityError),
        (429, "requests", "rate_limit_exceeded", openai.RateLimitError),
        (500, "server_error", None, openai.InternalServerError),
        (529, "server_error", None, openai.InternalServerError),
    ],
)
def test_error_bodies_are_native(
    desk: Desk, gpt: openai.OpenAI, status: int, kind: str, code: str | None, error: type[openai.APIStatusError]
) -> None:
    """An error status raises the SDK's own exception, with the provider's type and code and our message."""
    desk.status = status
    with pytest.raises(error, match="scripted") as caught:
        whole(gpt)
    assert (kind, code) == (caught.value.type, caught.value.code)


# ---- requests


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", ["Be brief.", [{"type": "text", "text": "Be brief."}]])
def test_the_system_prompt(desk: Desk, gpt: openai.OpenAI, role: str, content: object) -> None:
    """Leading system and developer messages are the system prompt; a later one stays in its place."""
    message = {"role": role, "content": content}
    whole(gpt, messages=[message, message, USER, message])
    assert desk.request.system == "Be brief.\nBe brief."
    assert (Message("user", ("hi",)), Message("system", ("Be brief.",))) == desk.request.messages


ALLOWED = {"tools": [{"type": "function", "function": {"name": "reply"}}]}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        ({"type": "function", "function": {"name": "reply"}}, ToolChoice("tool", "reply")),
        ({"type": "custom", "custom": {"name": "shell"}}, ToolChoice("tool", "shell")),
        ({"type": "allowed_tools", "allowed_tools": ALLOWED | {"mode": "auto"}}, ToolChoice("auto")),
        ({"type": "allowed_tools", "allowed_tools": ALLOWED | {"mode": "required"}}, ToolChoice("any")),
        (openai.NOT_GIVEN, ToolChoice("auto")),
    ],
)
def test_every_tool_choice(desk: Desk, gpt: openai.OpenAI, choice: object, expected: ToolChoice) -> None:
    """How free the model is, in every form that the SDK sends."""
    whole(gpt, tool_choice=choice)
    assert expected == desk.request.tool_choice


def test_advertised_tools(desk: Desk, gpt: openai.OpenAI) -> None:
    """Functions come with their schema if they have one, custom tools with their name."""
    schema: JSONObject = {"type": "object", "properties": {"value": {}}}
    tools = [
        {"type": "function", "function": {"name": "reply", "description": "Return.", "parameters": schema}},
        {"type": "function", "function": {"name": "ping"}},
        {"type": "custom", "custom": {"name": "shell", "format": {"type": "text"}}},
    ]
    whole(gpt, tools=tools)
    assert (Tool("reply", schema, "Return."), Tool("ping"), Tool("shell")) == desk.request.tools


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("hi", ("hi",)),
        ("", ("",)),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ("a", "b")),
        ([{"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "text", "text": "b"}], ("b",)),
    ],
)
def test_user_content(desk: Desk, gpt: openai.OpenAI, content: object, texts: tuple[str, ...]) -> None:
    """A user's message is a string or an array of parts, of which the texts are kept."""
    whole(gpt, messages=[{"role": "user", "content": content}])
    assert (Message("user", texts),) == desk.request.messages


@pytest.mark.parametrize(
    ("content", "text"),
    [("done", "done"), ("", ""), ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb")],
)
def test_tool_results(desk: Desk, gpt: openai.OpenAI, content: object, text: str) -> None:
    """A tool message answers one call by its id, and this wire has no flag for an error."""
    whole(gpt, messages=[USER, {"role": "tool", "tool_call_id": "c1", "content": content}])
    assert Message("tool", results=(ToolResult("c1", text, is_error=None),)) == desk.request.messages[1]


@both_ways
@pytest.mark.parametrize("turn", [FULL, Turn(calls=(Call("t", id="c", raw_arguments="{no"),))], ids=["full", "broken"])
def test_an_answer_comes_back_as_the_calls_that_it_made(desk: Desk, gpt: openai.OpenAI, ask: Ask, turn: Turn) -> None:
    """The SDK's own message, handed back as history, decodes to what was encoded, broken arguments included."""
    desk.turn = turn
    message = ask(gpt).choices[0].message.model_dump(exclude_unset=True)
    ask(gpt, messages=[USER, message])
    answer = desk.request.messages[1]
    assert ("assistant", () if turn.text is None else (turn.text,)) == (answer.role, answer.texts)
    assert [call.arguments_text for call in turn.calls] == [call.arguments_text for call in answer.calls]
    assert turn.calls[0] == answer.calls[0]


def test_a_custom_call_keeps_its_text(desk: Desk, gpt: openai.OpenAI) -> None:
    """A call of a custom tool has free text for arguments."""
    call = {"type": "custom", "id": "c1", "custom": {"name": "shell", "input": "ls -l"}}
    whole(gpt, messages=[USER, {"role": "assistant", "content": None, "tool_calls": [call]}])
    assert (Call("shell", raw_arguments="ls -l", id="c1"),) == desk.request.messages[1].calls


def test_a_response_format_changes_nothing(desk: Desk, gpt: openai.OpenAI) -> None:
    """A request for structured output is decoded like any other and keeps its schema in the body."""
    schema: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    whole(gpt, response_format=schema)
    body: Any = desk.request.body
    assert ("hi", schema) == (desk.request.opening, body["response_format"])


@pytest.mark.parametrize(("ask", "stream"), [(whole, False), (streamed, True)])
def test_the_stream_flag_and_the_model(desk: Desk, gpt: openai.OpenAI, ask: Ask, *, stream: bool) -> None:
    """Both helpers of the SDK are told apart, and the model is the one that was asked for."""
    ask(gpt)
    assert (stream, "scripted") == (desk.request.stream, desk.request.model)


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"tool_choice": "must"}, "/tool_choice"),
        ({"tool_choice": {"type": "function"}}, "/tool_choice/function"),
        ({"tools": [{"type": "robot"}]}, "/tools/0/type"),
        ({"tools": [{"type": "function", "function": {}}]}, "/tools/0/function/name"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "/messages/0/tool_call_id"),
        ({"messages": [{"role": "assistant", "tool_calls": {}}]}, "/messages/0/tool_calls"),
        (
            {
                "messages": [
                    {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "t", "arguments": {}}}]}
                ]
            },
            "/messages/0/tool_calls/0/function/arguments",
        ),
    ],
)
def test_what_is_wrong_is_pointed_at(more: dict[str, JSON], pointer: str) -> None:
    """Errors in the format's own places carry a pointer to them."""
    with pytest.raises(WireError) as caught:
        openai_chat.decode_request(ASK | more)
    assert pointer == caught.value.where
