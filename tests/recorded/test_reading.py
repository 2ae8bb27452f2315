"""An exchange is read by the wire format that owns its path, below whatever base URL the provider has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Piece
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.scripted import status, turn
from pytest_agentcontract.scripted.playbook import Playbook
from pytest_agentcontract.wire.faults import ErrorFault, StatusFault
from tests.recorded.taking import asked, cassette, desk, said

PATHS = {
    "https://openrouter.ai/api/v1/chat/completions": "openai-chat",
    "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1": "openai-chat",
    "http://127.0.0.1:8000/case/1-ab/v1/responses": "openai-responses",
    "https://gateway.example/anthropic/v1/messages?beta=true": "anthropic-messages",
    "https://eu.example/v1/projects/p/locations/l/publishers/google/models/m:generateContent": "gemini-generate",
}


@pytest.mark.parametrize("where", PATHS)
def test_the_end_of_a_path_tells_the_wire_format(where):
    """Where the cassette does not say whom it was recorded from."""
    name = PATHS[where]
    model = desk(Playbook({"root": (turn("Hello."),)}))
    exchange = replace(model.ask(asked(name, said(name, "Hi"), stream=False)), url=where)
    (reading,) = read_all(Cassette((exchange,)))
    assert (reading.wire, reading.problem, reading.turn.text) == (name, "", "Hello.")


def test_below_a_known_base_url_the_whole_path_tells_it():
    """Another API's path that ends alike is no model request."""
    base = "https://gateway.example/openai/v1"
    model = desk(Playbook({"root": (turn("Hello."),)}))
    exchange = model.ask(asked("openai-chat", said("openai-chat", "Hi"), stream=False))
    origin = Origin({"openai": base})
    kinds = [
        read_all(Cassette((replace(exchange, method=method, url=f"{base}{path}"),), origin))[0].kind
        for method, path in (
            ("POST", "/chat/completions"),
            ("GET", "/models"),
            ("POST", "/threads/t/messages"),
            ("POST", "/chat/completions/c"),
        )
    ]
    assert kinds == ["model", "side", "other", "other"]


def talk(name, *turns, stream=True):
    """Play turns to as many questions, and keep the exchanges."""
    model = desk(Playbook({"root": turns}))
    for number in range(len(turns)):
        model.ask(asked(name, said(name, f"Question {number}"), stream=stream))
    return model.kept


def test_an_error_in_words_of_its_own_is_kept_and_named():
    """The status and the message are a script's; a code of the provider's is not."""
    (exchange,) = talk("openai-chat", turn(fault=status(429, "no money")))
    body = {"error": {"message": "no money", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}}
    own = replace(exchange, pieces=(Piece(0.0, dumps(body).encode()),))
    made = imported(cassette(own))
    assert read_all(cassette(own))[0].fault == StatusFault(429, {}, "no money")
    assert [note.what for note in made.notes] == ["not said: the error in the provider's own words"]


def test_a_response_that_failed_is_an_error_in_its_stream():
    """It reports its error within the response."""
    (exchange,) = talk("openai-responses", turn("Hello, world."))
    events = exchange.body.split(b"\n\n")
    failed = {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "lost"}}}
    last = f"event: response.failed\ndata: {dumps(failed)}".encode()
    data = b"\n\n".join([*events[:8], last, b""])
    own = replace(exchange, pieces=(Piece(0.0, data),))
    (reading,) = read_all(cassette(own))
    assert reading.fault == ErrorFault(0, 529, "lost")
    assert "Hello, world.".startswith(reading.turn.text)
    made = imported(cassette(own))
    assert made.script["turns"][0]["fault"]["message"] == "lost"
    assert [note.what for note in made.notes] == ["not said: the error in the provider's own words"]


@pytest.mark.parametrize("code", [400, 401, 404, 408, 409, 413, 422, 500, 502, 503, 504, 529])
def test_errors_of_ours_lose_nothing(wire, code):
    """Every status comes back in the words of its wire format, with what tells a client when to ask again."""
    (exchange,) = talk(wire, turn(fault=status(code, "so it is", headers={"x-should-retry": "true"}, retry_after=3)))
    made = imported(cassette(exchange))
    assert made.notes == ()
    assert made.script["turns"] == [
        {
            "fault": {
                "status": code,
                "headers": {"retry-after": "3", "x-should-retry": "true"},
                "message": "so it is",
            }
        }
    ]


def test_an_answer_that_came_whole_although_a_stream_was_asked_for():
    """It is read as it came, and the difference is named."""
    (streamed,) = talk("openai-chat", turn("Hello."))
    (whole,) = talk("openai-chat", turn("Hello."), stream=False)
    made = imported(cassette(replace(streamed, headers=whole.headers, pieces=whole.pieces)))
    assert made.script["turns"][0]["text"] == "Hello."
    assert "not said: that it came as application/json" in [note.what for note in made.notes]
