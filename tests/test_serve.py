"""`agent-contract serve SCRIPT`, as a test suite in another language uses it."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli

SCRIPT = """
turns:
  - text: one
  - {text: two three four, hold: {after_deltas: 1, until: {released: go}}}
"""

CLIENT = """
import json, os, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body).read()
"""


class Served:
    """A running `serve`, and the lines that it has printed."""

    def __init__(self, folder: Path, *options: str, script: str = SCRIPT) -> None:
        (folder / "script.yaml").write_text(script)
        command = [sys.executable, "-u", "-m", "pytest_agentcontract", "serve", "script.yaml", *options]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.head = ""
        while not self.head.endswith("ends\n"):
            line = self.process.stdout.readline() if self.process.stdout else ""
            assert line, self.head
            self.head += line
        self.url = re.findall(r"^serving script.yaml at (\S+)$", self.head, re.MULTILINE)[0]

    def post(self, path: str = "/v1/chat/completions", **extra: Any) -> tuple[int, str]:
        """Ask for something; return status and body."""
        url = urlsplit(self.url)
        line = http.client.HTTPConnection(url.hostname or "", url.port, timeout=30)
        line.request("POST", path, json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], **extra}))
        answer = line.getresponse()
        body = answer.read().decode()
        line.close()
        return answer.status, body

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit status and what was printed since."""
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=60)
        return self.process.returncode, output


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Return a function that serves a script from a folder of its own."""
    running: list[Served] = []

    def start(*options: str, script: str = SCRIPT) -> Served:
        running.append(Served(tmp_path, *options, script=script))
        return running[-1]

    yield start
    for served in running:
        served.process.kill()
        served.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_script_that_was_used_exits_with_0(serve: Callable[..., Served], tmp_path: Path, number: int) -> None:
    """The URL is printed, every exchange is logged at once, gates are opened over HTTP, a signal sums up."""
    served = serve("--log", "log.jsonl")
    exported = dict(re.findall(r"export (\w+)=(\S+)", served.head))
    assert exported["OPENAI_BASE_URL"] == f"{served.url}/v1"
    assert exported["ANTHROPIC_BASE_URL"] == exported["GOOGLE_GEMINI_BASE_URL"] == served.url
    assert '"one"' in served.post()[1]
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert logged[0] == {"log": "agent-contract serve", "version": 1, "script": "script.yaml", "url": served.url}
    assert (logged[1]["kind"], logged[1]["turn"], logged[1]["delivered"]) == ("turn", 1, True)
    assert logged[1]["request"]["messages"] == [{"role": "user", "content": "Hi"}]
    assert logged[1]["answer"] == {"text": "one", "calls": []}
    assert served.post("/gates/go")[1] == '{"released": "go"}'
    assert "[DONE]" in served.post(stream=True)[1]
    status, output = served.end(number)
    assert output.endswith("\n2 requests, no violations of the script\n")
    assert "Traceback" not in output
    assert status == 0


def test_whatever_leaves_the_script_exits_with_1(serve: Callable[..., Served], tmp_path: Path) -> None:
    """Unused turns and unknown paths are summed up; both stand in the log."""
    served = serve("--log", "log.jsonl")
    assert served.post("/v1/embeddings")[0] == 404
    served.post()
    status, output = served.end()
    assert output.endswith(
        "\n1 request, 2 violations of the script\n"
        "  nobody: POST /v1/embeddings was asked, and nothing is served there\n"
        "  root, turn 2 of 2 (/agents/root/1): never asked for\n"
    )
    assert json.loads((tmp_path / "log.jsonl").read_text().splitlines()[1]) == {
        "kind": "missed",
        "path": "POST /v1/embeddings",
    }
    assert status == 1


def test_once_ends_with_the_script(serve: Callable[..., Served]) -> None:
    """Nobody needs to send a signal; what comes too late in the meantime still counts."""
    served = serve("--once", script="turns: [{text: one}]")
    served.post()
    assert served.post()[0] == 400
    output, _ = served.process.communicate(timeout=60)
    assert "but the script of root ends" in output
    assert served.process.returncode == 1


def test_a_log_goes_on_and_is_never_somebody_elses(serve: Callable[..., Served], tmp_path: Path) -> None:
    """A run appends to the log of an earlier one; a file that is no log stays as it is."""
    for _ in range(2):
        assert serve("--log", "log.jsonl", script="turns: [{text: one}]").end()[0] == 1
    assert (tmp_path / "log.jsonl").read_text().count('"log"') == 2
    (tmp_path / "notes.txt").write_text("mine\n")
    result = CliRunner().invoke(
        cli.main, ["serve", str(tmp_path / "script.yaml"), "--log", str(tmp_path / "notes.txt")]
    )
    assert result.exit_code == 4
    assert "notes.txt: the file holds something else than a log" in result.stderr
    assert (tmp_path / "notes.txt").read_text() == "mine\n"


def test_a_port_that_is_taken_is_one_clear_error(serve: Callable[..., Served], tmp_path: Path) -> None:
    """The port can be chosen, and the error names it."""
    served = serve()
    port = str(urlsplit(served.url).port)
    result = CliRunner().invoke(cli.main, ["serve", str(tmp_path / "script.yaml"), "--port", port])
    assert result.exit_code == 4
    assert f"can't listen on 127.0.0.1:{port}: " in result.stderr
    assert result.stderr.endswith("\n  Choose another port, or --port 0 for any free one.\n")


def test_a_script_that_nobody_asked_anything_of_exits_with_1(serve: Callable[..., Served]) -> None:
    """A turn that may be asked for ever leaves nothing over; that nobody came is told all the same."""
    status, output = serve(script="turns: [{text: one, repeat: forever}]").end()
    assert output.endswith("\n0 requests, 1 violation of the script\n  nothing was asked\n")
    assert status == 1


def test_a_configuration_is_no_script(tmp_path: Path) -> None:
    """It is told what it is."""
    (tmp_path / "agent-contract.toml").write_text("# mine\n[runtimes.mine]\n")
    result = CliRunner().invoke(cli.main, ["serve", str(tmp_path / "agent-contract.toml")])
    assert result.exit_code == 4
    assert "agent-contract.toml: this is a configuration, and no script\n" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "`serve` plays one thing"),
        (("s.json", "--case", "x"), "`serve` plays one thing"),
        (("s.json", "--wire", "openai-chat"), "--wire has no meaning here"),
        (("--case", "x", "--once"), "--once has no meaning here"),
        (("s.json",), "s.json: No such file"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], complaint: str) -> None:
    """Nothing that was asked for is silently left out."""
    result = CliRunner().invoke(cli.main, ["serve", *arguments])
    assert result.exit_code == 4
    assert complaint in result.stderr


@pytest.mark.parametrize("apart", [0.0, 0.005])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_second_signal_changes_nothing(serve: Callable[..., Served], number: int, apart: float) -> None:
    """Whoever ends a group of processes often sends two: the summary is printed, and the script says the status."""
    for script, expected in (("turns: [{text: one}]", 1), ("turns: [{text: one, repeat: forever}]", 0)):
        served = serve(script=script)
        if not expected:
            served.post()
        served.process.send_signal(number)
        time.sleep(apart)
        status, output = served.end(signal.SIGTERM)
        assert " of the script\n" in output
        assert "Traceback" not in output
        assert status == expected, output


def test_signals_up_to_the_very_end_change_nothing(serve: Callable[..., Served]) -> None:
    """They are without effect until the process is gone, also while Python clears up."""
    served = serve(script="turns: [{text: one}]")
    for _ in range(2_000):
        if served.process.poll() is not None:
            break
        served.process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    assert served.process.returncode == 1
    assert "1 violation of the script" in served.end()[1]


def test_a_hang_up_that_was_ignored_says_nothing(serve: Callable[..., Served]) -> None:
    """What was started by nohup goes on when its terminal is gone."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        served = serve()
    finally:
        signal.signal(signal.SIGHUP, before)
    served.process.send_signal(signal.SIGHUP)
    assert served.post()[0] == 200
    assert "1 request" in served.end()[1]


def test_a_log_on_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    """Nothing is served, and the error names the file and what to do."""
    (tmp_path / "script.yaml").write_text(SCRIPT)
    result = CliRunner().invoke(cli.main, ["serve", str(tmp_path / "script.yaml"), "--log", "/dev/full"])
    assert result.exit_code == 4, result.exception
    assert result.stderr == (
        "ERROR: /dev/full: can't write the log: No space left on device\n"
        "  Name a file in a folder that can be written to, on a disk with room.\n"
    )


def test_a_log_that_fails_later_ends_the_run(serve: Callable[..., Served], tmp_path: Path) -> None:
    """The client has its answer, and the run ends by itself, with the error."""
    served = serve("--log", "log.jsonl", script="turns: [{text: one, repeat: forever}]")
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, ((tmp_path / "log.jsonl").stat().st_size,) * 2)
    assert served.post()[0] == 200
    output, _ = served.process.communicate(timeout=60)
    assert "ERROR: log.jsonl: can't write the log: File too large\n  Name a file" in output
    assert "Traceback" not in output
    assert served.process.returncode == 4


@pytest.mark.parametrize(
    ("script", "taken", "expected"),
    [
        ("turns: [{text: one, repeat: forever}]", False, 0),
        ("turns: [{text: one}]", False, 1),
        ("turns: [{txet: one}]", False, 4),
        ("turns: [{text: one, repeat: forever}]", True, 4),
    ],
)
def test_the_recipe_on_the_page_ends(tmp_path: Path, script: str, *, taken: bool, expected: int) -> None:
    """The lines for a shell, as they stand there: with the tests' status, and never waiting for what is gone."""
    page = (Path(__file__).parent.parent / "docs" / "serve.md").read_text("utf-8")
    recipe = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]
    (tmp_path / "script.yaml").write_text(script)
    served = f'"{sys.executable}" -u -m pytest_agentcontract "$@"'
    (tmp_path / "client.py").write_text(CLIENT)
    asks = "true" if expected == 1 else f'NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 "{sys.executable}" client.py'
    for name, line in (("agent-contract", f"exec {served}"), ("npm", asks)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        if not taken:
            listening.close()
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        ran = subprocess.run(
            ["/bin/sh", "-c", recipe.replace("8089", port)], cwd=tmp_path, env=environment, timeout=60, check=False
        )
    assert ran.returncode == expected, (tmp_path / "serve.txt").read_text()
