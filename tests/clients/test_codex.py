"""Codex CLI over the Responses API, streamed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from pytest_agentcontract.scripted import Usage, call, malformed, raw_call, turn
from pytest_agentcontract.wire.request import Thinking
from pytest_agentcontract.wire.turn import SIGNATURE
from tests.clients.launch import SHOWN_MODEL, codex_settings

pytestmark = pytest.mark.network

FREE_TEXT = "text(await tools.exec_command({{cmd: {command}}}));"
"""The same command for a model that Codex knows: such a model writes JavaScript into a tool of free text."""


@pytest.fixture
def codex(program, run, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that runs `codex exec --json` with the variables of a provider, and returns the events."""
    installed = program("codex/node_modules/.bin/codex")

    def start(env: dict[str, str], model: str = SHOWN_MODEL) -> list[dict[str, Any]]:
        home = tmp_path / "codex"
        codex_settings(home, env["OPENAI_BASE_URL"], model)
        ended = run(
            installed, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
            "--output-last-message", tmp_path / "last.txt", "Copy the file.", CODEX_HOME=home, **env,
        )  # fmt: skip
        assert ended.code == 0, ended.out + ended.err
        return [json.loads(line) for line in ended.out.splitlines()]

    return start


def said(events: list[dict[str, Any]], kind: str) -> list[str]:
    """Return the texts of the finished items of a kind."""
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    return [item["text"] for item in items if item["type"] == kind]


def test_a_tool_is_called_and_the_last_word_arrives(codex, task, scripted_provider, tmp_path):
    """In the events and in the file; what the model thought is shown, and comes back with its signature."""
    shell = call("exec_command", cmd=task.command)
    first = turn("Copying.", shell, thinking="Which file?", usage=Usage(100, 7, cache_read=20, cache_write=3))
    scripted_provider.play(first, turn(task.final, usage=Usage(30, 2)))
    events = codex(scripted_provider.env)
    assert said(events, "reasoning") == ["Which file?"]
    assert said(events, "agent_message") == ["Copying.", task.final]
    assert (tmp_path / "last.txt").read_text("utf-8") == task.final
    task.carried_out(scripted_provider.requests, stream=True)
    handed_back = [thinking for message in scripted_provider.requests[1].messages for thinking in message.thinking]
    assert handed_back == [Thinking("Which file?", SIGNATURE)]
    last = events[-1]
    assert last["type"] == "turn.completed"
    assert {name: count for name, count in last["usage"].items() if count} == {
        "input_tokens": 153,
        "cached_input_tokens": 20,
        "cache_write_input_tokens": 3,
        "output_tokens": 9,
    }


def test_a_tool_of_free_text_in_a_namespace(codex, task, scripted_provider):
    """Tools that an item of the input adds are found, and a call of one comes as an item of its own kind."""
    script = FREE_TEXT.format(command=json.dumps(task.command))
    scripted_provider.play(turn("Copying.", raw_call("functions.exec", script)), turn(task.final))
    assert said(codex(scripted_provider.env, "gpt-6.2-sol"), "agent_message") == ["Copying.", task.final]
    task.carried_out(scripted_provider.requests, stream=True)


def test_a_malformed_event_is_passed_over(codex, task, scripted_provider):
    """Codex takes the call from the event that repeats it, and is not told to call again."""
    shell = call("exec_command", cmd=task.command)
    scripted_provider.play(turn("Copying.", shell, fault=malformed(1)), turn(task.final))
    assert said(codex(scripted_provider.env), "agent_message") == ["Copying.", task.final]
    assert [(asked.kind, asked.turn) for asked in scripted_provider.requests] == [("fault", 1), ("turn", 2)]


def test_a_served_script_is_played_to_its_end(codex, task, tmp_path):
    """`agent-contract serve`: the variables that it prints are all that is needed, and it ends with 0."""
    turns = [{"text": "Copying.", "calls": [{"tool": "exec_command", "arguments": {"cmd": task.command}}]}]
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps({"turns": [*turns, {"text": task.final}]}), "utf-8")
    argv = [sys.executable, "-m", "pytest_agentcontract", "serve", script, "--log", log, "--once"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, encoding="utf-8") as serving:
        try:
            lines = list(takewhile(lambda line: not line.startswith("waiting"), serving.stdout))
            env = dict(line.removeprefix("  export ").strip().split("=", 1) for line in lines if "export " in line)
            assert said(codex(env), "agent_message") == ["Copying.", task.final]
            told = serving.stdout.read().splitlines()
            assert (serving.wait(), told[-1]) == (0, "2 requests, no violations of the script")
        finally:
            serving.kill()
    exchanges = [json.loads(line) for line in log.read_text("utf-8").splitlines()][1:]
    assert [(seen["kind"], seen["turn"], seen["wire"]) for seen in exchanges] == [
        ("turn", 1, "openai-responses"),
        ("turn", 2, "openai-responses"),
    ]
    assert task.secret in json.dumps(exchanges[1]["request"]["input"][-1])
