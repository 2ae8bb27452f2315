"""The Responses API against the official SDK: it parses what we encode, and we decode what it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import openai
import pydantic
import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps, loads
from pytest_agentcontract.wire import openai_responses
from pytest_agentcontract.wire.openai_responses import words
from pytest_agentcontract.wire.request import Message, ResponseFormat, Thinking, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.sse import Frame, frames
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage

if TYPE_CHECKING:
    from conftest import Desk
    from openai.types.responses import Response

Ask: TypeAlias = Callable[..., Any]

USER: Any = {"role": "user", "content": "hi"}
ASK: Any = {"model": "scripted", "input": [USER]}
FULL = Turn(
    "Let me see \u2198",
    "First, think.",
    (Call("touch", {"path": "a b", "deep": [1, {"\u00e9": None}]}, id="call_mine"), Call("reply", {"value": "{}"})),
    usage=Usage(17, 4, 20, 3),
    signature="sealed",
)
FUNCTION: Any = {"type": "function", "name": "touch", "parameters": {"type": "object"}, "strict": False}
CUSTOM: Any = {"type": "custom", "name": "patch"}
NAMESPACE: Any = {"type": "namespace", "name": "team", "description": "", "tools": [FUNCTION, CUSTOM]}


def whole(client: openai.OpenAI, **more: object) -> Response:
    """Ask for one response document."""
    return client.responses.create(**ASK | more)


def streamed(client: openai.OpenAI, **more: object) -> Response:
    """Ask for a stream and let the SDK's own helper put it together."""
    with client.responses.stream(**ASK | more) as stream:
        return stream.get_final_response()


def from_events(client: openai.OpenAI, **more: object) -> Response:
    """Ask for a stream and take the response of its last event."""
    *_, last = client.responses.create(**ASK | more, stream=True)
    return last.response


both_ways = pytest.mark.parametrize("ask", [whole, streamed])
every_way = pytest.mark.parametrize("ask", [whole, streamed, from_events])


# ---- answers


@every_way
def test_a_full_turn_is_what_the_sdk_reads(desk: Desk, gpt: openai.OpenAI, ask: Ask) -> None:
    """Thinking, text and parallel calls with their argument texts arrive as items, with usage and the status."""
    desk.turn = FULL
    response = ask(gpt)
    reasoning, message, touch, reply = response.output
    assert ([part.text for part in reasoning.summary], reasoning.encrypted_content) == (["First, think."], "sealed")
    assert (message.type, message.status, response.output_text) == ("message", "completed", "Let me see \u2198")
    assert (touch.type, touch.name, touch.call_id, touch.status) == ("function_call", "touch", "call_mine", "completed")
    assert FULL.calls[0].arguments == loads(touch.arguments)
    assert (reply.name, reply.arguments) == ("reply", '{"value": "{}"}')
    assert (response.status, response.model, response.incomplete_details) == ("completed", "scripted", None)
    usage = response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (40, 4, 44)
    details = usage.input_tokens_details
    assert (details.cached_tokens, details.cache_write_tokens, usage.output_tokens_details.reasoning_tokens) == (
        20,
        3,
        0,
    )


def test_every_event_is_numbered_and_typed(desk: Desk, gpt: openai.OpenAI) -> None:
    """The SDK knows each event by its type; the numbers count from 0, and the pieces add up to what `done` says."""
    desk.turn = Turn("text", "thinking", (Call("touch", {"a": 1}),), refusal="no")
    events: list[Any] = list(gpt.responses.create(**ASK, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert all(type(event).__name__ != "BaseModel" and not event.model_extra for event in events)
    assert [events[k].type for k in (0, 1, -1)] == ["response.created", "response.in_progress", "response.completed"]
    for word, key in (
        ("output_text", "text"),
        ("refusal", "refusal"),
        ("reasoning_summary_text", "text"),
        ("function_call_arguments", "arguments"),
    ):
        told = [event for event in events if event.type == f"response.{word}.done"]
        assert "".join(e.delta for e in events if e.type == f"response.{word}.delta") == getattr(told[0], key)
    kinds = [event.type.removeprefix("response.") for event in events if ".delta" not in event.type]
    assert kinds[2:-1] == [
        *("output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.done"),
        *("reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added", "output_text.done", "content_part.done"),
        *("content_part.added", "refusal.done", "content_part.done", "output_item.done"),
        *("output_item.added", "function_call_arguments.done", "output_item.done"),
    ]
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert done == events[-1].response.output


@every_way
@pytest.mark.parametrize("calls", [(), (Call("t"),)], ids=["no-calls", "calls"])
@pytest.mark.parametrize("text", [None, ""])
def test_no_text_and_an_empty_one_are_told_apart(
    desk: Desk, gpt: openai.OpenAI, ask: Ask, text: str | None, calls: tuple[Call, ...]
) -> None:
    """A turn without text has no message among its items; one with an empty text has one that says nothing."""
    desk.turn = Turn(text, calls=calls)
    kinds = [item.type for item in ask(gpt).output]
    assert kinds == ["message"] * (text is not None) + ["function_call"] * len(calls)


@pytest.mark.parametrize(("stop", "status"), words.STATUSES.items())
def test_every_stop_arrives(desk: Desk, gpt: openai.OpenAI, stop: Stop, status: words.Status) -> None:
    """A scripted end goes out as a status and a reason, in the event of that name; the absent one as null."""
    desk.turn = Turn("x", calls=(Call("t"),), stop=stop)
    *_, last = gpt.responses.create(**ASK, stream=True)
    assert last.type == ("response.incomplete" if status.reason else "response.completed")
    for response in (whole(gpt), last.response):
        assert status.word == response.status
        assert status.reason == (response.incomplete_details and response.incomplete_details.reason)


@every_way
@pytest.mark.parametrize("text", [None, "Well."])
def test_a_refusal_in_words_is_a_part_of_its_own(desk: Desk, gpt: openai.OpenAI, ask: Ask, text: str | None) -> None:
    """It stands in the message after the text, and the answer is complete."""
    desk.turn = Turn(text, refusal="I won't.")
    response = ask(gpt)
    assert [part.type for part in response.output[0].content] == ["output_text"] * (text is not None) + ["refusal"]
    assert (response.output[0].content[-1].refusal, response.status) == ("I won't.", "completed")


@every_way
@pytest.mark.parametrize("raw", ['{"value": "unfini', "value=1", "", "[1]"])
def test_raw_arguments_arrive_as_they_are(desk: Desk, gpt: openai.OpenAI, ask: Ask, raw: str) -> None:
    """Arguments are text on this wire, so that broken ones go out unrepaired, whole and piece by piece."""
    desk.turn = Turn(calls=(Call("t", raw_arguments=raw),))
    assert raw == ask(gpt).output[0].arguments


@every_way
def test_a_lone_surrogate_goes_through(desk: Desk, gpt: openai.OpenAI, ask: Ask) -> None:
    """Half a character arrives as it is in the text, and as an escape in the text of the arguments."""
    desk.turn = Turn("\u00e9\ud800\u2198", calls=(Call("t", {"value": "\ud800"}),))
    response = ask(gpt)
    assert response.output_text == "\u00e9\ud800\u2198"
    assert response.output[1].arguments == '{"value": "\\ud800"}'


@every_way
def test_a_call_into_a_namespace(desk: Desk, gpt: openai.OpenAI, ask: Ask) -> None:
    """A tool that is advertised in a namespace is called by its own name and the namespace's; others are not."""
    desk.turn = Turn(calls=(Call("team.touch"), Call("team.patch", raw_arguments="*** x"), Call("team.other")))
    touch, patch, other = ask(gpt, tools=[NAMESPACE]).output
    assert (touch.type, touch.namespace, touch.name) == ("function_call", "team", "touch")
    assert (patch.type, patch.namespace, patch.name) == ("custom_tool_call", "team", "patch")
    assert (other.namespace, other.name) == (None, "team.other")


@every_way
@pytest.mark.parametrize("call", [Call("patch", raw_arguments="*** x"), Call("patch", "*** x")])
def test_a_call_of_a_custom_tool(desk: Desk, gpt: openai.OpenAI, ask: Ask, call: Call) -> None:
    """A tool that is advertised as taking free text is called with it."""
    desk.turn = Turn(calls=(call,))
    (item,) = ask(gpt, tools=[CUSTOM]).output
    assert (item.type, item.name, item.input) == ("custom_tool_call", "patch", "*** x")


class Place(pydantic.BaseModel):
    """What a tool of the user's own takes, and what an answer must be."""

    path: str
    deep: int = 0


def test_structured_output_is_parsed(desk: Desk, gpt: openai.OpenAI) -> None:
    """The SDK reads an answer into the model that was asked for, whole and streamed; we saw its schema."""
    desk.turn = Turn('{"path": "a", "deep": 2}')
    assert gpt.responses.parse(**ASK, text_format=Place).output_parsed == Place(path="a", deep=2)
    assert desk.request.response_format.kind == "schema"
    assert desk.request.response_format.schema["properties"].keys() == {"path", "deep"}
    assert streamed(gpt, text_format=Place).output_parsed == Place(path="a", deep=2)


@both_ways
def test_tool_arguments_are_parsed(desk: Desk, gpt: openai.OpenAI, ask: Ask) -> None:
    """Arguments come as the model that describes the tool."""
    desk.turn = Turn(calls=(Call("Place", {"path": "a", "deep": 1}),))
    tools = [openai.pydantic_function_tool(Place)["function"] | {"type": "function"}]
    response = gpt.responses.parse(**ASK, tools=tools) if ask is whole else streamed(gpt, tools=tools)
    assert response.output[0].parsed_arguments in (Place(path="a", deep=1), {"path": "a", "deep": 1})


def test_the_asynchronous_client(desk: Desk, gpt: openai.OpenAI) -> None:
    """It reads the same, whole and streamed."""
    desk.turn = FULL

    async def ask() -> tuple[Any, Any]:
        async with openai.AsyncOpenAI(base_url=gpt.base_url, api_key="none", max_retries=0) as client:
            document = await client.responses.create(**ASK)
            async with client.responses.stream(**ASK) as stream:
                return document, await stream.get_final_response()

    for response in asyncio.run(ask()):
        assert response.output_text == FULL.text
        assert [item.name for item in response.output if item.type == "function_call"] == ["touch", "reply"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (529, openai.InternalServerError),
    ],
)
def test_error_bodies_are_native(
    desk: Desk, gpt: openai.OpenAI, status: int, error: type[openai.APIStatusError]
) -> None:
    """An error status raises the SDK's own exception, with our message."""
    desk.status = status
    with pytest.raises(error, match="scripted") as caught:
        whole(gpt)
    assert caught.value.type


def test_an_error_in_a_stream_is_numbered() -> None:
    """It bears the number of its place, and the body of an error response."""
    (frame,) = frames([openai_responses.encode_failure(429, "slow down", 7).data])
    value: Any = loads(frame.data)
    assert (frame.name, value["type"], value["sequence_number"]) == ("error", "error", 7)
    assert value["error"]["code"] == "rate_limit_exceeded"


def test_the_side_endpoints() -> None:
    """Tokens are counted, and the models are those of all of OpenAI's formats."""
    counted: Any = openai_responses.side_answer("POST", "/v1/responses/input_tokens", b"x" * 400)
    assert counted == {"object": "response.input_tokens", "input_tokens": 101}
    models: Any = openai_responses.side_answer("GET", "/v1/models", b"")
    assert models["object"] == "list"
    assert openai_responses.side_answer("POST", "/v1/models", b"") is None


# ---- requests


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", ["Be brief.", [{"type": "input_text", "text": "Be brief."}]])
def test_the_system_prompt(desk: Desk, gpt: openai.OpenAI, role: str, content: object) -> None:
    """Instructions and leading system messages are the system prompt; a later one stays in its place."""
    message = {"role": role, "content": content}
    whole(gpt, instructions="You help.", input=[message, USER, message])
    assert desk.request.system == "You help.\nBe brief."
    assert (Message("user", ("hi",)), Message("system", ("Be brief.",))) == desk.request.messages


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("any")),
        ({"type": "function", "name": "reply"}, ToolChoice("tool", "reply")),
        ({"type": "custom", "name": "shell"}, ToolChoice("tool", "shell")),
        ({"type": "file_search"}, ToolChoice("tool", "file_search")),
        ({"type": "allowed_tools", "mode": "auto", "tools": [FUNCTION]}, ToolChoice("auto")),
        ({"type": "allowed_tools", "mode": "required", "tools": [FUNCTION]}, ToolChoice("any")),
        (openai.NOT_GIVEN, ToolChoice("auto")),
    ],
)
def test_every_tool_choice(desk: Desk, gpt: openai.OpenAI, choice: object, expected: ToolChoice) -> None:
    """How free the model is, in every form that the SDK sends."""
    whole(gpt, tool_choice=choice)
    assert expected == desk.request.tool_choice


def test_advertised_tools(desk: Desk, gpt: openai.OpenAI) -> None:
    """Functions, free text tools and those of a namespace are ours; the provider's own are not."""
    schema: JSONObject = {"type": "object", "properties": {"value": {}}}
    tools = [
        {"type": "function", "name": "reply", "description": "Return.", "parameters": schema, "strict": True},
        {"type": "custom", "name": "shell", "description": "Run.", "format": {"type": "text"}},
        {"type": "web_search"},
        NAMESPACE,
    ]
    whole(gpt, tools=tools)
    assert desk.request.tools == (
        Tool("reply", schema, "Return."),
        Tool("shell", description="Run."),
        Tool("team.touch", {"type": "object"}, namespace="team"),
        Tool("team.patch", namespace="team"),
    )


@pytest.mark.parametrize("kind", ["additional_tools", "tool_search_output"])
def test_tools_that_come_along_the_way(kind: str) -> None:
    """Tools may stand in the input; they are advertised like all others, and say nothing."""
    body = ASK | {"input": [USER, {"type": kind, "tools": [NAMESPACE]}]}
    request = openai_responses.decode_request(body)
    assert request.tool_names == {"team.touch", "team.patch"}
    assert request.messages == (Message("user", ("hi",)),)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("hi", ("hi",)),
        ("", ("",)),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], ("a", "b")),
        ([{"type": "input_image", "image_url": "data:,"}, {"type": "input_text", "text": "b"}], ("b",)),
    ],
)
def test_user_content(desk: Desk, gpt: openai.OpenAI, content: object, texts: tuple[str, ...]) -> None:
    """A user's message is a string or an array of parts, of which the texts are kept."""
    whole(gpt, input=[{"role": "user", "content": content}])
    assert (Message("user", texts),) == desk.request.messages


def test_an_input_of_one_string(desk: Desk, gpt: openai.OpenAI) -> None:
    """It is what the user says."""
    whole(gpt, input="hi")
    assert (desk.request.messages, desk.request.opening) == ((Message("user", ("hi",)),), "hi")


@pytest.mark.parametrize("kind", ["function_call_output", "custom_tool_call_output"])
@pytest.mark.parametrize(
    ("output", "text"),
    [("done", "done"), ("", ""), ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb")],
)
def test_tool_results(desk: Desk, gpt: openai.OpenAI, kind: str, output: object, text: str) -> None:
    """The outputs of a batch are one message; each answers one call by its id, and none has a flag for an error."""
    whole(gpt, input=[USER, *({"type": kind, "call_id": name, "output": output} for name in ("c1", "c2"))])
    results = tuple(ToolResult(name, text, is_error=None) for name in ("c1", "c2"))
    assert Message("tool", results=results) == desk.request.messages[1]


@every_way
@pytest.mark.parametrize("turn", [FULL, Turn(calls=(Call("t", id="c", raw_arguments="{no"),))], ids=["full", "broken"])
def test_an_answer_comes_back_as_one_message(desk: Desk, gpt: openai.OpenAI, ask: Ask, turn: Turn) -> None:
    """The SDK's own items, handed back as history, are the one message that they were, signature included."""
    desk.turn = turn
    items = [item.model_dump(exclude_unset=True) for item in ask(gpt).output]
    outputs = [{"type": "function_call_output", "call_id": "c", "output": "x"}]
    whole(gpt, input=[USER, *items, *outputs, *items])
    _, answer, results, again = desk.request.messages
    assert (answer, results.role) == (again, "tool")
    assert ("assistant", () if turn.text is None else (turn.text,)) == (answer.role, answer.texts)
    assert [call.arguments_text for call in turn.calls] == [call.arguments_text for call in answer.calls]
    assert turn.calls[0] == answer.calls[0]
    assert answer.thinking == (() if turn.thinking is None else (Thinking(turn.thinking, turn.signature),))


def test_calls_in_namespaces_and_with_free_text(desk: Desk, gpt: openai.OpenAI) -> None:
    """A call that comes back has its neutral name."""
    desk.turn = Turn(calls=(Call("team.touch", {"a": 1}, id="c1"), Call("team.patch", raw_arguments="ls -l", id="c2")))
    items = [item.model_dump(exclude_unset=True) for item in whole(gpt, tools=[NAMESPACE]).output]
    whole(gpt, tools=[NAMESPACE], input=[USER, *items])
    assert desk.turn.calls == desk.request.messages[1].calls


def test_what_is_nobodys_message(desk: Desk, gpt: openai.OpenAI) -> None:
    """References and the items of the provider's own tools are passed over."""
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    whole(gpt, input=[USER, {"type": "item_reference", "id": "msg_1"}, {"id": "msg_2"}, search])
    assert (Message("user", ("hi",)),) == desk.request.messages


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"type": "text"}, ResponseFormat()),
        ({"type": "json_object"}, ResponseFormat("json")),
        (
            {"type": "json_schema", "name": "x", "schema": {"type": "object"}},
            ResponseFormat("schema", {"type": "object"}),
        ),
    ],
)
def test_response_formats(desk: Desk, gpt: openai.OpenAI, form: object, expected: ResponseFormat) -> None:
    """What the text must be is read; the rest of the request is decoded like any other."""
    whole(gpt, text={"format": form, "verbosity": "low"})
    assert (expected, "hi") == (desk.request.response_format, desk.request.opening)


@pytest.mark.parametrize(("ask", "stream"), [(whole, False), (streamed, True)])
def test_the_stream_flag_and_the_model(desk: Desk, gpt: openai.OpenAI, ask: Ask, *, stream: bool) -> None:
    """Both helpers of the SDK are told apart, and the model is the one that was asked for."""
    ask(gpt)
    assert (stream, "scripted") == (desk.request.stream, desk.request.model)


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"tool_choice": "must"}, "/tool_choice"),
        ({"tool_choice": {"type": "function"}}, "/tool_choice/name"),
        ({"tools": [{}]}, "/tools/0/type"),
        ({"tools": [{"type": "function"}]}, "/tools/0/name"),
        ({"tools": [{"type": "namespace", "name": "n"}]}, "/tools/0/tools"),
        ({"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "custom"}]}]}, "/tools/0/tools/0/name"),
        ({"instructions": ["x"]}, "/instructions"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "/input/0/call_id"),
        ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "/input/0/output"),
        ({"input": [{"type": "function_call", "call_id": "c", "name": "t", "arguments": {}}]}, "/input/0/arguments"),
        ({"input": [{"type": "custom_tool_call", "call_id": "c", "name": "t"}]}, "/input/0/input"),
        ({"input": [{"type": "reasoning", "summary": "x"}]}, "/input/0/summary"),
    ],
)
def test_what_is_wrong_is_pointed_at(more: dict[str, JSON], pointer: str) -> None:
    """Errors in the format's own places carry a pointer to them."""
    with pytest.raises(WireError) as caught:
        openai_responses.decode_request(ASK | more)
    assert pointer == caught.value.where


# ---- answers, read back


def spoiled(event: str, where: tuple[str | int, ...], value: JSON) -> list[Frame]:
    """Stream a turn, and write another value into the last event of this type."""
    turn = Turn("text", "thinking", (Call("touch", {"a": 1}, id="c"),), refusal="no")
    request = openai_responses.decode_request(ASK)
    told = list(frames(sent.data for sent in openai_responses.encode_stream(turn, request, 1)))
    at = max(k for k, frame in enumerate(told) if frame.name == f"response.{event}")
    document: Any = loads(told[at].data)
    place = document
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    told[at] = Frame(told[at].name, dumps(document))
    return told


@pytest.mark.parametrize(
    ("event", "where", "pointer"),
    [
        ("output_text.done", ("text",), "/text"),
        ("refusal.done", ("refusal",), "/refusal"),
        ("reasoning_summary_text.done", ("text",), "/text"),
        ("reasoning_summary_part.done", ("part", "text"), "/part/text"),
        ("function_call_arguments.done", ("arguments",), "/arguments"),
        ("content_part.done", ("part", "refusal"), "/part/refusal"),
        ("output_item.done", ("item", "arguments"), "/item"),
        ("output_item.done", ("item", "name"), "/item"),
        ("output_item.done", ("item", "call_id"), "/item"),
        ("completed", ("response", "output", 0, "summary", 0, "text"), "/response/output/0"),
        ("completed", ("response", "output", 2, "arguments"), "/response/output/2"),
        ("function_call_arguments.delta", ("delta",), "/arguments"),
    ],
)
def test_what_is_told_twice_must_agree(event: str, where: tuple[str | int, ...], pointer: str) -> None:
    """A `done` event that contradicts its deltas, or a response that contradicts its items, is an error."""
    with pytest.raises(WireError) as caught:
        openai_responses.decode_stream(spoiled(event, where, "other"))
    assert pointer == caught.value.where


@pytest.mark.parametrize(
    ("event", "where", "value", "message"),
    [
        ("completed", ("response", "output"), [], "holds 0 items, and 3 came"),
        ("completed", ("response", "status"), "queued", "'queued' is none of completed, incomplete"),
        ("completed", ("response", "error"), {"code": "server_error", "message": "went away"}, "reported: went away"),
        ("output_text.delta", ("output_index",), 9, "item 9 grows, but was never started"),
        ("output_text.delta", ("content_index",), 9, "output_text 9 grows, but was never started"),
    ],
)
def test_what_can_be_no_answer(event: str, where: tuple[str | int, ...], value: JSON, message: str) -> None:
    """A stream that is wrong in itself is an error, too."""
    with pytest.raises(WireError, match=message):
        openai_responses.decode_stream(spoiled(event, where, value))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "error", "code": "server_error", "message": "went away", "sequence_number": 3},
        {"type": "error", "error": {"message": "went away"}, "sequence_number": 3},
        {"type": "response.failed", "response": {"status": "failed", "error": {"message": "went away"}}},
    ],
)
def test_a_reported_error_is_raised(value: JSONObject) -> None:
    """As the documents have it, as the service sends it, and as the end of a failed response."""
    with pytest.raises(WireError, match="the provider reported: went away"):
        openai_responses.decode_stream([Frame(str(value["type"]), dumps(value))])


def test_a_failed_document_is_raised() -> None:
    """A whole answer may report an error as well."""
    body: JSON = {"status": "failed", "error": {"code": "server_error", "message": "went away"}, "output": []}
    with pytest.raises(WireError, match="the provider reported: went away"):
        openai_responses.decode_whole(body)


def test_a_stream_without_its_end_is_read_as_far_as_it_goes() -> None:
    """What has come is there, and nothing says why it ended."""
    told = spoiled("completed", ("type",), "unheard.of")
    turn = openai_responses.decode_stream(told[:-1])
    assert (turn.text, turn.refusal, turn.stop, turn.usage) == ("text", "no", "absent", Usage())
    assert openai_responses.decode_stream(told).stop == "absent"


def test_namespaces_and_free_text_are_read_back() -> None:
    """Calls have their neutral names; what the model itself thinks aloud is thinking."""
    calls = (Call("team.touch", {"a": 1}, id="c1"), Call("team.patch", raw_arguments='"x"', id="c2"))
    request = openai_responses.decode_request(ASK | {"tools": [NAMESPACE]})
    events = openai_responses.encode_stream(Turn(calls=calls), request, 1)
    assert openai_responses.decode_stream(frames(event.data for event in events)).calls == calls
    thinking: JSON = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    assert openai_responses.decode_whole({"status": "completed", "output": [thinking]}).thinking == "hm"
