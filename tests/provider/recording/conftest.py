"""Upstreams on bare sockets, which say exactly what a test wants, and a recorder before them."""

from __future__ import annotations

import queue
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Any

import h11
import pytest

from pytest_agentcontract.cassette.exchange import Recorded
from pytest_agentcontract.provider.recorder import Recorder
from pytest_agentcontract.provider.server import Provider

PATIENCE = 10
BODY = b'{"model": "m", "messages": []}'


@dataclass
class Caller:
    """A connection as a scripted upstream sees it."""

    socket: Any
    heard: bytes = b""

    def request(self) -> bytes:
        """Read one request, head and body; b"" when the other side has left."""
        while b"\r\n\r\n" not in self.heard:
            if not (piece := self.socket.recv(65536)):
                return b""
            self.heard += piece
        head, _, rest = self.heard.partition(b"\r\n\r\n")
        lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        length = int(lines.get(b"content-length", b"0"))
        while len(rest) < length:
            rest += self.socket.recv(65536)
        self.heard = rest[length:]
        return head + b"\r\n\r\n" + rest[:length]

    def say(self, data: bytes) -> None:
        """Send bytes."""
        self.socket.sendall(data)

    def reset(self) -> None:
        """End by RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def left(self) -> None:
        """Wait until the other side is gone."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass


Scene = Callable[[Caller], None]


class Upstream:
    """Plays a scene to every connection, each in a thread of its own; `asked` collects the requests of `answering`."""

    def __init__(self, scene: Scene, wrap: Callable[[socket.socket], Any] = lambda plain: plain) -> None:
        self.scene, self._wrap = scene, wrap
        self.connections = 0
        self.failures: list[BaseException] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._players: list[threading.Thread] = []
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """End, and tell what went wrong in a scene."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE)
        self._listener.close()
        for player in self._players:
            player.join(PATIENCE)
        if self.failures:
            raise self.failures[0]

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._players.append(threading.Thread(target=self._play, args=(line,)))
            self._players[-1].start()

    def _play(self, line: socket.socket) -> None:
        line.settimeout(PATIENCE)
        with line:
            try:
                with self._wrap(line) as spoken, suppress(ConnectionError):  # the other side may leave when it likes
                    self.scene(Caller(spoken))
            except BaseException as failure:  # noqa: BLE001 - told in the test's thread
                self.failures.append(failure)


@dataclass
class Client:
    """A bare connection to the recorder."""

    socket: socket.socket
    end: str = ""

    def say(self, data: bytes) -> None:
        """Send bytes."""
        self.socket.sendall(data)

    def read(self, until: bytes = b"\0nothing ends like this") -> bytes:
        """Read until some bytes came, or until the other side ended the connection; note how."""
        got = b""
        try:
            while not got.endswith(until):
                if not (piece := self.socket.recv(65536)):
                    self.end = "fin"
                    break
                got += piece
        except ConnectionResetError:
            self.end = "rst"
        return got


@dataclass
class Studio:
    """A recorder at a place of the provider, and what it has recorded."""

    recorder: Recorder
    port: int
    path: str
    kept: queue.Queue[Recorded] = field(default_factory=queue.Queue)
    guests: ExitStack = field(default_factory=ExitStack)

    @property
    def url(self) -> str:
        """The base URL of the recording."""
        return f"http://127.0.0.1:{self.port}{self.path}"

    def request(
        self, *headers: str, method: str = "POST", below: str = "/anthropic/v1/messages", **options: Any
    ) -> bytes:
        """Render a request."""
        body = options.get("body", b"" if method in {"GET", "HEAD"} else BODY)
        lines = ["host: x", *headers, *([f"content-length: {len(body)}"] if body else [])]
        first = f"{method} {self.path}{below} HTTP/{options.get('version', '1.1')}"
        return "\r\n".join([first, *lines, "", ""]).encode("latin-1") + body

    def ask(self, *headers: str, **options: Any) -> Client:
        """Open a connection and send a request."""
        client = Client(self.guests.enter_context(socket.create_connection(("127.0.0.1", self.port), PATIENCE)))
        client.say(self.request(*headers, **options))
        return client

    def recorded(self) -> Recorded:
        """Wait for the next exchange."""
        return self.kept.get(timeout=PATIENCE)


@dataclass
class Answer:
    """A response as a strict reader takes it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    chunks: int
    whole: bool
    interim: list[int] = field(default_factory=list)


def parsed(data: bytes, *, closed: bool = False, method: str = "POST") -> Answer:
    """Read a response with h11."""
    reader = h11.Connection(h11.CLIENT)
    reader.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
    reader.send(h11.EndOfMessage())
    reader.receive_data(data)
    if closed:
        reader.receive_data(b"")
    answer = Answer(0, [], b"", 0, whole=False)
    while True:
        try:
            event = reader.next_event()
        except h11.RemoteProtocolError:
            return answer
        if isinstance(event, h11.InformationalResponse):
            answer.interim.append(event.status_code)
        elif isinstance(event, h11.Response):
            answer.status, answer.headers = event.status_code, event.headers.raw_items()
        elif isinstance(event, h11.Data):
            answer.body += event.data
            answer.chunks += event.chunk_end
        else:
            answer.whole = isinstance(event, h11.EndOfMessage)
            return answer


def once(*said: bytes) -> Scene:
    """Return a scene: hear one request, say this, and end by FIN."""

    def scene(caller: Caller) -> None:
        caller.request()
        for data in said:
            caller.say(data)

    return scene


@pytest.fixture
def upstream() -> Iterator[Callable[..., Upstream]]:
    """Start upstreams; they end with the test."""
    with ExitStack() as open_ones:
        yield lambda *arguments: open_ones.enter_context(closing(Upstream(*arguments)))


@pytest.fixture
def studio(provider: Provider, upstream: Callable[..., Upstream]) -> Iterator[Callable[..., Studio]]:
    """Record a scene, or what is said at a URL; everything ends before the upstreams do."""
    with ExitStack() as open_ones:

        def record(scene: Scene | str, environ: Mapping[str, str] | None = None) -> Studio:
            url = scene if isinstance(scene, str) else upstream(scene).url
            kept: queue.Queue[Recorded] = queue.Queue()
            names = {"anthropic": url, "openai": f"{url}/v1", "gemini": url}
            recorder = Recorder(names, kept.put, environ or {})
            made = Studio(recorder, provider.port, provider.place(), kept)
            provider.admit(recorder, made.path)
            open_ones.callback(recorder.close)
            open_ones.callback(provider.dismiss, recorder, made.path)
            open_ones.enter_context(made.guests)
            return made

        yield record
