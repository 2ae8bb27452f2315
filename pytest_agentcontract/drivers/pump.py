"""Keep a started program company: read what it prints, feed it its lines, notice when it exits. One thread, no polling.

Everything that can happen (output, room in the pipe to standard input, the exit) is a file descriptor of one selector;
only a conversation is looked at every few milliseconds, since its next line depends on the provider.
"""

from __future__ import annotations

import codecs
import os
import selectors
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Protocol

from pytest_agentcontract.drivers.conversation import Conversation
from pytest_agentcontract.drivers.outcome import LIMIT

_CHUNK = 65536
_TICK = 0.005


class Process(Protocol):
    """What is attended to: a program of ours, or one that another process has started for us."""

    @property
    def pid(self) -> int:
        """Its number, which is that of its session too."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Our end of its standard input, where that stays open."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """Our end of its standard output."""

    @property
    def stderr(self) -> IO[bytes] | None:
        """Our end of its standard error."""

    @property
    def returncode(self) -> int | None:
        """Its exit status once it has been waited for; negative for the signal that ended it."""

    def wait(self) -> int | None:
        """Block until it is gone."""


class Pump:
    """Reads and feeds one process until it has exited, printed too much, or a time is up."""

    def __init__(self, process: Process, hear: Callable[[str], None], talk: Conversation | None) -> None:
        self.stdout, self.stderr = bytearray(), bytearray()
        self.exited = self.flooded = False
        self._process, self._hear, self._talk = process, hear, talk
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unsent = memoryview(b"")
        self._selector = selectors.DefaultSelector()
        self._open: set[IO[bytes]] = set()
        self._watch_exit()
        for stream, held in ((process.stdout, self.stdout), (process.stderr, self.stderr)):
            self._watch_output(stream, held)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)

    @property
    def dry(self) -> bool:
        """Whether both outputs have been read to their end."""
        return not self._open

    def run(self, until: Callable[[], bool], seconds: float) -> bool:
        """Pump until a condition holds (True) or the time is up (False)."""
        deadline = time.monotonic() + seconds
        while not until():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._say()
            for key, _ in self._selector.select(min(left, _TICK) if self._talk else left):
                key.data()
        return True

    def close(self) -> None:
        """Give back every pipe, also those that a surviving process still holds open at its end."""
        self._hang_up()
        for stream in tuple(self._open):
            self._drop(stream)
        self._selector.close()

    def _watch_exit(self) -> None:
        bell, rung = os.pipe()

        def wait() -> None:
            self._process.wait()
            os.close(rung)

        def heard() -> None:
            self.exited = True
            self._selector.unregister(bell)
            os.close(bell)

        self._selector.register(bell, selectors.EVENT_READ, heard)
        threading.Thread(target=wait, daemon=True).start()

    def _watch_output(self, stream: IO[bytes] | None, held: bytearray) -> None:
        if stream is None:
            return

        def read() -> None:
            piece = os.read(stream.fileno(), _CHUNK)
            room = LIMIT - len(held)
            held.extend(piece[:room])
            self.flooded = self.flooded or len(piece) > room
            if held is self.stdout and piece:
                self._hear(self._decoder.decode(piece))
            if not piece or self.flooded:
                self._drop(stream)

        self._open.add(stream)
        self._selector.register(stream, selectors.EVENT_READ, read)

    def _say(self) -> None:
        """Begin the line that is due, or hang up where all has been said."""
        if self._talk is None or self._unsent or not self._talk.due:
            return
        line = self._talk.next()
        stdin = self._process.stdin
        if line is None or stdin is None:
            self._hang_up()
        else:
            self._unsent = memoryview(f"{line}\n".encode(errors="surrogatepass"))
            self._selector.register(stdin, selectors.EVENT_WRITE, self._write)

    def _write(self) -> None:
        stdin = self._process.stdin
        if stdin is None:
            return
        try:
            self._unsent = self._unsent[os.write(stdin.fileno(), self._unsent[:_CHUNK]) :]
        except BrokenPipeError:
            self._hang_up()
        else:
            if not self._unsent:
                self._selector.unregister(stdin)

    def _hang_up(self) -> None:
        self._talk = None
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed:
            self._drop(stdin)

    def _drop(self, stream: IO[bytes]) -> None:
        self._open.discard(stream)
        with suppress(KeyError):
            self._selector.unregister(stream)
        stream.close()
