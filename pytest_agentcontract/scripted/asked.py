"""What a test reads of the requests that came in: decoded, in no provider's words."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.scenario.observation import Exchange, Kind
from pytest_agentcontract.wire.request import Message, Request
from pytest_agentcontract.wire.turn import Turn


@dataclass(frozen=True, slots=True)
class Asked:
    """One model request: who asked ("" is nobody), what, and which turn of the script answered it (0: none of it).

    `messages` has the texts, calls and results of each message; `body` is the request as it came.
    """

    agent: str
    kind: Kind
    turn: int
    request: Request
    answer: Turn | None
    delivered: bool
    retry: bool
    note: str

    @classmethod
    def of(cls, exchange: Exchange) -> Asked:
        """Read an exchange."""
        return cls(
            exchange.agent,
            exchange.kind,
            exchange.turn,
            exchange.request,
            exchange.answer,
            exchange.delivered,
            exchange.retry,
            exchange.note,
        )

    @property
    def wire(self) -> str:
        """The wire format's name."""
        return self.request.wire

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return self.request.model

    @property
    def system(self) -> str:
        """The system prompt, wherever the wire format puts it."""
        return self.request.system

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self.request.messages

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the advertised tools, in order."""
        return tuple(tool.name for tool in self.request.tools)

    @property
    def body(self) -> JSON:
        """The request's body as it came."""
        return self.request.body
