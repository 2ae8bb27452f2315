"""The process in which a framework is loaded once, and a run in it: forked there, told to us by number and status."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import IO, Final
from uuid import uuid4

from pytest_agentcontract.drivers import guardian, installed, processes
from pytest_agentcontract.drivers.framework_child import HEADER
from pytest_agentcontract.drivers.preparation import environment, lasting, not_installed, started
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSONObject, as_object, as_text, dumps, loads
from pytest_agentcontract.scenario.profile import Profile

TO_LOAD: Final = 120.0
"""How many seconds a recipe has to be loaded: some frameworks take 20, and the machine may be busy."""

_CHILD = Path(__file__).with_name("framework_child.py")
_TO_FORK = 10.0
_TO_LEAVE = 1.0
_TO_DIE = 2.0
_CHUNK = 65536
_SHOWN = 2000


class CantForkError(Exception):
    """The framework's process could not be copied; its words are the system's."""


class Forked:
    """A run in a process of its own, which is not our child: what `attended` needs to know of it."""

    returncode: int | None = None

    def __init__(self, pid: int, pipes: Pipes, status: Lines | subprocess.Popen[bytes]) -> None:
        self.pid, self.stdin, self.stdout, self.stderr = pid, pipes.stdin, pipes.stdout, pipes.stderr
        self._status = status

    def wait(self) -> int | None:
        """Block until it is gone; None is the status of one whose parent is gone, too."""
        if isinstance(self._status, subprocess.Popen):
            self.returncode = self._status.wait()
            return self.returncode
        said = self._status.next(None)
        self._status.close()
        code = said and said["status"]
        self.returncode = code if isinstance(code, int) else None
        return self.returncode


class Pipes:
    """The standard streams of one run: our ends as files, its ends as numbers to be handed over."""

    def __init__(self, *, open_stdin: bool) -> None:
        self.stdin: IO[bytes] | None = None
        if open_stdin:
            given, self.stdin = _ours(writing=True)
        else:
            given = os.open(os.devnull, os.O_RDONLY)
        printed, self.stdout = _ours(writing=False)
        told, self.stderr = _ours(writing=False)
        self.theirs = (given, printed, told)

    def hand_over(self) -> None:
        """Close our copies of its ends: its end must show on ours."""
        for fd in self.theirs:
            os.close(fd)

    def close(self) -> None:
        """Give back our ends, of a run that never came to be."""
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()


class Lines:
    """JSON lines that come in on a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd, self._held = fd, b""

    def next(self, seconds: float | None) -> JSONObject | None:
        """Return the next message; None where there is none in time, or none to come."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._held:
            left = None if deadline is None else max(deadline - time.monotonic(), 0)
            if not select.select([self._fd], [], [], left)[0]:
                return None
            piece = os.read(self._fd, _CHUNK)
            if not piece:
                return None
            self._held += piece
        line, self._held = self._held.split(b"\n", 1)
        return as_object(loads(line.decode()))

    def close(self) -> None:
        """Give back the file descriptor."""
        os.close(self._fd)


class FrameworkProcess:
    """A framework's own interpreter with a recipe in it: loaded once, copied for each run, ended with us."""

    def __init__(self, profile: Profile, *, alone: bool = False) -> None:
        self._profile, self._alone, self._token = profile, alone, uuid4().hex
        self._home = Path(mkdtemp(prefix="agent-contract-framework-"))
        self._control, theirs = socket.socketpair()
        self._output: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed in close()
        guardian.begin(self._token, self._home)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._under_way, self._shared = threading.Lock(), 0, False
        try:
            self._process = self._start(theirs)
            guardian.started(self._token, self._process.pid)
            theirs.close()
            self.forks = self._loaded()
            self._known = self._family()
        except BaseException:
            theirs.close()
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether it can be asked for a run."""
        return self._process is not None and self._process.poll() is None

    def play(self, run: JSONObject, pipes: Pipes, document: IO[bytes]) -> Forked:
        """Have it carry out one run; raise CantForkError where it can't be copied, DriverError where it is gone."""
        ours, theirs = os.pipe()
        fds = [*pipes.theirs, document.fileno(), theirs]
        request = dumps(run).encode(errors="surrogatepass")
        try:
            with self._lock:  # two requests at once must not be mixed
                socket.send_fds(self._control, [len(request).to_bytes(HEADER, "big")], fds)
                self._control.sendall(request)
        except OSError as error:
            os.close(ours)
            raise self._lost() from error
        finally:
            os.close(theirs)
        return self._forked(pipes, Lines(ours))

    @contextmanager
    def attending(self) -> Iterator[None]:
        """Keep account of the runs that are under way: only of one that was alone can it be told what it left."""
        with self._lock:
            self._under_way += 1
            self._shared = self._under_way > 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    def left_behind(self) -> tuple[str, ...]:
        """Name and end what a run has left that has neither its token nor its session nor a place in its folders.

        A process that was forked and never became another program has the environment of this one, as /proc tells it.
        """
        return () if self._shared else processes.left_behind(self._family, self._known)

    def close(self) -> None:
        """Kill it and every run in it, and give back its room."""
        self._control.close()
        if self._process is not None:
            processes.end_all(self._token, self._process.pid, (self._home,))
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_TO_DIE)
        self._output.close()
        shutil.rmtree(self._home, ignore_errors=True)
        guardian.end(self._token)

    def forget(self) -> None:
        """Let go of it in a copy of this process: it is the original's."""
        self._control.close()
        if self._process is not None:
            self._process.returncode = 0

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        profile, home = self._profile, self._home
        if profile.install and not profile.python and not installed.is_ready(profile):
            raise not_installed(profile)
        recipe, _, function = profile.entry.rpartition(":")
        env = environment(profile, home, self._token) | lasting(profile.env)
        child = (
            str(_CHILD),
            str(theirs.fileno()),
            "alone" if self._alone else "forked",
            recipe,
            function,
            *profile.path,
        )
        command = (installed.interpreter(profile), "-I", *child)
        return started(
            command,
            env,
            home,
            profile.name,
            stdin=subprocess.DEVNULL,
            output=self._output,
            keep=(theirs.fileno(),),
        )

    def _family(self) -> frozenset[int]:
        session = self._process.pid if self._process is not None else 0
        return frozenset(processes.survivors(self._token, session, (self._home,)))

    def _loaded(self) -> bool:
        said = Lines(self._control.fileno()).next(TO_LOAD)
        if said is None:
            late = not self._gone()
            what = f"was not loaded in {TO_LOAD:.0f} s" if late else "ended the interpreter while it was loaded"
            raise self._refused(f"the recipe {what}")
        if "error" in said:
            raise self._refused(
                f"the recipe can't be loaded: {as_text(said['error'])}", missing=said["missing"] is True
            )
        return said["fork"] is True

    def _gone(self) -> bool:
        """Tell whether it has ended, which shows a moment after its last word."""
        try:
            return self._process is not None and self._process.wait(_TO_LEAVE) is not None
        except subprocess.TimeoutExpired:
            return False

    def _forked(self, pipes: Pipes, status: Lines) -> Forked:
        if not self.forks and self._process is not None:
            status.close()
            return Forked(self._process.pid, pipes, self._process)
        said = status.next(_TO_FORK)
        if said is None or "error" in said:
            status.close()
            raise self._lost() if said is None else CantForkError(as_text(said["error"]))
        pid = said["pid"]
        return Forked(pid if isinstance(pid, int) else 0, pipes, status)

    def _lost(self) -> DriverError:
        """Give up a process that is out of step, so that the next run finds a new one."""
        if self._process is not None:
            self._process.kill()
        return DriverError(
            "the process in which the framework is loaded is gone, or no longer answers",
            where=f"runtime {self._profile.name}",
            remedy="Where the framework can't be forked, say `FORK = False` in the recipe.",
        )

    def _refused(self, what: str, *, missing: bool = False) -> DriverError:
        profile = self._profile
        remedy = f"Its last words: {self._last_words()}"
        if missing:
            install = f"agent-contract install {profile.name}"
            remedy = f"Run: {install}" if profile.install else f"Install it for {installed.interpreter(profile)}."
        return DriverError(what, where=f"runtime {profile.name}, {profile.entry}", remedy=remedy)

    def _last_words(self) -> str:
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(size - _SHOWN, 0))
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        return " / ".join(lines[-3:]) or "none"


def _ours(*, writing: bool) -> tuple[int, IO[bytes]]:
    read, write = os.pipe()
    theirs, ours = (read, write) if writing else (write, read)
    return theirs, os.fdopen(ours, "wb" if writing else "rb", buffering=0)
