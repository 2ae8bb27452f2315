"""The shipped recordings, played to others than their clients: plain HTTP, stock vcrpy, and the official SDKs."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import openai
import pytest
import requests
import vcr
from google import genai
from openai.types.chat import ChatCompletion

from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.recorded.session import Session
from pytest_agentcontract.recorded.use import Use
from tests.clients.launch import CLIENTS
from tests.recorded.shipped import cassette_of, each, path_of, readings


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch):
    """Return a function that opens a recording for whoever asks; at the end all of it must have been asked for."""
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    with Provider() as listener:
        opened: list[Session] = []

        def play(name: str) -> Session:
            opened.append(Session(listener, path_of(name), Use()))
            return opened[-1]

        yield play
        assert [session.close() for session in opened] == [""] * len(opened)


def base_url(session: Session, name: str) -> str:
    """Return where the client of a recording has to ask."""
    provider = CLIENTS[name].provider
    return {"anthropic": session.anthropic_url, "openai": session.openai_url, "gemini": session.gemini_url}[provider]


@each
def test_the_same_bytes_are_replayed(played, name):
    """Status and body of every answer."""
    base, upstream = base_url(played(name), name), cassette_of(name).origin.upstreams[CLIENTS[name].provider]
    with httpx.Client(trust_env=False) as client:
        for entry in cassette_of(name).exchanges:
            answer = client.post(
                base + entry.url.removeprefix(upstream),
                content=entry.request_body,
                headers={"content-type": "application/json"},
            )
            assert (answer.status_code, answer.content) == (entry.status, entry.body)


@each
@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_stock_vcrpy_plays_it(name, library):
    """Through the HTTP client of somebody who has nothing of ours, matched by what was asked; all of it is played."""
    matched_by = ["method", "uri", "body"]
    with vcr.use_cassette(str(path_of(name)), record_mode="none", match_on=matched_by) as stock:
        for entry in cassette_of(name).exchanges:
            kind = {"content-type": "application/json"}
            if library == "requests":
                answer = requests.post(entry.url, data=entry.request_body, headers=kind, timeout=5)
            else:
                answer = httpx.post(entry.url, content=entry.request_body, headers=kind)
            assert (answer.status_code, answer.content) == (entry.status, entry.body)
        assert stock.all_played


def claude(base: str, _url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by Anthropic's client for a stream, and let it put the message together."""
    with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
        del body["stream"]
        with client.messages.stream(**body) as stream:
            blocks = stream.get_final_message().content
    of_kind = {kind: [block for block in blocks if block.type == kind] for kind in ("thinking", "text", "tool_use")}
    return (
        "".join(block.thinking for block in of_kind["thinking"]),
        "".join(block.text for block in of_kind["text"]),
        [(block.name, block.input) for block in of_kind["tool_use"]],
    )


def chat(base: str, _url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by OpenAI's client for a completion."""
    with openai.OpenAI(base_url=base, api_key="k", max_retries=0) as client:
        answer = client.post("/chat/completions", body=body, cast_to=ChatCompletion)
    message = answer.choices[0].message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    return message.model_extra.get("reasoning_content", ""), message.content or "", calls


def responses(base: str, _url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by OpenAI's client for a response in events; the last one holds all of it."""
    named = {key: body.pop(key) for key in ("model", "input", "stream")}
    with openai.OpenAI(base_url=base, api_key="k", max_retries=0) as client:
        *_, last = client.responses.create(**named, extra_body=body)
    items = last.response.output
    thought = "".join(part.text for item in items if item.type == "reasoning" for part in item.summary)
    calls = [
        (f"{item.namespace}.{item.name}", json.loads(item.arguments)) for item in items if item.type == "function_call"
    ]
    free = [(f"{item.namespace}.{item.name}", item.input) for item in items if item.type == "custom_tool_call"]
    return thought, last.response.output_text, calls + free


def gemini(base: str, url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by Google's client for a stream of pieces, with the very body."""
    model = url.rpartition("/")[2].partition(":")[0]
    with genai.Client(api_key="k", http_options={"base_url": base, "api_version": "v1beta"}) as client:
        asked = {"http_options": {"extra_body": body}}
        pieces = client.models.generate_content_stream(model=model, contents=body["contents"], config=asked)
        parts = [part for piece in pieces for part in _parts(piece)]
    return (
        "".join(part.text for part in parts if part.text and part.thought),
        "".join(part.text for part in parts if part.text and not part.thought),
        [(part.function_call.name, part.function_call.args) for part in parts if part.function_call],
    )


def _parts(piece: Any) -> list[Any]:
    content = piece.candidates[0].content if piece.candidates else None
    return (content and content.parts) or []


SDKS = {
    "anthropic-messages": (claude, anthropic.APIStatusError),
    "openai-chat": (chat, openai.APIStatusError),
    "openai-responses": (responses, openai.APIStatusError),
    "gemini-generate": (gemini, genai.errors.APIError),
}


@each
def test_the_official_client_reads_it(played, name):
    """What the maker of the API makes of every answer is what was scripted; an error is an error of this status."""
    ask, failure = SDKS[CLIENTS[name].wire]
    base = base_url(played(name), name)
    for one in readings(name):
        body = json.loads(one.recorded.request_body)
        if one.fault is not None:
            with pytest.raises(failure) as raised:
                ask(base, one.recorded.url, body)
            assert getattr(raised.value, "status_code", None) or raised.value.code == one.recorded.status
            continue
        thinking, text, calls = ask(base, one.recorded.url, body)
        assert (thinking, text) == (one.turn.thinking or "", one.turn.text or "")
        assert calls == [
            (call.name, call.arguments if call.raw_arguments is None else call.raw_arguments) for call in one.turn.calls
        ]
