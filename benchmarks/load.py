"""The load: keeps a number of connections busy for some time, and prints what came of it as one line of JSON.

It is a program of its own, so that its CPU is not the server's, and does no more per answer than finding its end.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import time
from dataclasses import dataclass, field
from typing import cast

from question import AGENTS, NUMBER, Shape, request

PATIENCE = 30.0
_END_OF_CHUNKS = b"\r\n0\r\n\r\n"
_NUMBER = NUMBER.encode()
_READ = 1 << 18


@dataclass(slots=True)
class Line:
    """One agent's connection. It is opened again when the server has closed it."""

    port: int
    question: bytes
    socket: socket.socket = field(init=False)
    closing: bool = False
    _came: bytearray = field(default_factory=bytearray)
    _body_at: int = 0
    _length: int | None = None

    def connect(self) -> None:
        """Open the connection."""
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.closing = False

    def ask(self, number: int) -> None:
        """Send the question once more, with a number of its own."""
        self._came.clear()
        self._body_at, self._length = 0, None
        before, old, after = self.question.rpartition(_NUMBER)
        self.socket.sendall(b"%b%0*d%b" % (before, len(old), number, after))

    def read(self) -> bool | None:
        """Read what has come; tell whether a right (True) or a wrong answer is whole, None while it is not."""
        data = self.socket.recv(_READ)
        self._came += data
        if not data:
            until_closed = self.closing and self._length is None and self._body_at > 0
            self.closing = True
            return until_closed and self._good()
        if not self._body_at and not self._head():
            return None
        if self._length is not None:
            return self._good() if len(self._came) >= self._body_at + self._length else None
        if self.closing:
            return None
        return self._good() if self._came.endswith(_END_OF_CHUNKS) else None

    def _good(self) -> bool:
        return self._came[8:13] == b" 200 "

    def _head(self) -> bool:
        at = self._came.find(b"\r\n\r\n")
        if at < 0:
            return False
        lines = dict(line.split(b": ", 1) for line in bytes(self._came[:at]).lower().split(b"\r\n")[1:])
        self._body_at = at + 4
        chunked = lines.get(b"transfer-encoding") == b"chunked"
        self._length = int(lines[b"content-length"]) if b"content-length" in lines else None
        self.closing = lines.get(b"connection") == b"close" or (self._length is None and not chunked)
        return True


def run(lines: list[Line], seconds: float, most: int) -> dict[str, float]:
    """Keep all lines busy until the time is up or enough is asked; what was begun is waited for."""
    waiting = selectors.DefaultSelector()
    begun = time.perf_counter()
    asked = right = wrong = 0

    def more(line: Line) -> None:
        nonlocal asked
        if time.perf_counter() - begun < seconds and (not most or asked < most):
            asked += 1
            if line.closing:
                line.socket.close()
                line.connect()
            line.ask(asked)
            waiting.register(line.socket, selectors.EVENT_READ, line)

    for line in lines:
        line.connect()
        more(line)
    while waiting.get_map() and time.perf_counter() - begun < seconds + PATIENCE:
        for key, _ in waiting.select(1):
            line = cast("Line", key.data)
            answer = line.read()
            if answer is not None:
                right, wrong = right + answer, wrong + (not answer)
                waiting.unregister(line.socket)
                more(line)
    return {"right": right, "wrong": wrong + len(waiting.get_map()), "seconds": time.perf_counter() - begun}


def main() -> None:
    """Put the load that the command line asks for on a server."""
    options = argparse.ArgumentParser()
    options.add_argument("port", type=int)
    options.add_argument("path")
    options.add_argument("shape", choices=["json", "stream"])
    options.add_argument("--lines", type=int, required=True)
    options.add_argument("--seconds", type=float, required=True)
    options.add_argument("--most", type=int, default=0)
    asked = options.parse_args()
    shape: Shape = asked.shape
    lines = [Line(asked.port, request(asked.path, agent % AGENTS, shape)) for agent in range(asked.lines)]
    print(json.dumps(run(lines, asked.seconds, asked.most)))


if __name__ == "__main__":
    main()
