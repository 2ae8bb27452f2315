"""Gemini generateContent against the official SDK: it parses what we encode, and we decode what it sends."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from google import genai
from google.genai import errors, types

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.wire import gemini_generate
from pytest_agentcontract.wire.gemini_generate import words
from pytest_agentcontract.wire.request import Message, ResponseFormat, Thinking, Tool, ToolChoice, ToolResult
from pytest_agentcontract.wire.sse import Frame
from pytest_agentcontract.wire.turn import SIGNATURE, Call, Stop, Turn, Usage

if TYPE_CHECKING:
    from conftest import Desk

Ask: TypeAlias = Callable[..., list[types.GenerateContentResponse]]

TARGET = "/v1beta/models/scripted:generateContent"
ASK: Any = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
FULL = Turn(
    "Let me see \u2198",
    "First, think.",
    (Call("touch", {"path": "a b", "deep": [1, {"\u00e9": None}]}, id="call_mine"), Call("reply", {"value": "{}"})),
    usage=Usage(17, 4, 3, 2),
)
OFF: Any = {"automatic_function_calling": {"disable": True}}


@pytest.fixture(scope="module")
def gemini(url: str) -> Iterator[genai.Client]:
    """Point the official client at the desk; it asks once."""
    options = types.HttpOptions(base_url=url, retry_options=types.HttpRetryOptions(attempts=1))
    with genai.Client(api_key="none", http_options=options) as client:
        yield client


def whole(client: genai.Client, contents: object = "hi", **config: object) -> list[types.GenerateContentResponse]:
    """Ask for one response document."""
    asked: Any = {"model": "scripted", "contents": contents, "config": OFF | config}
    return [client.models.generate_content(**asked)]


def streamed(client: genai.Client, contents: object = "hi", **config: object) -> list[types.GenerateContentResponse]:
    """Ask for a stream, and take all its chunks."""
    asked: Any = {"model": "scripted", "contents": contents, "config": OFF | config}
    return list(client.models.generate_content_stream(**asked))


def later(client: genai.Client, contents: object = "hi", **config: object) -> list[types.GenerateContentResponse]:
    """Ask for a stream with the asynchronous client."""
    asked: Any = {"model": "scripted", "contents": contents, "config": OFF | config}

    async def chunks() -> list[types.GenerateContentResponse]:
        stream = await client.aio.models.generate_content_stream(**asked)
        return [chunk async for chunk in stream]

    return asyncio.run(chunks())


all_ways = pytest.mark.parametrize("ask", [whole, streamed, later])
both_ways = pytest.mark.parametrize("ask", [whole, streamed])


def parts(responses: list[types.GenerateContentResponse]) -> list[types.Part]:
    """Return the parts of an answer, in order."""
    contents: list[Any] = [response.candidates[0].content for response in responses if response.candidates]
    return [part for content in contents for part in content.parts or []]


def said(responses: list[types.GenerateContentResponse], *, thought: bool = False) -> str | None:
    """Return the text of an answer, or its thinking; None where no part holds any."""
    texts = [part.text for part in parts(responses) if part.text is not None and bool(part.thought) is thought]
    return "".join(texts) if texts else None


def calls(responses: list[types.GenerateContentResponse]) -> list[types.FunctionCall]:
    """Return the calls of an answer."""
    return [call for response in responses for call in response.function_calls or []]


def finish(responses: list[types.GenerateContentResponse]) -> str | None:
    """Return the label of an answer's end."""
    last: Any = responses[-1]
    reason = last.candidates[0].finish_reason
    return None if reason is None else reason.value


# ---- answers


@all_ways
def test_a_full_turn_is_what_the_sdk_reads(desk: Desk, gemini: genai.Client, ask: Ask) -> None:
    """Text, thinking and parallel calls arrive, with usage, the label, and the signature on the first call."""
    desk.turn = FULL
    answer = ask(gemini)
    assert (said(answer), said(answer, thought=True)) == ("Let me see \u2198", "First, think.")
    assert [(call.id, call.name, call.args) for call in calls(answer)] == [
        ("call_mine", "touch", {"path": "a b", "deep": [1, {"\u00e9": None}]}),
        ("call_00000001_1", "reply", {"value": "{}"}),
    ]
    signed = [part.function_call for part in parts(answer) if part.thought_signature]
    assert [call.name for call in signed if call] == ["touch"]
    assert [part.thought_signature for part in parts(answer) if part.thought_signature] == [base64.b64decode(SIGNATURE)]
    assert (finish(answer), answer[-1].model_version, answer[-1].response_id) == (
        "STOP",
        "scripted",
        "response-00000001",
    )
    usage: Any = answer[-1].usage_metadata
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (22, 3)
    assert (usage.candidates_token_count, usage.total_token_count) == (4, 26)


@both_ways
@pytest.mark.parametrize("thinking", [None, "", "hm"])
@pytest.mark.parametrize("text", [None, "", "x"])
def test_nothing_and_empty_text_are_told_apart(
    desk: Desk, gemini: genai.Client, ask: Ask, text: str | None, thinking: str | None
) -> None:
    """An answer without text has no part for it; its thinking is told apart, and signed once."""
    desk.turn = Turn(text, thinking)
    answer = ask(gemini)
    assert (text, thinking) == (said(answer), said(answer, thought=True))
    assert sum(part.thought_signature is not None for part in parts(answer)) == (thinking is not None)


def test_a_stream_tells_usage_and_the_end_in_its_last_chunk(desk: Desk, gemini: genai.Client) -> None:
    """All other chunks are pieces of the answer."""
    desk.turn = Turn("abc", calls=(Call("t"),))
    *before, last = streamed(gemini)
    assert [[part.text or part.function_call for part in parts([chunk])] for chunk in before] == [
        ["a"],
        ["b"],
        ["c"],
        [types.FunctionCall(id="call_00000001_0", name="t", args={})],
    ]
    assert not any(chunk.usage_metadata or finish([chunk]) for chunk in before)
    assert (finish([last]), bool(last.usage_metadata)) == ("STOP", True)


def test_a_call_is_one_delta() -> None:
    """What opens or ends a stream beside the pieces is none."""
    request = gemini_generate.decode_request(ASK, TARGET)
    turn = Turn("", "", (Call("t", {"long": "x" * 99}), Call("u")))
    assert [event.delta for event in gemini_generate.encode_stream(turn, request, 1)] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_a_stream_escapes_what_google_does(desk: Desk, gemini: genai.Client) -> None:
    """No line separator stands in a stream as it is: the real one has none, and line readers differ on it."""
    text = "a\u2028b\u2029c<d>\u200b\ufeffé😀"
    request = gemini_generate.decode_request(ASK, TARGET)
    first, *_ = gemini_generate.encode_stream(Turn(text, deltas=1), request, 1)
    assert b'"a\\u2028b\\u2029c\\u003cd\\u003e\\u200b\\ufeff' + "é😀".encode() in first.data
    desk.turn = Turn(text)
    assert said(streamed(gemini)) == text


def test_a_chat_of_the_sdk_keeps_a_streamed_answer(desk: Desk, gemini: genai.Client) -> None:
    """Its history holds valid answers alone: no chunk lacks a part. It comes back as one message."""
    desk.turn = FULL
    chat = gemini.chats.create(model="scripted", config=OFF)
    list(chat.send_message_stream("hi"))
    desk.turn = Turn("ok")
    reply = types.Part.from_function_response(name="touch", response={"output": "done"})
    list(chat.send_message_stream(reply))
    user, answer, result = desk.request.messages
    assert (user.texts, answer.texts, answer.thinking) == (
        ("hi",),
        (FULL.text,),
        (Thinking("First, think.", SIGNATURE),),
    )
    assert [(call.name, call.arguments) for call in answer.calls] == [
        (call.name, call.arguments) for call in FULL.calls
    ]
    assert result.results == (ToolResult("call_mine", "done"),)


@both_ways
@pytest.mark.parametrize(("stop", "label"), words.FINISH_REASONS.items())
def test_every_stop_label_arrives(desk: Desk, gemini: genai.Client, ask: Ask, stop: Stop, label: str | None) -> None:
    """A scripted label goes out in the provider's word, whatever the turn holds, and the absent one not at all."""
    desk.turn = Turn("x", calls=(Call("t"),), stop=stop)
    assert label == finish(ask(gemini))


@both_ways
@pytest.mark.parametrize("raw", ['{"value": "unfini', "value=1", "", "[1]", "null"])
@pytest.mark.parametrize(
    ("stop", "label"), [(None, "MALFORMED_FUNCTION_CALL"), ("end", "MALFORMED_FUNCTION_CALL"), ("length", "MAX_TOKENS")]
)
def test_broken_arguments_are_no_call(
    desk: Desk, gemini: genai.Client, ask: Ask, raw: str, stop: Stop | None, label: str
) -> None:
    """Where one call's arguments are no object none goes out, as the API does it; another label stands."""
    desk.turn = Turn("x", calls=(Call("fine"), Call("t", raw_arguments=raw)), stop=stop)
    answer = ask(gemini)
    assert (calls(answer), said(answer), finish(answer)) == ([], "x", label)


def test_a_malformed_call_is_told_in_words() -> None:
    """The label has a message beside it, which the SDK leaves out."""
    turn = Turn(calls=(Call("t", raw_arguments="{no"),))
    body: Any = gemini_generate.encode_whole(turn, gemini_generate.decode_request(ASK, TARGET), 1)
    assert body["candidates"][0]["finishMessage"] == "Malformed function call: t({no)"


@both_ways
def test_raw_arguments_that_are_an_object_arrive(desk: Desk, gemini: genai.Client, ask: Ask) -> None:
    """They are what they spell."""
    desk.turn = Turn(calls=(Call("t", raw_arguments=' {"a":1}'),))
    assert [call.args for call in calls(ask(gemini))] == [{"a": 1}]


@both_ways
def test_a_refusal_is_text_under_its_label(desk: Desk, gemini: genai.Client, ask: Ask) -> None:
    """The words of a refusal have no place of their own here."""
    desk.turn = Turn("Hm. ", refusal="No.")
    answer = ask(gemini)
    assert (said(answer), finish(answer)) == ("Hm. No.", "SAFETY")


@both_ways
def test_a_lone_surrogate_goes_through(desk: Desk, gemini: genai.Client, ask: Ask) -> None:
    """Half a character is written as an escape."""
    desk.turn = Turn("\u00e9\u2198", calls=(Call("t", {"value": "\ud800"}),))
    answer = ask(gemini)
    assert (said(answer), [call.args for call in calls(answer)]) == ("\u00e9\u2198", [{"value": "\ud800"}])


@all_ways
@pytest.mark.parametrize(
    ("status", "name", "error"),
    [
        (400, "INVALID_ARGUMENT", errors.ClientError),
        (401, "UNAUTHENTICATED", errors.ClientError),
        (403, "PERMISSION_DENIED", errors.ClientError),
        (404, "NOT_FOUND", errors.ClientError),
        (409, "ABORTED", errors.ClientError),
        (413, "INVALID_ARGUMENT", errors.ClientError),
        (429, "RESOURCE_EXHAUSTED", errors.ClientError),
        (500, "INTERNAL", errors.ServerError),
        (503, "UNAVAILABLE", errors.ServerError),
        (529, "INTERNAL", errors.ServerError),
    ],
)
def test_error_bodies_are_native(
    desk: Desk, gemini: genai.Client, ask: Ask, status: int, name: str, error: type[errors.APIError]
) -> None:
    """An error status raises the SDK's own exception, with the provider's name for it and our message."""
    desk.status = status
    with pytest.raises(error) as caught:
        ask(gemini)
    assert (caught.value.code, caught.value.status, caught.value.message) == (status, name, "scripted")


def test_structured_output_is_parsed(desk: Desk, gemini: genai.Client) -> None:
    """The SDK reads the text by the schema that it sent, in either way of sending one."""
    desk.turn = Turn('{"a": 1}')
    schema: JSONObject = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    for key in ("response_schema", "response_json_schema"):
        (answer,) = whole(gemini, response_mime_type="application/json", **{key: schema})
        assert answer.parsed == {"a": 1}
        assert desk.request.response_format == ResponseFormat("schema", schema)


def test_automatic_calling_runs_to_the_end(desk: Desk, gemini: genai.Client) -> None:
    """The SDK carries a call out itself and asks again, until the answer has none."""

    def touch(path: str) -> str:
        """Touch a file."""
        desk.turn = Turn("Done.")
        return f"touched {path}"

    desk.turn = Turn(calls=(Call("touch", {"path": "a"}),))
    answer = gemini.models.generate_content(model="scripted", contents="hi", config={"tools": [touch]})
    assert answer.text == "Done."
    assert desk.request.messages[-1].results == (ToolResult("call_00000001_0", "touched a"),)
    assert [tool.name for tool in desk.request.tools] == ["touch"]
    assert desk.request.tools[0].schema["type"] == "object"


# ---- requests


def test_the_system_prompt(desk: Desk, gemini: genai.Client) -> None:
    """It stands apart from the conversation, as parts."""
    whole(gemini, system_instruction=["Be brief.", "Be kind."])
    assert desk.request.system == "Be brief.\nBe kind."
    assert desk.request.messages == (Message("user", ("hi",)),)


@pytest.mark.parametrize(
    ("mode", "allowed", "expected"),
    [
        ("AUTO", None, ToolChoice("auto")),
        ("VALIDATED", ["reply"], ToolChoice("auto")),
        ("NONE", None, ToolChoice("none")),
        ("ANY", None, ToolChoice("any")),
        ("ANY", ["reply", "touch"], ToolChoice("any")),
        ("ANY", ["reply"], ToolChoice("tool", "reply")),
    ],
)
def test_every_tool_choice(
    desk: Desk, gemini: genai.Client, mode: str, allowed: list[str] | None, expected: ToolChoice
) -> None:
    """How free the model is, in every form that the SDK sends."""
    config = {"mode": mode, "allowed_function_names": allowed}
    whole(gemini, tool_config={"function_calling_config": config})
    assert expected == desk.request.tool_choice


def test_advertised_tools(desk: Desk, gemini: genai.Client) -> None:
    """Functions come with their schema, in either form; the API's own tools are none of ours."""
    schema: JSONObject = {"type": "object", "properties": {"type": {"type": "string"}}}
    declared = [
        {"name": "reply", "description": "Return.", "parameters_json_schema": schema},
        {"name": "touch", "parameters": {"type": "OBJECT", "properties": {"type": {"type": "STRING"}}}},
        {"name": "ping"},
    ]
    whole(gemini, tools=[{"function_declarations": declared}, {"google_search": {}}])
    assert (Tool("reply", schema, "Return."), Tool("touch", schema), Tool("ping")) == desk.request.tools


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"output": "done"}, "done"),
        ({"result": "done"}, "done"),
        ({"error": "bad"}, "bad"),
        ({"error": {"code": 1}}, '{"error": {"code": 1}}'),
        ({"output": 1}, '{"output": 1}'),
        ({"output": "a", "more": "b"}, '{"output": "a", "more": "b"}'),
        ({"other": "done"}, '{"other": "done"}'),
        ({}, "{}"),
    ],
)
def test_tool_results(desk: Desk, gemini: genai.Client, response: JSONObject, text: str) -> None:
    """A lone string under a documented name is the text; anything else is told as JSON. `error` is the flag."""
    whole(gemini, [{"parts": [{"function_response": {"name": "t", "id": "c1", "response": response}}]}])
    failed = True if "error" in response else None
    assert desk.request.messages[0].results == (ToolResult("c1", text, failed),)


def test_calls_without_ids_are_paired_by_name_and_order() -> None:
    """A call is known by its place; the results of two calls of one name answer them in order."""
    made = [{"functionCall": {"name": name}} for name in ("t", "u", "t")]
    given = [{"functionResponse": {"name": name, "response": {"output": name}}} for name in ("t", "t", "u", "v")]
    again: JSON = [{"role": "model", "parts": made}, {"role": "function", "parts": given}]
    first, second, third, fourth = gemini_generate.decode_request({"contents": again * 2}, TARGET).messages
    assert [call.id for call in first.calls + third.calls] == [f"call-{n}" for n in range(1, 7)]
    assert [(result.call_id, result.text) for result in second.results] == [
        ("call-1", "t"),
        ("call-3", "t"),
        ("call-2", "u"),
        ("v", "v"),
    ]
    assert [result.call_id for result in fourth.results] == ["call-4", "call-6", "call-5", "v"]
    assert (second.role, third.role) == ("tool", "assistant")


@both_ways
def test_an_answer_comes_back_as_what_it_was(desk: Desk, gemini: genai.Client, ask: Ask) -> None:
    """The SDK's own contents, handed back as history, decode to what was encoded, the signature included."""
    desk.turn = FULL
    history: list[Any] = [answer.candidates[0].content for answer in ask(gemini) if answer.candidates]
    ask(gemini, ["hi", *history])
    answer = desk.request.messages[1]
    assert answer.texts == (FULL.text,)
    assert answer.thinking == (Thinking("First, think.", SIGNATURE),)
    assert [(call.id, call.arguments) for call in answer.calls] == [
        ("call_mine", FULL.calls[0].arguments),
        ("call_00000001_1", {"value": "{}"}),
    ]


@pytest.mark.parametrize(("ask", "stream"), [(whole, False), (streamed, True), (later, True)])
def test_the_target_names_the_model_and_the_stream(desk: Desk, gemini: genai.Client, ask: Ask, *, stream: bool) -> None:
    """The SDK puts both in the path."""
    ask(gemini)
    assert (stream, "scripted") == (desk.request.stream, desk.request.model)


@pytest.mark.parametrize(
    ("target", "model", "stream"),
    [
        ("/v1beta/models/m-1.5:generateContent", "m-1.5", False),
        ("/v1/models/m:generateContent?key=k&alt=json", "m", False),
        ("/models/m:streamGenerateContent?alt=sse", "m", True),
        ("/v1alpha/models/m:streamGenerateContent?%24alt=sse", "m", True),
        ("/v1beta/tunedModels/my%20own:generateContent", "tunedModels/my own", False),
    ],
)
def test_every_form_of_a_target(target: str, model: str, *, stream: bool) -> None:
    """With each version and without one, tuned models, and both spellings of `alt`."""
    assert gemini_generate.owns("POST", target.partition("?")[0])
    request = gemini_generate.decode_request(ASK, target)
    assert (model, stream) == (request.model, request.stream)


@pytest.mark.parametrize(
    ("target", "remedy"),
    [
        ("/models/m:streamGenerateContent", r"\?alt=sse"),
        ("/models/m:streamGenerateContent?alt=json", r"\?alt=sse"),
        ("/models/m:embedContent", "names no model and method"),
        ("", "names no model and method"),
    ],
)
def test_a_target_that_is_not_served(target: str, remedy: str) -> None:
    """A stream that is one JSON array is refused, with what to do."""
    with pytest.raises(WireError, match=remedy):
        gemini_generate.decode_request(ASK, target)


def test_underscores_and_lone_objects_are_read_too() -> None:
    """The API takes the names of its fields in both spellings, and an object for an array of one."""
    body: JSON = {
        "system_instruction": {"parts": {"text": "Be brief."}},
        "contents": {"parts": {"text": "hi"}},
        "tools": {"function_declarations": {"name": "t", "parameters_json_schema": {"type": "object"}}},
        "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["t"]}},
        "generation_config": {"response_mime_type": "application/json"},
    }
    request = gemini_generate.decode_request(body, TARGET)
    assert (request.system, request.messages) == ("Be brief.", (Message("user", ("hi",)),))
    assert (request.tools, request.tool_choice) == ((Tool("t", {"type": "object"}),), ToolChoice("tool", "t"))
    assert request.response_format == ResponseFormat("json")


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"toolConfig": {"functionCallingConfig": {"mode": "MUST"}}}, "/toolConfig/functionCallingConfig/mode"),
        ({"tools": [{"functionDeclarations": [{}]}]}, "/tools/0/functionDeclarations/0/name"),
        ({"contents": [{"parts": [{"functionCall": {}}]}]}, "/contents/0/parts/0/functionCall/name"),
        (
            {"contents": [{"parts": [{"functionCall": {"name": "t", "args": "{}"}}]}]},
            "/contents/0/parts/0/functionCall/args",
        ),
        (
            {"contents": [{"parts": [{"functionResponse": {"name": "t", "response": "x"}}]}]},
            "/contents/0/parts/0/functionResponse/response",
        ),
        ({"contents": [{"parts": [{"text": "x", "thought": 1}]}]}, "/contents/0/parts/0/thought"),
    ],
)
def test_what_is_wrong_is_pointed_at(more: dict[str, JSON], pointer: str) -> None:
    """Errors in the format's own places carry a pointer to them."""
    with pytest.raises(WireError) as caught:
        gemini_generate.decode_request(ASK | more, TARGET)
    assert pointer == caught.value.where


# ---- what is asked beside


def test_what_clients_ask_beside_model_requests() -> None:
    """Token counts, the list of models and one model, under each version; nothing else."""
    beside = gemini_generate.side_answer
    assert beside("POST", "/v1beta/models/m:countTokens", b"x" * 40) == {"totalTokens": 11}
    listed: Any = beside("GET", "/v1beta/models", b"")
    assert [model["name"] for model in listed["models"]] == ["models/scripted"]
    one: Any = beside("GET", "/models/m", b"")
    assert one["name"] == "models/m"
    for method, path in (
        ("GET", "/models/m:countTokens"),
        ("POST", "/models"),
        ("POST", "/models/m"),
        ("GET", "/v2/models"),
    ):
        assert beside(method, path, b"") is None


# ---- reading


@pytest.mark.parametrize(
    ("body", "turn"),
    [
        (
            {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "No."}},
            Turn(refusal="No.", stop="refusal", usage=Usage()),
        ),
        ({"promptFeedback": {"blockReason": "OTHER"}}, Turn(refusal="", stop="refusal", usage=Usage())),
        (
            {
                "candidates": [{"content": {"parts": [{"text": "x", "thoughtSignature": "c2ln"}]}}],
                "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 3},
            },
            Turn("x", stop="absent", usage=Usage(5, 5), signature="c2ln"),
        ),
        ({"candidates": [{"finishReason": "RECITATION"}]}, Turn(stop="refusal", usage=Usage())),
    ],
)
def test_answers_of_others_are_read(body: JSON, turn: Turn) -> None:
    """What we never send and providers do, whole and as a chunk."""
    assert gemini_generate.decode_whole(body) == turn
    assert gemini_generate.decode_stream([Frame("", json.dumps(body))]) == turn


def test_a_failure_inside_a_stream_is_the_sdks_own_error(desk: Desk, gemini: genai.Client) -> None:
    """It comes as a chunk of its own, after what was said."""
    failing = desk.answer

    def failed(target: str, body: bytes) -> tuple[int, str, bytes]:
        status, kind, answer = failing(target, body)
        return status, kind, answer.split(b"\n\n")[0] + b"\n\n" + gemini_generate.encode_failure(503, "busy", 1).data

    desk.answer = failed  # type: ignore[method-assign]
    with pytest.raises(errors.ServerError, match="busy") as caught:
        streamed(gemini)
    assert caught.value.status == "UNAVAILABLE"
