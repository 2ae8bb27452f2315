"""The shipped recordings, by themselves: clean, and as their clients' scripts say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pytest_agentcontract import resources
from pytest_agentcontract.cassette.upstreams import UPSTREAMS
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.soundness import faults
from pytest_agentcontract.scripted import load
from tests.clients.launch import CLIENTS, HERE
from tests.recorded.shipped import cassette_of, each, path_of, readings
from tests.recorded.taking import cassette, desk

ROOT = HERE.parents[1]
PINS = (".ci/programs", "examples/openai-agents/pyproject.toml", "tests/clients/requirements.txt")
PLACES = re.compile(
    r"/(?:tmp|home|Users|work|usr|var|opt|root(?!/copy\b|\"|\\|$))\b|[A-Z]:\\\\|\b(?:127\.0\.0\.1|localhost)\b"
)
"""What would tell of the machine; `/root` is what Codex calls the agent that began, and `/root/copy` its helper."""

LONGEST = 120
"""So long a text is no prompt."""


def texts(value: JSON) -> Iterator[str]:
    """Yield the texts of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def test_there_is_one_of_each_client_and_nothing_else():
    """Every file is a recording of a client that `make clients` plays it to."""
    found = set(resources.cassettes().rglob("*.yaml"))
    assert found == {path_of(name) for name in CLIENTS}


@each
def test_it_says_what_it_is(name):
    """That no model spoke, which client asked, in the version that is installed, and what was taken out."""
    origin = cassette_of(name).origin
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


@each
def test_it_holds_no_secret_no_prompt_and_no_place(name):
    """Neither a key, nor a text that somebody else wrote at length, nor a word of the machine it was recorded on."""
    path = path_of(name)
    assert list(faults(path)) == []
    assert path.stat().st_size < 300_000
    assert PLACES.findall(path.read_text("utf-8")) == []
    for entry in cassette_of(name).exchanges:
        assert entry.url.startswith("http://scripted.example/")
        assert [text for text in texts(json.loads(entry.request_body)) if len(text) > LONGEST] == []


def test_a_place_would_be_found():
    """Folders of a machine are; what Codex calls its agents is none."""
    for text in ("/root/.codex", "/home/me", "/tmp/x/work", '"cwd":"/root/x"', "http://127.0.0.1:8089"):  # noqa: S108
        assert PLACES.search(text)
    for text in ('"/root"', r"\"/root/copy\"", "Sender: /root/copy", "Task name: /root\\nSender"):
        assert not PLACES.search(text)


@each
def test_its_answers_are_the_script(name):
    """Turn by turn, fault by fault: what the client's script says to the same requests."""
    played, taken = desk(load.load(HERE / "scripts" / f"{name}.yaml")), readings(name)
    for one in taken:
        played.ask(one.recorded)
    assert played.script.left() == {}
    assert [(one.turn, one.fault) for one in read_all(cassette(*played.kept))] == [
        (one.turn, one.fault) for one in taken
    ]
