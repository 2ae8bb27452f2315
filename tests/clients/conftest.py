"""Programs that others wrote, each run unmodified with a home of its own, against one script with one tool call."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from pytest_agentcontract.scripted.asked import Asked
from pytest_agentcontract.wire.request import Message, ToolResult
from tests.clients.launch import FOLDER

TIME_LIMIT = 90.0


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a program."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Task:
    """A tool call that can't be faked: a file holds what only a tool that runs can read, and must be copied.

    `final` is what the model says at the end.
    """

    folder: Path
    secret_file: str
    copy_file: str
    secret: str
    final: str

    @property
    def command(self) -> str:
        """A shell command that does it."""
        return f"cp {self.secret_file} {self.copy_file} && cat {self.copy_file}"

    def carried_out(self, requests: Sequence[Asked], *, stream: bool) -> None:
        """Assert that the tool ran, that the model was told what it gave, and that two requests were all there were."""
        assert (self.folder / self.copy_file).read_text("utf-8") == self.secret
        assert [(asked.kind, asked.turn, asked.request.stream) for asked in requests] == [
            ("turn", 1, stream),
            ("turn", 2, stream),
        ]
        before, after = (asked.messages for asked in requests)
        assert _results(before) == []
        [result] = _results(after)
        [called] = [called for message in after for called in message.calls]
        assert self.secret in result.text
        assert called.id == result.call_id
        answer = requests[0].answer
        assert answer is not None
        assert [(called.name, called.arguments_text)] == [(given.name, given.arguments_text) for given in answer.calls]


def _results(messages: Iterable[Message]) -> list[ToolResult]:
    return [result for message in messages for result in message.results]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the programs work."""
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def make_task(folder: Path) -> Callable[[str], Task]:
    """Return a function that makes a task of this name, with a secret and a final text of this test's own."""

    def make(name: str) -> Task:
        final = f'It says "ünïcode" & {{braces}}:\nline {uuid4().hex}.'
        made = Task(folder, f"{name}-secret.txt", f"{name}-copy.txt", f"secret-{uuid4().hex}", final)
        (folder / made.secret_file).write_text(made.secret, "utf-8")
        return made

    return make


@pytest.fixture
def task(make_task: Callable[[str], Task]) -> Task:
    """Return the one task of a test."""
    return make_task("the")


@pytest.fixture
def program() -> Callable[[str], Path]:
    """Return a function that finds a program in the folder of `.ci/clients`, or skips and says that it isn't there."""

    def find(place: str) -> Path:
        folder = os.environ.get(FOLDER)
        if not folder:
            pytest.skip(f"NOT RUN: {FOLDER} names no folder with the clients; `make clients` installs them")
        if not (Path(folder) / place).exists():
            pytest.skip(f"NOT RUN: there is no {place} in {folder}; `make clients` says why")
        return Path(folder) / place

    return find


@pytest.fixture
def run(tmp_path: Path, folder: Path) -> Callable[..., Ended]:
    """Return a function that runs a program in the task's folder, with this machine's settings out of its sight."""
    home = tmp_path / "home"
    home.mkdir()
    environment = {"HOME": home, "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1", "TMPDIR": tmp_path}

    def start(*argv: object, **env: object) -> Ended:
        path = {"PATH": f"{Path(str(argv[0])).parent}{os.pathsep}{os.environ['PATH']}"}
        running = subprocess.Popen(
            list(map(str, argv)),
            cwd=folder,
            env={name: str(value) for name, value in (environment | path | env).items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            out, err = running.communicate(timeout=TIME_LIMIT)
        finally:
            with suppress(ProcessLookupError):  # as a rule, nobody is left
                os.killpg(running.pid, signal.SIGKILL)
        return Ended(running.returncode, out, err)

    return start
