"""See to it that no run outlives this process, also where a signal ends it before it can clear up.

One small process with a session of its own is started with the first program, and told of each run as it begins and
ends. Its standard input is a pipe that only this process holds: the pipe's end is this process's end, whatever the
cause. What is under way then is killed, and its folders are removed. In-process runs end with us, and need no guardian.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_agentcontract.drivers import processes

_FROM = str(Path(__file__).parents[2])
_CODE = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import watch; watch(sys.stdin)"
_ROOM = "agent-contract-"
_TO_LEAVE = 5.0
_LOCK = threading.Lock()
_WATCHING: list[subprocess.Popen[bytes]] = []


@contextmanager
def guarding(token: str, *folders: Path) -> Iterator[None]:
    """Have the processes with a token, and those at work in its folders, ended if we are; the folders go with them."""
    begin(token, *folders)
    try:
        yield
    finally:
        end(token)


def begin(token: str, *folders: Path) -> None:
    """Announce a run, before its first process is started."""
    _tell([token, 0, *map(str, folders)])


def started(token: str, session: int) -> None:
    """Tell the session of an announced run's first process."""
    _tell([token, session])


def end(token: str) -> None:
    """Tell that nothing of a run is left."""
    _tell([token])


def watch(told: Iterable[str]) -> None:
    """Keep account of what is under way until there is no more to hear, then end it: what the guardian does."""
    runs: dict[str, tuple[int, list[str]]] = {}
    for line in told:
        token, *more = json.loads(line)
        session, folders = runs.pop(token, (0, []))
        if more:
            runs[token] = (more[0] or session, more[1:] or folders)
    for token, (session, folders) in runs.items():
        processes.end_all(token, session, folders)
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            if (room := Path(folder).parent).name.startswith(_ROOM):
                shutil.rmtree(room, ignore_errors=True)


def _tell(message: list[object]) -> None:
    with _LOCK:
        pipe = _guardian().stdin
        # Somebody may have ended the guardian: the runs go on without one.
        with suppress(OSError):
            if pipe is not None:
                pipe.write(json.dumps(message).encode() + b"\n")


def _guardian() -> subprocess.Popen[bytes]:
    if not _WATCHING:
        _WATCHING.append(
            subprocess.Popen(
                (sys.executable, "-IS", "-c", _CODE, _FROM),
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )
        )
    return _WATCHING[0]


def _dismiss() -> None:
    for process in _WATCHING:
        with suppress(OSError, subprocess.TimeoutExpired):
            process.communicate(timeout=_TO_LEAVE)
    _WATCHING.clear()


def _forget() -> None:
    """Let go of it in a forked child: a copy of the pipe there would keep the guardian from noticing our end."""
    for process in _WATCHING:
        process.returncode = 0
        if process.stdin is not None:
            process.stdin.close()
    _WATCHING.clear()


atexit.register(_dismiss)
os.register_at_fork(after_in_child=_forget)
