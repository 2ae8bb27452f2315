"""pydantic-ai: each wire format that it speaks, whole and streamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_agentcontract.errors import ScriptViolation
from pytest_agentcontract.scripted import Usage, call, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider

pytestmark = pytest.mark.network

AGENT = Path(__file__).with_name("pydantic_agent.py")
STREAMS = {"run": False, "events": True, "stream": True}


@pytest.fixture
def ask(program, run, scripted_provider: ScriptedProvider) -> Callable[..., dict[str, Any]]:
    """Return a function that runs an agent in each of some ways, all over one wire format; the answers by the way."""
    python = program("pydantic-ai/bin/python")

    def answers(wire: str, *ways: str) -> dict[str, Any]:
        ended = run(python, AGENT, wire, *ways, **scripted_provider.env)
        assert ended.code == 0, ended.err
        assert {asked.wire for asked in scripted_provider.requests} == {wire}
        return json.loads(ended.out)

    return answers


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate"])
def test_a_tool_is_called_and_the_last_word_arrives(ask, make_task, scripted_provider, wire):
    """`run()`, `run()` with a handler of its events, `run_stream()`: three agents at once, told apart by a token."""
    tasks = {way: make_task(way) for way in STREAMS}
    copy = {way: call("copy_file", source=task.secret_file, to=task.copy_file) for way, task in tasks.items()}
    texts = {"run": ["Copying."], "events": ["Copying."], "stream": []}  # see the test below
    scripts = {
        way: [turn(*texts[way], copy[way], usage=Usage(100, 7, cache_read=20)), turn(task.final, usage=Usage(30, 2))]
        for way, task in tasks.items()
    }
    scripted_provider.play(by="token", **scripts)
    answers = ask(wire, *tasks)
    for way, task in tasks.items():
        assert answers[way] == {"text": task.final, "requests": 2, "tokens": [150, 9, 20, 0]}
        task.carried_out([asked for asked in scripted_provider.requests if asked.agent == way], stream=STREAMS[way])


def test_a_text_beside_a_call_ends_a_streamed_run(ask, make_task, scripted_provider):
    """`run_stream()` takes it for the answer: the script isn't played to its end, and that is told."""
    copy = call("copy_file", source=make_task("stream").secret_file, to="copy.txt")
    scripted_provider.play(turn("Copying.", copy), turn("End."))
    assert ask("openai-chat", "stream")["stream"]["text"] == "Copying."
    with pytest.raises(ScriptViolation, match=r"turn 2 of 2 \(.*\): never asked for"):
        scripted_provider.verify()
