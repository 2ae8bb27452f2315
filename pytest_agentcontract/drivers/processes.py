"""Find and end the processes of a run: its session, whoever carries its token in the environment or is in its folders.

A killed process group misses descendants that made a session of their own, so on Linux they are looked up in /proc,
with the children of each. One that is nobody's child any more, left the session, cleared its environment and went to
another folder can't be told from a stranger's: its pipes are closed. Elsewhere than on Linux only the process group is
ended.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

TOKEN = "AGENT_CONTRACT_RUN"  # noqa: S105 - it is the name of a mark, not a secret
"""The environment variable that marks every process of a run."""

_PROC = Path("/proc")
_TICK = 0.005
_PATIENCE = 2.0
_TO_LEAVE = 0.25
_SHOWN = 120
_NONE = -1


def survivors(nonce: str, session: int, folders: Iterable[str | Path] = ()) -> tuple[int, ...]:
    """Return the living processes of a run: in its session or folders, marked with its token, or children of such."""
    mark = f"{TOKEN}={nonce}\0".encode()
    rooms = tuple(map(os.path.realpath, folders))
    there = [pid for pid in _all() if pid != os.getpid()]
    found = {pid for pid in there if _session(pid) == session or mark in _read(pid, "environ") or _is_in(pid, rooms)}
    # In the middle of its start a process has no environment yet, and at its end none any more; a parent it has.
    parents = {pid: _parent(pid) for pid in there} if found else {}
    more = found
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - found
        found |= more
    return tuple(pid for pid in sorted(found) if _alive(pid))


def await_exit(nonce: str, session: int, seconds: float, folders: Iterable[str | Path] = ()) -> tuple[int, ...]:
    """Give a run's processes a moment to leave by themselves; return those that stayed."""
    deadline = time.monotonic() + seconds
    left = survivors(nonce, session, folders)
    while left and time.monotonic() < deadline:
        time.sleep(_TICK)
        left = survivors(nonce, session, folders)
    return left


def describe(pid: int) -> str:
    """Return a process's command line, for a person to recognise it by."""
    words = _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"{words[:_SHOWN] or 'a process'} (pid {pid})"


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group that may be gone already."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def end_all(nonce: str, session: int, folders: Iterable[str | Path] = ()) -> None:
    """Kill every process of a run, again and again while new ones appear; session 0 is one that is not known.

    Where one was still alive, it takes a second look that finds nobody: a process can't be seen in the middle of its
    start once its parent is gone.
    """
    alive = bool(session) and _alive(session)
    if session:
        signal_group(session, signal.SIGKILL)
    deadline, looks = time.monotonic() + _PATIENCE, 1 + alive
    while looks and time.monotonic() < deadline:
        left = survivors(nonce, session or _NONE, folders)
        looks = 2 if left else looks - 1
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if looks:
            time.sleep(_TICK)


def left_behind(family: Callable[[], frozenset[int]], known: frozenset[int]) -> tuple[str, ...]:
    """Name the members of a family that are not known, after a moment to leave by themselves; end them."""
    deadline = time.monotonic() + _TO_LEAVE
    while (left := family() - known) and time.monotonic() < deadline:
        time.sleep(_TICK)
    named = tuple(describe(pid) for pid in sorted(left))
    deadline = time.monotonic() + _PATIENCE
    while (left := family() - known) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_TICK)
    return named


def _all() -> Iterator[int]:
    if _PROC.is_dir():
        yield from (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())


def _alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie, which only waits to be reaped."""
    return _stat(pid)[:1] not in ([], [b"Z"], [b"X"])


def _parent(pid: int) -> int:
    return int((*_stat(pid)[1:2], b"0")[0])


def _stat(pid: int) -> list[bytes]:
    return _read(pid, "stat").rpartition(b")")[2].split(None, 2)


def _session(pid: int) -> int:
    with suppress(ProcessLookupError, PermissionError):
        return os.getsid(pid)
    return 0


def _is_in(pid: int, rooms: tuple[str, ...]) -> bool:
    try:
        place = os.readlink(f"{_PROC}/{pid}/cwd").removesuffix(" (deleted)")  # noqa: PTH115 - as in _read
    except OSError:
        return False
    return any(place == room or place.startswith(f"{room}/") for room in rooms)


def _read(pid: int, name: str) -> bytes:
    # A hundred of these are read after every run: no Path, no buffer.
    try:
        with open(f"{_PROC}/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - see above
            return file.read()
    except OSError:
        return b""
