"""The shipped recordings, without the clients that they are of: clean, as scripted, and played to everybody who asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
import requests
import vcr
from google import genai
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion

from pytest_agentcontract import resources
from pytest_agentcontract.cassette import store
from pytest_agentcontract.cassette.exchange import Recorded
from pytest_agentcontract.cassette.upstreams import UPSTREAMS, environment
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.recorded.reading import Reading, read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.session import Session
from pytest_agentcontract.recorded.soundness import faults
from pytest_agentcontract.recorded.use import Use
from pytest_agentcontract.scripted import load
from pytest_agentcontract.wire.turn import Turn
from tests.clients.launch import CLIENTS, HERE
from tests.recorded.taking import again

ROOT = HERE.parents[1]
PINS = (".ci/programs", "examples/openai-agents/pyproject.toml", "tests/clients/requirements.txt")
PLACES = re.compile(
    r"/(?:tmp|home|Users|work|usr|var|opt|root(?!/copy\b|\"|\\|$))\b|[A-Z]:\\\\|\b(?:127\.0\.0\.1|localhost)\b"
)
"""What would tell of the machine; `/root` is what Codex calls the agent that began, and `/root/copy` its helper."""

LONGEST = 120
"""So long a text is no prompt."""

names = pytest.mark.parametrize("name", CLIENTS)


def path_of(name: str) -> Path:
    """Return where the recording of a client lies."""
    return resources.cassettes() / CLIENTS[name].wire / f"{name}.yaml"


def entries(name: str) -> tuple[Recorded, ...]:
    """Return what was recorded of a client."""
    return store.load(path_of(name)).exchanges


def readings(name: str) -> tuple[Reading, ...]:
    """Return what was recorded of a client, read."""
    return read_all(store.load(path_of(name)))


def texts(value: JSON) -> Iterator[str]:
    """Yield the texts of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def said(turn: Turn | None) -> tuple[object, ...]:
    """Return what a turn says, in a form that others can be brought to."""
    assert turn is not None
    return turn.thinking, turn.text, [(call.name, call.arguments_text) for call in turn.calls]


def test_there_is_one_of_each_client_and_nothing_else():
    """Every file is a recording of a client that `make clients` plays it to."""
    found = {path for path in resources.cassettes().rglob("*.yaml")}
    assert found == {path_of(name) for name in CLIENTS}


@names
def test_it_says_what_it_is(name):
    """That no model spoke, which client asked, in the version that is installed, and what was taken out."""
    origin = store.load(path_of(name)).origin
    told = re.fullmatch(
        rf"{name} ([\d.]+), recorded on its way to a scripted provider: no model said any of this\.(.*)", origin.note
    )
    assert told
    assert re.search(rf"\b{re.escape(told[1])}\b", "\n".join((ROOT / pin).read_text("utf-8") for pin in PINS))
    assert bool(told[2]) == bool(origin.elided)
    assert origin.elided == CLIENTS[name].elided
    assert {url for url in origin.upstreams.values() if url not in UPSTREAMS.values()} == {
        "http://scripted.example/v1" if CLIENTS[name].provider == "openai" else "http://scripted.example"
    }


@names
def test_it_holds_no_secret_no_prompt_and_no_place(name):
    """Neither a key, nor a text that somebody else wrote at length, nor a word of the machine it was recorded on."""
    path = path_of(name)
    assert list(faults(path)) == []
    assert path.stat().st_size < 300_000
    assert PLACES.findall(path.read_text("utf-8")) == []
    for entry in entries(name):
        assert entry.url.startswith("http://scripted.example/")
        assert [text for text in texts(json.loads(entry.request_body)) if len(text) > LONGEST] == []


def test_a_place_would_be_found():
    """Folders of a machine are; what Codex calls its agents is none."""
    for text in ("/root/.codex", "/home/me", "/tmp/x/work", '"cwd":"/root/x"', "http://127.0.0.1:8089"):  # noqa: S108
        assert PLACES.search(text)
    for text in ('"/root"', r"\"/root/copy\"", "Sender: /root/copy", "Task name: /root\\nSender"):
        assert not PLACES.search(text)


@names
def test_its_answers_are_the_script(name):
    """Turn by turn what the script of the client says, each fault with the delivery that it struck."""
    book = load.load(HERE / "scripts" / f"{name}.yaml")
    scripted = [said(one) for turns in book.agents.values() for one in turns]
    read = readings(name)
    assert {one.wire for one in read} == {CLIENTS[name].wire}
    whole = [said(one.turn) for one in read if one.fault is None]
    assert sorted(map(repr, whole)) == sorted(map(repr, scripted))
    [fault] = [one.fault for turns in book.agents.values() for one in turns if one.fault]
    assert [one.fault.status for one in read if one.fault] == [fault.status]


@names
def test_its_script_is_played_to_the_same_requests(name):
    """Nothing of it is beyond a script, and what is heard of that is what was recorded."""
    taken = store.load(path_of(name))
    made = imported(taken)
    assert made.dropped == ()
    assert made.lost == ()
    heard = again(made.script, taken)
    assert [(one.fault and one.fault.status, one.fault or said(one.turn)) for one in heard] == [
        (one.fault and one.fault.status, one.fault or said(one.turn)) for one in readings(name)
    ]


# ---- played to others than its client


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch):
    """Return a function that opens a recording for whoever asks, and asserts at the end that all of it was asked for."""
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    with Provider() as listener:
        opened: list[Session] = []

        def play(name: str) -> Session:
            opened.append(Session(listener, path_of(name), Use()))
            return opened[-1]

        yield play
        assert [session.close() for session in opened] == [""] * len(opened)


@names
def test_the_same_bytes_are_replayed(played, name):
    """Status and body of every answer."""
    session = played(name)
    upstream = store.load(path_of(name)).origin.upstreams[CLIENTS[name].provider]
    variable = next(key for key in environment("") if key.startswith(SDKS[CLIENTS[name].wire][0]))
    with httpx.Client(trust_env=False) as client:
        for entry in entries(name):
            url = f"{session.env[variable]}{entry.url.removeprefix(upstream)}"
            answer = client.post(url, content=entry.request_body, headers={"content-type": "application/json"})
            assert (answer.status_code, answer.content) == (entry.status, entry.body)


@names
@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_stock_vcrpy_plays_it(name, library):
    """Through the HTTP client of somebody who has nothing of ours, matched by what was asked; all of it is played."""
    matched_by = ["method", "uri", "body"]
    with vcr.use_cassette(str(path_of(name)), record_mode="none", match_on=matched_by) as stock:
        for entry in entries(name):
            kind = {"content-type": "application/json"}
            if library == "requests":
                answer = requests.post(entry.url, data=entry.request_body, headers=kind, timeout=5)
            else:
                answer = httpx.post(entry.url, content=entry.request_body, headers=kind)
            assert (answer.status_code, answer.content) == (entry.status, entry.body)
        assert stock.all_played


def claude(base: str, _url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by Anthropic's client for a stream, and let it put the message together."""
    with anthropic.Anthropic(base_url=base, api_key="k", max_retries=0) as client:
        del body["stream"]
        with client.messages.stream(**body) as stream:
            blocks = stream.get_final_message().content
    of_kind = {kind: [block for block in blocks if block.type == kind] for kind in ("thinking", "text", "tool_use")}
    return (
        "".join(block.thinking for block in of_kind["thinking"]),
        "".join(block.text for block in of_kind["text"]),
        [(block.name, block.input) for block in of_kind["tool_use"]],
    )


def chat(base: str, _url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by OpenAI's client for a completion."""
    with openai.OpenAI(base_url=base, api_key="k", max_retries=0) as client:
        answer = client.post("/chat/completions", body=body, cast_to=ChatCompletion)
    message = answer.choices[0].message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]
    return message.model_extra.get("reasoning_content", ""), message.content or "", calls


def responses(base: str, _url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by OpenAI's client for a response in events; the last one holds all of it."""
    named = {key: body.pop(key) for key in ("model", "input", "stream")}
    with openai.OpenAI(base_url=base, api_key="k", max_retries=0) as client:
        *_, last = client.responses.create(**named, extra_body=body)
    items = last.response.output
    thought = "".join(part.text for item in items if item.type == "reasoning" for part in item.summary)
    calls = [
        (f"{item.namespace}.{item.name}", json.loads(item.arguments)) for item in items if item.type == "function_call"
    ]
    free = [(f"{item.namespace}.{item.name}", item.input) for item in items if item.type == "custom_tool_call"]
    return thought, last.response.output_text, calls + free


def gemini(base: str, url: str, body: dict[str, Any]) -> tuple[object, ...]:
    """Ask by Google's client for a stream of pieces, with the very body."""
    model = url.rpartition("/")[2].partition(":")[0]
    with genai.Client(api_key="k", http_options={"base_url": base}) as client:
        asked = {"http_options": {"extra_body": body}}
        pieces = client.models.generate_content_stream(model=model, contents=body["contents"], config=asked)
        parts = [part for piece in pieces for part in _parts(piece)]
    return (
        "".join(part.text for part in parts if part.text and part.thought),
        "".join(part.text for part in parts if part.text and not part.thought),
        [(part.function_call.name, part.function_call.args) for part in parts if part.function_call],
    )


def _parts(piece: GenerateContentResponse) -> list[Any]:
    content = piece.candidates[0].content if piece.candidates else None
    return (content and content.parts) or []


SDKS = {
    "anthropic-messages": ("ANTHROPIC", claude, anthropic.APIStatusError),
    "openai-chat": ("OPENAI", chat, openai.APIStatusError),
    "openai-responses": ("OPENAI", responses, openai.APIStatusError),
    "gemini-generate": ("GOOGLE", gemini, genai.errors.APIError),
}


@names
def test_the_official_client_reads_it(played, name):
    """What the maker of the API makes of every answer is what was scripted; an error is an error of this status."""
    variable, ask, failure = SDKS[CLIENTS[name].wire]
    session = played(name)
    base = next(url for key, url in session.env.items() if key.startswith(variable) and key.endswith("_BASE_URL"))
    for one in readings(name):
        body = json.loads(one.recorded.request_body)
        if one.fault is not None:
            with pytest.raises(failure) as raised:
                ask(base, one.recorded.url, body)
            assert getattr(raised.value, "status_code", None) or raised.value.code == one.recorded.status
            continue
        thinking, text, calls = ask(base, one.recorded.url, body)
        assert (thinking, text) == (one.turn.thinking, one.turn.text)
        assert calls == [
            (call.name, call.arguments_text if call.free_text else json.loads(call.arguments_text))
            for call in one.turn.calls
        ]
