"""Find and end the processes of a run: its session, and whoever carries the run's token in the environment.

A killed process group misses descendants that made a session of their own, so on Linux they are looked up in /proc.
One that left the session and cleared its environment too can't be told from a stranger's: its pipes are closed.
Elsewhere than on Linux only the process group is ended.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

TOKEN = "AGENT_CONTRACT_RUN"  # noqa: S105 - it is the name of a mark, not a secret
"""The environment variable that marks every process of a run."""

_PROC = Path("/proc")
_TICK = 0.005
_PATIENCE = 2.0
_SHOWN = 120


def survivors(nonce: str, session: int) -> tuple[int, ...]:
    """Return the living processes of a run: of its first process's session, or marked with its token."""
    mark = f"{TOKEN}={nonce}\0".encode()
    return tuple(pid for pid in _all() if (_session(pid) == session or mark in _read(pid, "environ")) and _alive(pid))


def await_exit(nonce: str, session: int, seconds: float) -> tuple[int, ...]:
    """Give a run's processes a moment to leave by themselves; return those that stayed."""
    deadline = time.monotonic() + seconds
    left = survivors(nonce, session)
    while left and time.monotonic() < deadline:
        time.sleep(_TICK)
        left = survivors(nonce, session)
    return left


def describe(pid: int) -> str:
    """Return a process's command line, for a person to recognise it by."""
    words = _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"{words[:_SHOWN] or 'a process'} (pid {pid})"


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group that may be gone already."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def end_all(nonce: str, session: int) -> None:
    """Kill every process of a run, again and again while new ones appear."""
    signal_group(session, signal.SIGKILL)
    deadline = time.monotonic() + _PATIENCE
    while (left := survivors(nonce, session)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_TICK)


def _all() -> Iterator[int]:
    if _PROC.is_dir():
        yield from (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())


def _alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie, which only waits to be reaped."""
    return _read(pid, "stat").rpartition(b")")[2][1:2] not in (b"", b"Z", b"X")


def _session(pid: int) -> int:
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(pid)
    return 0


def _read(pid: int, name: str) -> bytes:
    # A hundred of these are read after every run: no Path, no buffer.
    try:
        with open(f"{_PROC}/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - see above
            return file.read()
    except OSError:
        return b""
