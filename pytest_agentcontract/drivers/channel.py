"""Lines to and from a process that lives on: written and read in one loop, so that neither side can block the other."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

from pytest_agentcontract.drivers.outcome import LIMIT
from pytest_agentcontract.scenario.observation import Ended

LONGEST: Final = 64 * 1024 * 1024
"""How many bytes an adapter may write in answer to one request."""

_CHUNK = 65536
_TICK = 0.005


class Channel:
    """The three pipes of one process. What it writes is read only while something is awaited of it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.lines = 0
        self.stderr = bytearray()
        self._process = process
        self._inbox, self._searched, self._room = bytearray(), 0, LONGEST
        self._outbox = memoryview(b"")
        self._selector = selectors.DefaultSelector()
        self._ended: Ended | None = None
        for stream, read in ((process.stdout, self._read), (process.stderr, self._read_stderr)):
            if stream is not None:
                self._selector.register(stream, selectors.EVENT_READ, read)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)

    @property
    def partial(self) -> bytes:
        """What has been read and not been taken as a line."""
        return bytes(self._inbox)

    def stray(self) -> bytes | None:
        """Return a line, or the beginning of one, that nobody has asked for."""
        self._turn(0)
        return bytes(self._inbox.split(b"\n", 1)[0]) if self._inbox else None

    def post(self, line: bytes) -> None:
        """Send a line, as far as the process takes it now; the rest goes while an answer is awaited."""
        if not self._outbox and self._process.stdin is not None and not self._process.stdin.closed:
            self._selector.register(self._process.stdin, selectors.EVENT_WRITE, self._write)
        self._outbox = memoryview(bytes(self._outbox) + line)

    def renew(self) -> None:
        """Begin a request: standard error and the limit of output count from here."""
        self.stderr.clear()
        self._room = LONGEST

    def receive(self, deadline: float, meanwhile: Callable[[], None] | None = None) -> bytes | Ended:
        """Return the next line without its end, or why there will be none."""
        while (line := self._line()) is None:
            left = deadline - time.monotonic()
            if self._ended or left <= 0:
                return self._ended or "time-limit"
            if meanwhile is not None:
                meanwhile()
            gone = self._process.poll() is not None
            if not self._turn(min(left, _TICK if meanwhile else 10 * _TICK)) and gone:
                return "crashed"
        return line

    def drain(self, seconds: float) -> None:
        """Read on for a moment, for what a dying process still has to say."""
        deadline = time.monotonic() + seconds
        while self._selector.get_map() and (left := deadline - time.monotonic()) > 0 and self._turn(left):
            pass

    def close(self) -> None:
        """Give back the pipes."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                self._drop(stream)
        self._selector.close()

    def _line(self) -> bytes | None:
        end = self._inbox.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._inbox)
            return None
        line = bytes(self._inbox[:end])
        del self._inbox[: end + 1]
        self._searched = 0
        self.lines += 1
        return line.removesuffix(b"\r")

    def _turn(self, seconds: float) -> bool:
        """Do what can be done now, or within some seconds; tell whether anything was."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            key.data(key.fileobj)
        return bool(ready)

    def _read(self, stream: IO[bytes]) -> None:
        piece = os.read(stream.fileno(), _CHUNK)
        self._inbox += piece
        self._room -= len(piece)
        if not piece:
            self._drop(stream)
            self._ended = "crashed"
        elif self._room < 0:
            self._ended = "output-limit"

    def _read_stderr(self, stream: IO[bytes]) -> None:
        piece = os.read(stream.fileno(), _CHUNK)
        self.stderr += piece
        if not piece:
            self._drop(stream)
        elif len(self.stderr) > LIMIT:
            self._ended = "output-limit"

    def _write(self, stream: IO[bytes]) -> None:
        try:
            self._outbox = self._outbox[os.write(stream.fileno(), self._outbox[:_CHUNK]) :]
        except OSError:
            # It has closed its input; what it still writes, or its end, tells why.
            self._drop(stream)
        else:
            if not self._outbox:
                self._selector.unregister(stream)

    def _drop(self, stream: IO[bytes]) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(stream)
        with suppress(OSError):
            stream.close()
