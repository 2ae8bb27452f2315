"""The wire formats that the provider speaks: one Protocol, one module each, one dict."""

from __future__ import annotations

from typing import Final, Protocol

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire import anthropic_messages, openai_chat
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import Event
from pytest_agentcontract.wire.turn import Turn


class WireFormat(Protocol):
    """What a module of this package offers the provider; values in, values and bytes out."""

    NAME: str

    def owns(self, method: str, path: str) -> bool:
        """Tell whether a request of this method and path (below the seat's prefix, no query) is a model request."""

    def decode_request(self, body: JSON) -> Request:
        """Read a request body; raise WireError with a JSON pointer where it can't be one."""

    def encode_whole(self, turn: Turn, request: Request, serial: int) -> JSON:
        """Render a turn as one response document; ids that the turn leaves open derive from `serial`."""

    def encode_stream(self, turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
        """Render a turn as the events of a streamed response, to be written in this order."""

    def encode_error(self, status: int, message: str) -> JSON:
        """Render the native error body of a response with this status."""


FORMATS: Final[dict[str, WireFormat]] = {
    anthropic_messages.NAME: anthropic_messages,
    openai_chat.NAME: openai_chat,
}
"""Every wire format by its name, as profiles and case outcomes spell it."""
