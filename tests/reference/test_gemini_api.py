"""The reference's client of Gemini generateContent: what it sends, and what it makes of the chunks."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_agentcontract.reference import gemini_api
from pytest_agentcontract.reference.clients import connect
from pytest_agentcontract.reference.conversation import Answer, Ask, Results, Said, Tool, ToolCall, ToolResult
from pytest_agentcontract.reference.rules import BASES
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.reference.usage import Reading, Tokens, last_figures

WORK = ToolCall("c1", "touch", '{"path": "a"}', {"path": "a"})
MORE = ToolCall("c2", "read", "{", None)
RESULTS = Results((ToolResult("c1", "done"), ToolResult("c2", "broken", is_error=True)))


def body(*history: Any, force: str | None = None) -> Any:
    """Render a request with this history."""
    return gemini_api.body(Ask("Be brief.", history, (Tool("touch", "Touch.", {"type": "object"}),), force), "m")


def assembled(*events: Any) -> tuple[gemini_api.Assembly, list[str]]:
    """Feed chunks to an answer in the making; return it and what was printed."""
    printed: list[str] = []
    assembly = gemini_api.Assembly(printed.append, Reading(of_root=True))
    for event in events:
        assembly.feed(event)
    return assembly, printed


def chunk(*parts: Any, **more: Any) -> Any:
    """Write one chunk with these parts."""
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


def test_a_conversation_is_rendered_in_contents() -> None:
    """Results name the function of their call, and say `error` where it failed."""
    sent = body(Said(("hi",)), Answer("Look.", calls=(WORK, MORE)), RESULTS, force="touch")
    assert sent["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert sent["contents"] == [
        {"role": "user", "parts": [{"text": "hi"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Look."},
                {"functionCall": {"id": "c1", "name": "touch", "args": {"path": "a"}}},
                {"functionCall": {"id": "c2", "name": "read", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "touch", "response": {"output": "done"}}},
                {"functionResponse": {"id": "c2", "name": "read", "response": {"error": "broken"}}},
            ],
        },
    ]
    declared = {"name": "touch", "description": "Touch.", "parametersJsonSchema": {"type": "object"}}
    assert sent["tools"] == [{"functionDeclarations": [declared]}]
    assert sent["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["touch"]}}
    assert "toolConfig" not in body()


@pytest.mark.parametrize(
    ("answer", "signed"),
    [
        (Answer("Look.", "Hm.", (WORK, WORK), signature="s"), [None, None, "s", None]),
        (Answer("Look.", "Hm.", signature="s"), [None, "s"]),
        (Answer("", "Hm.", signature="s"), ["s"]),
        (Answer("", "", (WORK,), signature="s"), ["s"]),
        (Answer("Look.", "Hm.", (WORK,)), [None, None, None]),
    ],
)
def test_a_signature_goes_back_to_its_place(answer: Answer, signed: list[str | None]) -> None:
    """To the first call, else to the last part."""
    assert [part.get("thoughtSignature") for part in body(answer)["contents"][0]["parts"]] == signed


def test_chunks_become_an_answer() -> None:
    """Texts are printed as they come, thinking is not; a call without an id bears its name. Thinking is output too."""
    assembly, printed = assembled(
        chunk({"text": "Hm", "thought": True}),
        chunk({"text": "Lo"}),
        chunk({"text": "ok."}),
        chunk({"functionCall": {"name": "touch", "args": {"path": "a"}}, "thoughtSignature": "s"}),
        chunk({"text": ""}, finishReason="STOP")
        | {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}},
    )
    assert assembly.answer() == Answer("Look.", "Hm", (ToolCall("touch", "touch", '{"path": "a"}'),), "end", "s")
    assert (printed, assembly.done) == (["Lo", "ok."], True)
    assert last_figures(assembly.reading.reports) == Tokens(7, 5)


@pytest.mark.parametrize(
    ("event", "stop"),
    [
        (chunk(finishReason="MAX_TOKENS"), "length"),
        (chunk(finishReason="SAFETY"), "refusal"),
        (chunk(finishReason="MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL"),
        ({"promptFeedback": {"blockReason": "OTHER"}}, "refusal"),
    ],
)
def test_every_end_is_an_end(event: Any, stop: str) -> None:
    """By the reason that a chunk names, or by the block of the question."""
    assembly, _ = assembled(event)
    assert (assembly.answer(), assembly.done) == (Answer(stop=stop), True)


def test_a_stream_may_end_without_a_reason_once_usage_is_told() -> None:
    """What broke off has told none; usage alone does not end a stream."""
    broken, _ = assembled(chunk({"text": "a"}))
    whole, _ = assembled(chunk({"text": "a"}) | {"usageMetadata": {"promptTokenCount": 7}})
    assert (broken.enough, broken.done, whole.enough, whole.done) == (False, False, True, False)


def test_an_error_in_the_place_of_a_chunk_is_raised() -> None:
    """In the provider's words."""
    with pytest.raises(ModelError, match="busy"):
        assembled(chunk({"text": "a"}), {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}})


def test_the_environment_chooses_it() -> None:
    """By the key or the address; with another provider named as well, by neither."""
    rules = BASES["reference"]
    client = connect({"GEMINI_API_KEY": "k", "GEMINI_MODEL": "m"}, rules)
    assert client.connections.url.host == "generativelanguage.googleapis.com"
    assert (client.key, client.model) == ("k", "m")
    assert connect({"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1"}, rules).api == client.api
    assert connect({"GEMINI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, rules).api != client.api
