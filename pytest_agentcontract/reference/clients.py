"""Asking the model: one request, its retries, and the answer put together from the stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSONObject, as_object, as_text, dumps, loads
from pytest_agentcontract.reference import chat_api, gemini_api, messages_api, responses_api
from pytest_agentcontract.reference.conversation import Answer, Ask
from pytest_agentcontract.reference.event_stream import EventReader
from pytest_agentcontract.reference.transport import Connections, ModelError, Response, Url
from pytest_agentcontract.reference.usage import Reading

if TYPE_CHECKING:
    from pytest_agentcontract.reference.rules import Rules

_DONE = b"[DONE]"
_WIRE_API = "OPENAI_WIRE_API"
_OK, _SERVER_ERROR = 200, 500
_PASSING = frozenset({408, 409, 429})


class Assembly(Protocol):
    """An answer in the making: `done` once its last event has come, `enough` if the stream may also end without one."""

    done: bool
    enough: bool

    def feed(self, event: JSONObject) -> None:
        """Take one event of the stream."""

    def answer(self) -> Answer:
        """Return what has arrived."""


class Emit(Protocol):
    """The seam at which everything that arrives is emitted, to the printer and to the usage meter."""

    def text(self, token: str) -> None:
        """Take one piece of text as it comes."""

    def end_of_message(self) -> None:
        """Take the end of a message, or of what arrived of it."""

    def reading(self) -> Reading:
        """Open the meter for one response."""


@dataclass(frozen=True, slots=True)
class Api:
    """What tells one provider's API from another's; its `path` may name the `{model}`."""

    path: str
    headers: Callable[[str], dict[str, str]]
    body: Callable[[Ask, str], JSONObject]
    assembly: Callable[[Callable[[str], None], Reading], Assembly]


_MESSAGES = Api(messages_api.PATH, messages_api.headers, messages_api.body, messages_api.Assembly)
_CHAT = Api(chat_api.PATH, chat_api.headers, chat_api.body, chat_api.Assembly)
_RESPONSES = Api(responses_api.PATH, responses_api.headers, responses_api.body, responses_api.Assembly)
_GEMINI = Api(gemini_api.PATH, gemini_api.headers, gemini_api.body, gemini_api.Assembly)


@dataclass(frozen=True, slots=True)
class Client:
    """One provider: how it is asked, and the connections to it, which end with the `async with` of the client."""

    api: Api
    connections: Connections
    key: str
    model: str
    rules: Rules
    patience: float | None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.connections.close()

    async def ask(self, ask: Ask, emit: Emit) -> Answer:
        """Return the model's whole answer; what lasts beyond the retries is a ModelError."""
        body = dumps(self.api.body(ask, self.model)).encode()
        for attempt in range(self.rules.retries + 1):
            try:
                return await self._patiently(body, emit)
            except ModelError as error:
                fault = error
            finally:
                emit.end_of_message()
            if not fault.passing or attempt == self.rules.retries:
                break
            await asyncio.sleep(self.rules.backoff * 2**attempt)
        raise fault

    async def _patiently(self, body: bytes, emit: Emit) -> Answer:
        """Give a silent provider up; whoever has waited so long does not begin again."""
        try:
            async with asyncio.timeout(self.patience) as silence:
                return await self._attempt(body, emit, silence)
        except TimeoutError as error:
            raise ModelError("no answer in time", passing=False) from error

    async def _attempt(self, body: bytes, emit: Emit, silence: asyncio.Timeout) -> Answer:
        path = self.api.path.format(model=self.model)
        async with self.connections.post(path, self.api.headers(self.key), body) as response:
            if response.status != _OK:
                raise _refusal(response, await response.read_all())
            reading = emit.reading()
            assembly = self.api.assembly(emit.text, reading)
            try:
                await self._read(response, assembly, silence)
            except ModelError as fault:
                return self._salvage(assembly, fault)
            reading.complete = True
            return assembly.answer()

    async def _read(self, response: Response, assembly: Assembly, silence: asyncio.Timeout) -> None:
        events = EventReader()
        while not assembly.done:
            piece = await response.read()
            if self.patience is not None:
                silence.reschedule(asyncio.get_running_loop().time() + self.patience)
            if not piece and assembly.enough:
                return
            if not piece:
                raise ModelError("the stream ended before its last event")
            for data in events.feed(piece):
                self._event(assembly, data)

    def _event(self, assembly: Assembly, data: bytes) -> None:
        if data == _DONE:
            assembly.done = True
            return
        try:
            event = loads(data)
        except ValueError as error:
            if self.rules.malformed is None:
                raise ModelError(f"the stream holds a malformed event: {error}") from error
            self._event(assembly, self.rules.malformed)
            return
        assembly.feed(as_object(event))

    def _salvage(self, assembly: Assembly, fault: ModelError) -> Answer:
        answer = self.rules.on_cut(assembly.answer())
        if answer is None:
            raise fault
        return answer


def connect(env: Mapping[str, str], rules: Rules) -> Client:
    """Make the client of the provider that the environment names; with several named, the first one's."""
    for api, address, prefix, default_url, model in (
        (_MESSAGES, "ANTHROPIC_BASE_URL", "ANTHROPIC", "https://api.anthropic.com", "claude-sonnet-4-5"),
        (_openai(env), "OPENAI_BASE_URL", "OPENAI", "https://api.openai.com/v1", "gpt-5"),
        (
            _GEMINI,
            "GOOGLE_GEMINI_BASE_URL",
            "GEMINI",
            "https://generativelanguage.googleapis.com",
            "gemini-2.5-flash",
        ),
    ):
        if address in env or f"{prefix}_API_KEY" in env:
            url = Url.parse(env.get(address) or default_url)
            key, name = env.get(f"{prefix}_API_KEY", ""), env.get(f"{prefix}_MODEL") or model
            return Client(api, Connections(url), key, name, rules, rules.patience(env))
    raise UsageError(
        "no provider is set up",
        where="environment",
        remedy="Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; another address is set like OPENAI_BASE_URL.",
    )


def _openai(env: Mapping[str, str]) -> Api:
    """Choose one of OpenAI's APIs, which have the same address and key."""
    apis, said = {"chat": _CHAT, "responses": _RESPONSES}, env.get(_WIRE_API, "chat")
    if said not in apis:
        raise UsageError(f"{said!r} is no API", where=f"environment, {_WIRE_API}", remedy=f"Write {' or '.join(apis)}.")
    return apis[said]


def _refusal(response: Response, body: bytes) -> ModelError:
    status = response.status
    passing = (status in _PASSING or status >= _SERVER_ERROR) and response.headers.get("x-should-retry") != "false"
    try:
        said = as_text(as_object(as_object(loads(body)).get("error")).get("message"))
    except ValueError:
        said = ""
    return ModelError(f"HTTP {status}: {said}" if said else f"HTTP {status}", passing=passing)
