"""Whatever ends the process that runs the cases, the runtimes that it has started end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from pytest_agentcontract.drivers import guardian, processes

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


def _eventually(holds) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(found)


def _running(mark: str) -> list[int]:
    """Return the processes that have a mark on their command line."""
    return [pid for pid in processes._all() if mark in processes.describe(pid)]


@pytest.fixture
def mark() -> Iterator[str]:
    """Return a number of seconds that no other process sleeps; end what sleeps it after the test."""
    seconds = f"9{uuid4().int % 10**8:08}"
    yield seconds
    for pid in _running(seconds):
        os.kill(pid, signal.SIGKILL)


def _pytest(folder: Path, runtime: str, *options: str) -> subprocess.Popen[bytes]:
    (folder / "agent-contract.toml").write_text(
        f"""[runtimes.it]
{runtime}
wires.anthropic-messages = {{env = {{URL = "{{base_url}}"}}}}
tools.work = {{name = "touch", arguments = {{path = "{{mark}}"}}}}
tools.return = {{name = "reply", payload = "/value"}}
capabilities = ["headless", "root-return", "payload-string"]
timeout = 300
"""
    )
    (folder / "tmp").mkdir()
    argv = [sys.executable, "-m", "pytest", "--agent-contract", "-p", "no:cacheprovider", *options]
    env = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp")}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(argv, cwd=folder, env=env, stdout=quiet, stderr=quiet, start_new_session=True)


@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGTERM, ()), (signal.SIGKILL, ()), (signal.SIGHUP, ()), (signal.SIGKILL, ("-n", "2"))],
    ids=["term", "kill", "hangup", "kill-xdist"],
)
def test_a_killed_pytest_leaves_nothing_running(tmp_path, mark, number, options) -> None:
    """The runtime, its detached child and the run's folders are gone soon after pytest is."""
    code = f"setsid -f env -i sleep {mark}; sleep {mark}; true"
    bench = _pytest(tmp_path, f'driver = "command"\nmodes.json = ["/bin/sh", "-c", "{code}", "{{prompt}}"]', *options)
    try:
        assert _eventually(lambda: len(_running(mark)) >= 3)
    finally:
        bench.send_signal(number)
        bench.wait(PATIENCE)
    assert _eventually(lambda: not _running(mark))
    assert _eventually(lambda: not [*(tmp_path / "tmp").glob("agent-contract-*")])


def test_a_killed_pytest_leaves_no_adapter(tmp_path, mark) -> None:
    """An adapter that does not heed the end of its input is ended as well."""
    adapter = f'driver = "stdio"\nadapter = ["/bin/sh", "-c", "sleep {mark}; true"]'
    bench = _pytest(tmp_path, adapter)
    try:
        assert _eventually(lambda: _running(mark))
    finally:
        bench.kill()
        bench.wait(PATIENCE)
    assert _eventually(lambda: not _running(mark))


def test_it_is_gone_when_all_is_over(program, drive) -> None:
    """A normal end dismisses the guardian, and it touches nothing of runs that are over; a fork lets go of it."""
    launch = program("print('{}')")
    drive(launch)
    process = guardian._WATCHING[0]
    assert process.poll() is None
    child = os.fork()
    if not child:
        os._exit(len(guardian._WATCHING))
    assert os.waitpid(child, 0)[1] == 0
    guardian._dismiss()
    assert process.returncode == 0
    assert launch.workdir.is_dir()


def test_a_run_goes_on_without_it(program, drive) -> None:
    """Where somebody has killed the guardian, nothing else is lost."""
    drive(program("print('{}')"))
    guardian._WATCHING[0].kill()
    guardian._WATCHING[0].wait()
    assert drive(program("print('{\"result\": 1}')")).value == 1
    guardian._dismiss()


def test_a_python_runtime_needs_none(launcher, drive, monkeypatch) -> None:
    """In-process runs start no process."""
    guardian._dismiss()
    monkeypatch.setattr(guardian, "_guardian", None)
    drive(launcher(driver="python", entry="builtins:id"))
    assert not guardian._WATCHING
