"""The official SDKs through the recorder: they get what they get directly, and what they got is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from pytest_agentcontract.cassette.upstreams import environment
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.wire.faults import CutFault, Pace, StatusFault
from tests.provider.recording.conftest import Studio

Play = Callable[..., Any]
Record = Callable[..., Studio]

TEXT = "A report of some length, with ünïcode, a\u2028separator and a\nnew line."


def _dumped(parts: Iterable[Any]) -> list[Any]:
    return [part.model_dump(mode="json", exclude={"sdk_http_response", "create_time"}) for part in parts]


def messages(url: str, said: str) -> list[Any]:
    """Ask over Anthropic Messages."""
    with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        return _dumped([client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": said}])])


def messages_streamed(url: str, said: str) -> list[Any]:
    """Ask over Anthropic Messages for every event."""
    with (
        anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": said}]) as events,
    ):
        return _dumped(events)


def messages_later(url: str, said: str) -> list[Any]:
    """Ask over Anthropic Messages for every event, as a coroutine."""

    async def ask() -> list[Any]:
        async with (
            anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client,
            client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": said}]) as events,
        ):
            return _dumped([event async for event in events])

    return asyncio.run(ask())


def chat(url: str, said: str) -> list[Any]:
    """Ask over Chat Completions."""
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        return _dumped([client.chat.completions.create(model="m", messages=[{"role": "user", "content": said}])])


def chat_streamed(url: str, said: str) -> list[Any]:
    """Ask over Chat Completions for every chunk."""
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        said_so: Any = [{"role": "user", "content": said}]
        return _dumped(client.chat.completions.create(model="m", messages=said_so, stream=True))


def responses(url: str, said: str) -> list[Any]:
    """Ask over the Responses API."""
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        return _dumped([client.responses.create(model="m", input=said)])


def responses_streamed(url: str, said: str) -> list[Any]:
    """Ask over the Responses API for every event."""
    with openai.OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        return _dumped(client.responses.create(model="m", input=said, stream=True))


def generate(url: str, said: str) -> list[Any]:
    """Ask Gemini."""
    with genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url)) as client:
        return _dumped([client.models.generate_content(model="m", contents=said)])


def generate_streamed(url: str, said: str) -> list[Any]:
    """Ask Gemini for every chunk."""
    with genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url)) as client:
        return _dumped(client.models.generate_content_stream(model="m", contents=said))


ASK: dict[Callable[[str, str], list[Any]], tuple[str, str]] = {
    messages: ("anthropic-messages", "ANTHROPIC_BASE_URL"),
    messages_streamed: ("anthropic-messages", "ANTHROPIC_BASE_URL"),
    messages_later: ("anthropic-messages", "ANTHROPIC_BASE_URL"),
    chat: ("openai-chat", "OPENAI_BASE_URL"),
    chat_streamed: ("openai-chat", "OPENAI_BASE_URL"),
    responses: ("openai-responses", "OPENAI_BASE_URL"),
    responses_streamed: ("openai-responses", "OPENAI_BASE_URL"),
    generate: ("gemini-generate", "GOOGLE_GEMINI_BASE_URL"),
    generate_streamed: ("gemini-generate", "GOOGLE_GEMINI_BASE_URL"),
}
ALL = pytest.mark.parametrize(("ask", "wire", "variable"), [(ask, *rest) for ask, rest in ASK.items()])
SOME = pytest.mark.parametrize(
    ("ask", "wire", "variable"),
    [(ask, *ASK[ask]) for ask in (messages, chat_streamed, responses_streamed, generate_streamed)],
)
Ask = Callable[[str, str], list[Any]]


def outcome(ask: Ask, url: str, said: str) -> tuple[str, Any]:
    """Return what an SDK gives back or raises: the error's kind, status and words."""
    try:
        return "answer", ask(url, said)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must be the same twice
        return type(error).__name__, (getattr(error, "status_code", None), str(error))


def twice(play: Play, studio: Record, turn: ScriptedTurn, ask: Ask, wire: str, variable: str) -> tuple[Any, Any, Any]:
    """Ask two seats with the same script, one directly and one through a recorder; return the record, too."""
    found = []
    for recording in (False, True):
        table = play(turn, wire=wire)
        said = f"Hi [[root-{table.script.places.nonces.public}]]"
        url = f"{table.seat.base_url}{'/v1' if variable == 'OPENAI_BASE_URL' else ''}"
        if recording:
            stage = studio(table.seat.base_url)
            url = environment(stage.url)[variable]
        found.append(outcome(ask, url, said))
        table.close()
    return found[0], found[1], stage.recorded()


@ALL
def test_an_answer_is_the_same(play: Play, studio: Record, ask: Ask, wire: str, variable: str) -> None:
    """Every field of every event; and the record holds the text."""
    turn = ScriptedTurn(text=TEXT, pace=Pace(0.001, 0.001))
    direct, through, recorded = twice(play, studio, turn, ask, wire, variable)
    assert direct[0] == "answer"
    assert through == direct
    assert (recorded.status, recorded.ending) == (200, "whole")
    assert "ünïcode".encode() in recorded.body or b"\\u00fcn" in recorded.body or "ü".encode() in recorded.body


@SOME
@pytest.mark.parametrize(
    "fault",
    [StatusFault(529, {"x-should-retry": "false"}), CutFault(2, "rst"), CutFault(2, "fin"), CutFault(0, "fin")],
    ids=["status", "reset", "closed", "never begun"],
)
def test_an_error_is_the_same(play: Play, studio: Record, ask: Ask, wire: str, variable: str, fault: Any) -> None:
    """Its kind, its status and its words."""
    direct, through, recorded = twice(play, studio, ScriptedTurn(text=TEXT, fault=fault), ask, wire, variable)
    assert direct[0] != "answer"
    assert through == direct
    endings = {"rst": "reset", "fin": "closed"}
    assert recorded.ending == (endings[fault.ending] if isinstance(fault, CutFault) else "whole")
