"""One provider for the tests of this folder, and for each test seats and clients: the official SDKs, bare sockets."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anthropic
import openai
import pytest

from pytest_agentcontract.provider.seat import Seat
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, ScriptedTurn
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.scenario.profile import Binding, Profile, ResultRule
from pytest_agentcontract.scenario.script import Script

PROFILE = Profile(
    "p",
    "command",
    {},
    ResultRule(),
    frozenset(),
    tools={"return": Binding("reply", payload="/value"), "work": Binding("touch", {"path": "{mark}"})},
)


@dataclass
class Table:
    """One seat, and what a client needs to sit down at it."""

    seat: Seat
    script: Script
    wire: str
    port: int
    guests: ExitStack = field(default_factory=ExitStack)

    @property
    def path(self) -> str:
        """The path of model requests."""
        below = {"anthropic-messages": "/v1/messages", "openai-chat": "/v1/chat/completions"}[self.wire]
        return urlsplit(self.seat.base_url).path + below

    def body(self, agent: str = "root", **extra: object) -> dict[str, Any]:
        """Build a request body of an agent that has heard nothing yet."""
        message = {"role": "user", "content": f"Hi [[{agent}-{self.script.places.nonces.public}]]"}
        return {"model": "m", "max_tokens": 9, "messages": [message], **extra}

    def request(self, agent: str = "root", **extra: object) -> bytes:
        """Render such a request as the bytes of an HTTP request."""
        content = json.dumps(self.body(agent, **extra)).encode()
        head = f"POST {self.path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n"
        return head.encode() + content

    def raw(self, data: bytes) -> Line:
        """Open a bare connection and send bytes over it."""
        line = Line(self.guests.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=5)))
        line.socket.sendall(data)
        return line

    def anthropic(self, **options: Any) -> anthropic.Anthropic:
        """Return the official client of one wire format."""
        return self.guests.enter_context(anthropic.Anthropic(base_url=self.seat.base_url, api_key="k", **options))

    def openai(self, **options: Any) -> openai.OpenAI:
        """Return the official client of the other wire format."""
        return self.guests.enter_context(openai.OpenAI(base_url=f"{self.seat.base_url}/v1", api_key="k", **options))

    def close(self) -> tuple[Exchange, ...]:
        """End the seat."""
        return self.seat.close()


@dataclass
class Line:
    """A bare connection; `end` is how the other side ended it."""

    socket: socket.socket
    end: str = ""

    def read_to_end(self) -> bytes:
        """Read until the other side ends the connection, and note how."""
        got = b""
        try:
            while piece := self.socket.recv(65536):
                got += piece
            self.end = "fin"
        except ConnectionResetError:
            self.end = "rst"
        return got

    def read_until(self, mark: bytes) -> bytes:
        """Read until some bytes have come."""
        got = b""
        while mark not in got:
            piece = self.socket.recv(65536)
            if not piece:
                self.end = "fin"
                break
            got += piece
        return got


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever proxy the machine declares, the SDKs come to us directly."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """One server, as in a real run."""
    with Provider() as running:
        yield running


@pytest.fixture
def play(provider: Provider) -> Iterator[Callable[..., Table]]:
    """Seat a root's script (and its children's); all seats are closed after the test."""
    tables: list[Table] = []
    numbers = itertools.count(1)

    def seat(*root: ScriptedTurn, wire: str = "anthropic-messages", **children: tuple[ScriptedTurn, ...]) -> Table:
        case = Case("g/n", "t", "w", (), Given("json", "Go."), {"root": root, **children}, Expect())
        script = Script(case, PROFILE, Nonces(f"n{next(numbers)}", "s"), Path("runs"))
        tables.append(Table(provider.open(script, wire), script, wire, provider.port))
        return tables[-1]

    yield seat
    for table in tables:
        table.guests.close()
        table.close()
