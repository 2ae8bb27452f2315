"""The official SDKs against a cassette: recorded from their own requests, stored, loaded, played to other ones."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
import yaml

from pytest_agentcontract.cassette.exchange import Cassette, Ending, Origin, Piece, Recorded
from pytest_agentcontract.cassette.file.store import load, save
from pytest_agentcontract.cassette.matching.index import Index
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.cassette.served import upstreams_of
from pytest_agentcontract.cassette.upstreams import UPSTREAMS, environment, upstream_url
from pytest_agentcontract.jsonvalue import dumps, loads
from pytest_agentcontract.provider.http import Connection, Incoming, head
from pytest_agentcontract.provider.replayer import Replayer
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.turn import Call, Turn

genai = pytest.importorskip("google.genai")

HTTP_CLIENT = next(base for base in anthropic.DefaultHttpxClient.__mro__ if base.__module__.startswith("httpx"))
BROKEN: type[Exception] = import_module(HTTP_CLIENT.__module__.partition(".")[0]).TransportError
"""What the SDK lets through when a stream breaks: the error of the HTTP client that it is built on."""
TEXT = "Grüße, 世界 😀: one two three"
TURN = Turn(TEXT, calls=(Call("search", {"q": "x\u2028y"}),))
KEYS = ("sk-first-" + "a1B2c3" * 6, "sk-other-" + "d4E5f6" * 6)
TOOL: Any = {"name": "search", "input_schema": {"type": "object"}}
FUNCTION: Any = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
USER: Any = [{"role": "user", "content": "Hi"}]


@dataclass
class Clients:
    """The official clients below one base URL, with one key."""

    base: str
    key: str
    guests: ExitStack

    @cached_property
    def claude(self) -> anthropic.Anthropic:
        """Anthropic's; like the others it does not ask again by itself."""
        return self._claude(0)

    @cached_property
    def patient(self) -> anthropic.Anthropic:
        """Anthropic's, which does."""
        return self._claude(3)

    @cached_property
    def gpt(self) -> openai.OpenAI:
        """OpenAI's."""
        url = environment(self.base)["OPENAI_BASE_URL"]
        return self.guests.enter_context(openai.OpenAI(base_url=url, api_key=self.key, max_retries=0))

    @cached_property
    def gemini(self) -> Any:
        """Google's."""
        options = {"base_url": environment(self.base)["GOOGLE_GEMINI_BASE_URL"]}
        return self.guests.enter_context(genai.Client(api_key=self.key, http_options=options))

    def _claude(self, retries: int) -> anthropic.Anthropic:
        url = environment(self.base)["ANTHROPIC_BASE_URL"]
        return self.guests.enter_context(anthropic.Anthropic(base_url=url, api_key=self.key, max_retries=retries))


def messages(clients: Clients) -> object:
    """Ask for a message."""
    return clients.claude.messages.create(model="m", max_tokens=9, messages=USER, tools=[TOOL]).model_dump()


def messages_streamed(clients: Clients) -> object:
    """Ask for a message, and put its events together."""
    with clients.claude.messages.stream(model="m", max_tokens=9, messages=USER, tools=[TOOL]) as stream:
        return [*stream.text_stream], stream.get_final_message().model_dump()


def chat(clients: Clients) -> object:
    """Ask for a completion."""
    return clients.gpt.chat.completions.create(model="m", messages=USER, tools=[FUNCTION]).model_dump()


def chat_streamed(clients: Clients) -> object:
    """Ask for a completion in chunks."""
    chunks = clients.gpt.chat.completions.create(model="m", messages=USER, tools=[FUNCTION], stream=True)
    return [chunk.model_dump() for chunk in chunks]


def responses(clients: Clients) -> object:
    """Ask for a response."""
    return clients.gpt.responses.create(model="m", input="Hi").model_dump()


def responses_streamed(clients: Clients) -> object:
    """Ask for a response in events."""
    return [event.model_dump() for event in clients.gpt.responses.create(model="m", input="Hi", stream=True)]


def gemini(clients: Clients) -> object:
    """Ask for content."""
    return clients.gemini.models.generate_content(model="gemini-pro", contents="Hi").model_dump(exclude=HTTP)


def gemini_streamed(clients: Clients) -> object:
    """Ask for content in pieces."""
    pieces = clients.gemini.models.generate_content_stream(model="gemini-pro", contents="Hi")
    return [piece.model_dump(exclude=HTTP) for piece in pieces]


HTTP = {"sdk_http_response"}
"""What Google's client adds of its own: headers, which are not all stored."""

QUESTIONS = [messages, messages_streamed, chat, chat_streamed, responses, responses_streamed, gemini, gemini_streamed]
Question = Callable[[Clients], object]


@dataclass
class Taker:
    """A guest who answers as the providers do, each event in a write of its own, and takes what is said."""

    taken: list[Recorded] = field(default_factory=list)

    def serve(self, connection: Connection, incoming: Incoming, path: str) -> None:
        """Answer one model request."""
        connection.owner = self
        below = path.removeprefix("/anthropic").removeprefix("/openai").removeprefix("/gemini")
        wire = next(wire for wire in FORMATS.values() if wire.owns(incoming.method, below))
        request = wire.decode_request(loads(incoming.body), f"{below}?{incoming.query}")
        serial = len(self.taken) + 1
        if request.stream:
            kind, parts = "text/event-stream", [event.data for event in wire.encode_stream(TURN, request, serial)]
        else:
            kind, parts = "application/json", [dumps(wire.encode_whole(TURN, request, serial)).encode()]
        headers = {"content-type": kind, "content-length": str(sum(map(len, parts))), "request-id": "req_1"}
        url, lines = upstream_url(UPSTREAMS, path, incoming.query) or "", tuple(incoming.headers.items())
        pieces = tuple(Piece(0.001, part) for part in parts)
        self.taken.append(
            Recorded(incoming.method, url, lines, incoming.body, 200, "OK", tuple(headers.items()), pieces)
        )
        connection.write(head(200, headers) + b"".join(parts))

    def close(self) -> None:
        """Do nothing: it holds nothing."""


@pytest.fixture
def meet(provider: Provider) -> Iterator[Callable[..., Clients]]:
    """Return a function that seats a guest, and opens clients for him."""
    with ExitStack() as guests:

        def seat(guest: Any, key: str = KEYS[0]) -> Clients:
            place = provider.place()
            provider.admit(guest, place)
            guests.callback(provider.dismiss, guest, place)
            return Clients(provider.url(place), key, guests)

        yield seat


def replaying(cassette: Cassette, **more: Any) -> Replayer:
    """Return a guest who plays a cassette."""
    return Replayer(Index(cassette, Scrubber({}).scrub), upstreams_of(cassette), **more)


@pytest.mark.parametrize("pace", ["zero", "recorded"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_client_hears_what_was_recorded(
    meet: Callable[..., Clients], tmp_path: Path, question: Question, pace: str
) -> None:
    """From a file without secrets, asked with another key: the same, event by event."""
    taker, path = Taker(), tmp_path / "cassette.yaml"
    said = question(meet(taker))
    scrub = Scrubber({}).scrub
    save(Cassette(tuple(map(scrub, taker.taken)), Origin(UPSTREAMS)), path)
    assert KEYS[0] not in path.read_text("utf-8")
    guest = replaying(load(path), pace=pace)
    assert question(meet(guest, KEYS[1])) == said
    assert guest.misses == []
    assert guest._index.unplayed == {}


def test_all_clients_of_one_cassette_in_another_order(meet: Callable[..., Clients], tmp_path: Path) -> None:
    """Side by side, as parallel agents ask."""
    taker, path = Taker(), tmp_path / "cassette.yaml"
    clients = meet(taker)
    said = {question: question(clients) for question in QUESTIONS}
    save(Cassette(tuple(map(Scrubber({}).scrub, taker.taken)), Origin(UPSTREAMS)), path)
    guest = replaying(load(path))
    others = meet(guest, KEYS[1])

    async def all_at_once() -> list[object]:
        return await asyncio.gather(*(asyncio.to_thread(question, others) for question in reversed(QUESTIONS)))

    assert asyncio.run(all_at_once()) == [said[question] for question in reversed(QUESTIONS)]
    assert guest._index.unplayed == {}


def test_a_miss_is_an_error_of_the_sdk(meet: Callable[..., Clients]) -> None:
    """At once, for no client asks again; each reads the message in its own provider's form."""
    guest = replaying(Cassette())
    clients = meet(guest)
    with pytest.raises(anthropic.BadRequestError, match="the cassette is empty"):
        clients.patient.messages.create(model="m", max_tokens=9, messages=USER)
    with pytest.raises(openai.BadRequestError, match="the cassette is empty"):
        responses(clients)
    with pytest.raises(genai.errors.ClientError, match="the cassette is empty"):
        gemini(clients)
    assert [miss.url.split("/")[2] for miss in guest.misses] == [
        "api.anthropic.com",
        "api.openai.com",
        "generativelanguage.googleapis.com",
    ]


@pytest.mark.parametrize("before", [[(429, "whole")], [(0, "reset")], [(0, "closed"), (529, "whole"), (200, "closed")]])
def test_retries_are_played_as_they_went(meet: Callable[..., Clients], before: list[tuple[int, Ending]]) -> None:
    """A client that asks again gets what it got when it asked again."""
    taker = Taker()
    said = messages(meet(taker))
    [well] = taker.taken
    error = dumps(FORMATS["anthropic-messages"].encode_error(529, "Overloaded")).encode()
    headers = (("content-type", "application/json"), ("retry-after-ms", "1"))
    failed = [
        replace(
            well,
            status=status,
            headers=headers,
            pieces=(Piece(0, error[:20] if ending == "closed" else error),) if status else (),
            ending=ending,
        )
        for status, ending in before
    ]
    guest = replaying(Cassette((*failed, well)))
    patient = meet(guest).patient
    answer = patient.messages.create(model="m", max_tokens=9, messages=USER, tools=[TOOL])
    assert answer.model_dump() == said
    assert guest._index.unplayed == {}


def test_a_stream_that_broke_off(meet: Callable[..., Clients]) -> None:
    """The client hears as much as was recorded, and then that the rest is missing."""
    taker = Taker()
    messages_streamed(meet(taker))
    [whole] = taker.taken
    cut = replace(whole, pieces=whole.pieces[:-3], ending="reset")
    heard: list[str] = []
    ask = meet(replaying(Cassette((cut,)))).claude.messages.create
    with pytest.raises(BROKEN):
        heard.extend(event.type for event in ask(model="m", max_tokens=9, messages=USER, tools=[TOOL], stream=True))
    sent = [line[7:] for piece in cut.pieces for line in piece.data.decode().splitlines() if line[:7] == "event: "]
    assert heard == [name for name in sent if name != "ping"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_cassette_of_stock_vcrpy(meet: Callable[..., Clients], tmp_path: Path, *, packed: bool) -> None:
    """No origin, keys in its headers, bodies compressed as they travelled: it is played to all the same."""
    taker, path = Taker(), tmp_path / "stock.yaml"
    clients = meet(taker)
    asked = [messages, chat, gemini]
    said = [question(clients) for question in asked]
    interactions = [
        {
            "request": {
                "method": each.method,
                "uri": f"{each.url}{'&' if '?' in each.url else '?'}key={KEYS[0]}"
                if "google" in each.url
                else each.url,
                "body": each.request_body.decode(),
                "headers": {"authorization": [f"Bearer {KEYS[0]}"], "accept-encoding": ["gzip"]},
            },
            "response": {
                "status": {"code": each.status, "message": each.reason},
                "headers": {"Content-Type": ["application/json"], **({"Content-Encoding": ["gzip"]} if packed else {})},
                "body": {"string": gzip.compress(each.body) if packed else each.body.decode()},
            },
        }
        for each in taker.taken
    ]
    path.write_text(yaml.safe_dump({"version": 1, "interactions": interactions}), "utf-8")
    guest = replaying(load(path))
    others = meet(guest, KEYS[1])
    assert [question(others) for question in asked] == said
    assert guest.misses == []


def test_agents_with_their_own_answers(meet: Callable[..., Clients]) -> None:
    """The header by which they name themselves decides where they ask the same."""

    def named(answer: str, agent: str) -> Recorded:
        return Recorded(
            "POST",
            "https://api.openai.com/v1/responses",
            (("x-agent", agent),),
            b'{"model": "m", "input": "Hi"}',
            400,
            "",
            (("content-type", "application/json"),),
            (Piece(0, dumps({"error": {"message": answer}}).encode()),),
        )

    gpt = meet(replaying(Cassette((named("to ann", "ann"), named("to bob", "bob"))))).gpt
    for agent in ("bob", "ann"):
        with pytest.raises(openai.BadRequestError, match=f"to {agent}"):
            gpt.responses.create(model="m", input="Hi", extra_headers={"x-agent": agent})
