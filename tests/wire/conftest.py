"""A provider of a few lines: it answers the official SDKs over loopback with what the wire formats encode."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import openai
import pytest

from pytest_agentcontract.jsonvalue import dumps, loads
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Turn


@dataclass
class Desk:
    """What is answered to the next requests, and what the last ones were decoded to."""

    turn: Turn = field(default_factory=lambda: Turn("ok"))
    status: int = 200
    requests: list[Request] = field(default_factory=list)

    @property
    def request(self) -> Request:
        """What the last request was decoded to."""
        return self.requests[-1]

    def answer(self, target: str, body: bytes) -> tuple[int, str, bytes]:
        """Decode one request and encode its answer: status, content type, body."""
        wire = next(wire for wire in FORMATS.values() if wire.owns("POST", target.partition("?")[0]))
        request = wire.decode_request(loads(body), target)
        self.requests.append(request)
        if self.status != 200:
            return self.status, "application/json", dumps(wire.encode_error(self.status, "scripted")).encode()
        if not request.stream:
            return 200, "application/json", dumps(wire.encode_whole(self.turn, request, len(self.requests))).encode()
        events = wire.encode_stream(self.turn, request, len(self.requests))
        return 200, "text/event-stream", b"".join(event.data for event in events)


class _Handler(BaseHTTPRequestHandler):
    desk: Desk

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        status, kind, answer = self.desk.answer(self.path, body)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture(scope="session")
def _listener() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def url(_listener: ThreadingHTTPServer) -> Iterator[str]:
    """Give the base URL of the listener, which no proxy stands before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield f"http://127.0.0.1:{_listener.server_address[1]}"


@pytest.fixture
def desk() -> Desk:
    """Put a fresh desk behind the one listener."""
    _Handler.desk = Desk()
    return _Handler.desk


@pytest.fixture(scope="session")
def claude(url: str) -> Iterator[anthropic.Anthropic]:
    """Point the official Anthropic client at the desk."""
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="session")
def gpt(url: str) -> Iterator[openai.OpenAI]:
    """Point the official OpenAI client at the desk."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        yield client
