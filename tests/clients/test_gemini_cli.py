"""Gemini CLI over generateContent, streamed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_agentcontract.scripted import Usage, call, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider
from pytest_agentcontract.wire.request import Thinking
from pytest_agentcontract.wire.turn import SIGNATURE
from tests.clients.launch import gemini_settings

pytestmark = pytest.mark.network


@pytest.fixture
def gemini(program, run, scripted_provider: ScriptedProvider, tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Return a function that runs `gemini -p` with a prompt, and returns its JSON output."""
    installed = program("gemini-cli/node_modules/.bin/gemini")

    def start(prompt: str) -> dict[str, Any]:
        gemini_settings(tmp_path / "home")
        ended = run(
            installed, "-p", prompt, "-o", "json", "--approval-mode", "yolo",
            GEMINI_CLI_NO_RELAUNCH="true", GEMINI_CLI_TRUST_WORKSPACE="true", **scripted_provider.env,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        return json.loads(ended.out)

    return start


def test_a_tool_is_called_and_the_last_word_arrives(gemini, task, scripted_provider):
    """The response in its JSON output, and the bill; of what the model thought, the signature alone comes back."""
    shell = call("run_shell_command", command=task.command, description="copy")
    first = turn("Copying.", shell, thinking="Which file?", usage=Usage(100, 7, cache_read=20))
    scripted_provider.play(first, turn(task.final, usage=Usage(30, 2)))
    told = gemini("Copy the file.")
    assert told["response"] == task.final
    task.carried_out(scripted_provider.requests, stream=True)
    handed_back = [thinking for message in scripted_provider.requests[1].messages for thinking in message.thinking]
    assert handed_back == [Thinking("", SIGNATURE)]
    tokens = told["stats"]["models"]["gemini-2.5-flash"]["tokens"]
    assert {name: count for name, count in tokens.items() if count} == {
        "prompt": 150,
        "cached": 20,
        "input": 130,
        "candidates": 9,
        "total": 159,
    }


def test_a_sub_agent_is_told_apart_by_its_token(gemini, task, scripted_provider):
    """It does the work, and what it hands over reaches the one who asked."""
    shell = call("run_shell_command", command=task.command, description="copy")
    scripted_provider.play(
        by="token",
        root=[turn(call("invoke_agent", agent_name="generalist", prompt="[[helper]] Copy it.")), turn(task.final)],
        helper=[turn(shell), turn(call("complete_task", result={"response": "Copied by the helper."}))],
    )
    assert gemini("[[root]] Have the file copied.")["response"] == task.final
    asked = {name: [seen for seen in scripted_provider.requests if seen.agent == name] for name in ("root", "helper")}
    task.carried_out(asked["helper"], stream=True)
    [result] = [result for message in asked["root"][1].messages for result in message.results]
    assert "Copied by the helper." in result.text
