"""From traffic to a script and back: the official SDKs, recorded, hear the same from the script of their recording."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path

import anthropic
import openai
import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Origin
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber
from pytest_agentcontract.provider.recorder import Recorder
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.writing import text_of
from pytest_agentcontract.scripted import call, cut, load, status, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider, running

anthropic.Anthropic(api_key="k").close()  # loads what it loads late: a run inside a test would take that away again
openai.OpenAI(api_key="k").close()

SEARCH = {"type": "object", "properties": {"q": {"type": "string"}}}
TURNS = (
    turn("Let me see.", call("search", q="Oslo"), call("search", q="Bergen"), thinking="Two towns."),
    turn("Sunny, \u2713 all of it.", fault=status(429, "slow down", retry_after=0.01)),
)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    """Whatever proxy the machine declares, the SDKs come to us directly."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")


def claude(anthropic_url, openai_url, stream):
    """Converse by Anthropic's client."""
    del openai_url
    tools = [{"name": "search", "input_schema": SEARCH}]
    messages = [{"role": "user", "content": "Weather?"}]
    heard = []
    with anthropic.Anthropic(base_url=anthropic_url, api_key="k", max_retries=1) as client:
        for _ in range(2):
            asked = {"model": "claude", "max_tokens": 99, "messages": messages, "tools": tools}
            if stream:
                with client.messages.stream(**asked) as answer:
                    said = answer.get_final_message()
            else:
                said = client.messages.create(**asked)
            heard.append([block.model_dump(exclude={"citations"}) for block in said.content])
            messages += [{"role": "assistant", "content": said.content}]
            used = [block.id for block in said.content if block.type == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": one, "content": "sun"} for one in used]
            messages += [{"role": "user", "content": results}]
    return heard


def chat(anthropic_url, openai_url, stream):
    """Converse by OpenAI's client over Chat Completions."""
    del anthropic_url
    tools = [{"type": "function", "function": {"name": "search", "parameters": SEARCH}}]
    messages = [{"role": "user", "content": "Weather?"}]
    heard = []
    with openai.OpenAI(base_url=openai_url, api_key="k", max_retries=1) as client:
        for _ in range(2):
            asked = {"model": "gpt", "messages": messages, "tools": tools}
            if stream:
                with client.chat.completions.stream(**asked) as answer:
                    said = answer.get_final_completion().choices[0].message
            else:
                said = client.chat.completions.create(**asked).choices[0].message
            made = [(one.id, one.function.name, one.function.arguments) for one in said.tool_calls or ()]
            heard.append((said.content, made))
            messages += [said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)]
            messages += [{"role": "tool", "tool_call_id": one[0], "content": "sun"} for one in made]
    return heard


def responses(anthropic_url, openai_url, stream):
    """Converse by OpenAI's client over the Responses API."""
    del anthropic_url
    tools = [{"type": "function", "name": "search", "parameters": SEARCH, "strict": False}]
    items = [{"role": "user", "content": "Weather?"}]
    heard = []
    with openai.OpenAI(base_url=openai_url, api_key="k", max_retries=1) as client:
        for _ in range(2):
            asked = {"model": "gpt", "input": items, "tools": tools}
            if stream:
                with client.responses.stream(**asked) as answer:
                    said = answer.get_final_response()
            else:
                said = client.responses.create(**asked)
            made = [(one.call_id, one.arguments) for one in said.output if one.type == "function_call"]
            heard.append((said.output_text, made))
            items += [one.model_dump(exclude={"status", "parsed_arguments"}) for one in said.output]
            items += [{"type": "function_call_output", "call_id": one[0], "output": "sun"} for one in made]
    return heard


@pytest.fixture
def recorded():
    """Return a function that lets clients talk to a script through a recorder, and returns what both heard of it."""
    with ExitStack() as stack:
        yield lambda script, talk: _recorded(stack, script, talk)


def _recorded(stack, script, talk):
    upstream, listener = stack.enter_context(running()), stack.enter_context(Provider())
    script(upstream)
    upstreams = {"anthropic": upstream.url, "openai": upstream.openai_url}
    kept, scrubber = [], Scrubber({})
    recorder = Recorder(upstreams, lambda exchange: kept.append(scrubber.scrub(exchange)), {})
    place = listener.place()
    listener.admit(recorder, place)
    heard = talk(f"{listener.url(place)}/anthropic", f"{listener.url(place)}/openai/v1")
    listener.dismiss(recorder, place)
    recorder.close()
    upstream.verify()
    return heard, Cassette(tuple(kept), Origin(upstreams))


def replayed(folder: Path, tape: Cassette, talk, expected=()):
    """Play the script of a cassette, through the files of both, to the same clients."""
    store.save(tape, folder / "tape.yaml")
    made = imported(store.load(folder / "tape.yaml"))
    assert [note.what for note in made.notes] == [*expected]
    path = folder / "script.yaml"
    path.write_text(text_of(made.script, path), "utf-8")
    with running() as provider:
        provider.play_book(load.load(path))
        return talk(provider.url, provider.openai_url)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("talk", [claude, chat, responses], ids=lambda talk: talk.__name__)
def test_a_conversation_of_an_official_client(recorded, tmp_path, talk, stream):
    """With parallel calls, thinking, a 429 and the retry after it: the same to the last id, and nothing is named."""

    def converse(*urls):
        return talk(*urls, stream)

    heard, tape = recorded(lambda provider: provider.play(*TURNS), converse)
    assert [one.status for one in tape.exchanges] == [200, 429, 200]
    assert replayed(tmp_path, tape, converse) == heard


def test_agents_in_parallel(recorded, tmp_path):
    """Four at once, each with a prompt of its own: each hears its own answers again, in whatever order they ask."""
    names = [f"helper {letter}" for letter in "abcd"]

    def play(provider: ScriptedProvider):
        agents = {name.replace(" ", "-"): [turn(f"I am {name}."), turn(f"{name} is done.")] for name in names}
        marks = {name.replace(" ", "-"): f"You are {name}." for name in names}
        provider.play(by="system", marks=marks, **agents)

    def talk(_anthropic_url, openai_url):
        heard = {}
        together = threading.Barrier(len(names))

        def one(name):
            messages = [{"role": "system", "content": f"You are {name}."}, {"role": "user", "content": "Go."}]
            with openai.OpenAI(base_url=openai_url, api_key="k", max_retries=0) as client:
                for _ in range(2):
                    together.wait(30)
                    said = client.chat.completions.create(model="m", messages=messages).choices[0].message.content
                    messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "And?"}]
            heard[name] = messages

        threads = [threading.Thread(target=one, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return heard

    heard, tape = recorded(play, talk)
    assert len(tape.exchanges) == 8
    assert replayed(tmp_path, tape, talk) == heard
    assert replayed(tmp_path, tape, talk) == heard


def test_a_stream_that_was_reset(recorded, tmp_path):
    """It breaks at the same place again, and the client that gives up is not asked for more."""

    def talk(_anthropic_url, openai_url):
        heard = []
        with openai.OpenAI(base_url=openai_url, api_key="k", max_retries=0) as client:
            try:
                with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "Hi"}]) as events:
                    heard += [event.delta for event in events if event.type == "content.delta"]
            except Exception as error:  # noqa: BLE001 - whatever the client makes of it, it is to be the same again
                heard.append(type(error).__name__)
        return heard

    told = turn("A rather long answer, of which not all arrives.", fault=cut(4, "rst"), final=True)
    heard, tape = recorded(lambda provider: provider.play(told), talk)
    assert tape.exchanges[0].ending == "reset"
    again = replayed(tmp_path, tape, talk)
    assert ("".join(again[:-1]), again[-1]) == ("".join(heard[:-1]), heard[-1])
