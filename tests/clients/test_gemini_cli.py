"""Gemini CLI over generateContent, streamed."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.scripted import Usage, call, turn
from pytest_agentcontract.wire.request import Thinking
from pytest_agentcontract.wire.turn import SIGNATURE

pytestmark = pytest.mark.network


def test_a_tool_is_called_and_the_last_word_arrives(program, run, shown, task, scripted_provider, tmp_path):
    """`gemini -p`: the response in its JSON output; of what the model thought, the signature alone comes back."""
    installed = program("gemini-cli/node_modules/.bin/gemini")
    shell = call("run_shell_command", command=task.command, description="copy")
    first = turn("Copying.", shell, thinking="Which file?", usage=Usage(100, 7, cache_read=20))
    scripted_provider.play(first, turn(task.final, usage=Usage(30, 2)))
    settings = tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(shown("json"), "utf-8")
    ended = run(
        installed, "-p", "Copy the file.", "-o", "json", "--approval-mode", "yolo",
        GEMINI_CLI_NO_RELAUNCH="true", GEMINI_CLI_TRUST_WORKSPACE="true", **scripted_provider.env,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
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
