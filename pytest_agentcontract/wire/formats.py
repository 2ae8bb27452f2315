"""The wire formats that the provider speaks: one Protocol, one package each, one dict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire import anthropic_messages, gemini_generate, openai_chat, openai_responses
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import Event, Frame
from pytest_agentcontract.wire.turn import Turn


class WireFormat(Protocol):
    """What a package of this folder offers the provider; values in, values and bytes out.

    By `HEADER` its clients are known: it tells whose list of models is asked for where several formats are spoken. A
    `path` stands below the seat's prefix and has no query; a `target` is a path with its query.
    """

    NAME: str
    HEADER: str
    ECHOED: tuple[str, ...]

    def owns(self, method: str, path: str) -> bool:
        """Tell whether a request of this method and path is a model request."""

    def side_answer(self, method: str, path: str, body: bytes) -> JSON | None:
        """Answer what clients ask beside model requests (token counts, lists of models); None for anything else."""

    def decode_request(self, body: JSON, target: str = "") -> Request:
        """Read a request body; raise WireError with a JSON pointer where it can't be one."""

    def encode_whole(self, turn: Turn, request: Request, serial: int) -> JSON:
        """Render a turn as one response document.

        Ids that the turn leaves open are made of the eight digits of `serial`, and nothing else is. Of the request, an
        answer without calls depends on the model's name and on what stands at the JSON pointers `ECHOED` alone.
        """

    def encode_stream(self, turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
        """Render a turn as the events of a streamed response, to be written in this order."""

    def encode_error(self, status: int, message: str) -> JSON:
        """Render the native error body of a response with this status."""

    def encode_failure(self, status: int, message: str, sent: int) -> Event:
        """Render the error that a provider reports inside a stream, after `sent` events."""

    def decode_whole(self, body: JSON) -> Turn:
        """Read a response document; raise WireError with a JSON pointer where it can't be one."""

    def decode_stream(self, frames: Iterable[Frame]) -> Turn:
        """Read the events of a streamed response; raise WireError for one that is wrong or that reports an error.

        A stream that lacks its end is read as far as it goes: its stop is `absent`.
        """


FORMATS: Final[dict[str, WireFormat]] = {
    anthropic_messages.NAME: anthropic_messages,
    openai_chat.NAME: openai_chat,
    openai_responses.NAME: openai_responses,
    gemini_generate.NAME: gemini_generate,
}
"""Every wire format by its name, as profiles and case outcomes spell it."""
