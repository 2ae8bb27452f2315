"""The shipped recordings, played to the clients that they are of: with no network, no keys, and an empty home."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_agentcontract import resources
from tests.clients import launch
from tests.clients.launch import CLIENTS, COPY, FINAL, FOLDER, NOTES, SAY

pytestmark = pytest.mark.network

DEAD = "http://127.0.0.1:9"


@pytest.fixture
def replayed(program, run, folder: Path) -> Callable[..., object]:
    """Return a function that lets a client work on a note, with the models that its recording has for it."""

    def start(name: str, note: str = SAY) -> object:
        client = CLIENTS[name]
        program(client.program)
        (folder / NOTES).write_text(note, "utf-8")
        return run(
            *(sys.executable, "-m", "pytest_agentcontract"),
            *("replay", resources.cassettes() / client.wire / f"{name}.yaml"),
            *("--", sys.executable, launch.__file__, name),
            **{FOLDER: os.environ[FOLDER], "HTTP_PROXY": DEAD, "HTTPS_PROXY": DEAD},
        )

    return start


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_works_from_its_recording(replayed, folder, name):
    """Its tool runs, it asks for every entry and for nothing else, and says last what was recorded."""
    ended = replayed(name)
    assert ended.code == 0, ended.out + ended.err
    assert "played as it was recorded" in ended.err
    assert FINAL in ended.out
    assert (folder / COPY).read_text("utf-8") == CLIENTS[name].made


def test_another_note_is_another_request(replayed):
    """What the tool gives back is part of what is asked: the run fails, and names the place."""
    ended = replayed("codex", "buy bread\n")
    assert ended.code == 1
    assert "entry 3 is nearest, and differs in its body at /input/9/output/1/text" in ended.err
