"""Texts that are asked to be left out of a cassette: taken from it wherever they stand, and no part of a match."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.cassette.exchange import Piece, Recorded
from pytest_agentcontract.cassette.matching.canonical import canonical
from pytest_agentcontract.cassette.scrubbing.residual import leaks
from pytest_agentcontract.cassette.scrubbing.scrub import Scrubber

PLACES = ("/instructions", "/tools/**/description")
PROMPT = 'You are a "careful" assistant.\nSay ünïcode.'
ABOUT = "The folder in which the command runs"


def _asked(prompt: str, **more: object) -> bytes:
    parameters = {"properties": {"cwd": {"type": "string", "description": ABOUT}}}
    tools = [{"name": "run", "description": "Runs it", "parameters": parameters}]
    return json.dumps({"instructions": prompt, "tools": tools, "input": "hi", **more}).encode()


def _recorded(body: bytes, *answer: bytes) -> Recorded:
    pieces = tuple(Piece(0.0, data) for data in answer)
    return Recorded("POST", "https://api.openai.com/v1/responses", (), body, 200, "OK", (), pieces)


def test_long_texts_go_and_short_ones_stay() -> None:
    """A text at one of the places is a placeholder, at any depth; what is short stands in too much else to go."""
    clean = Scrubber({}, elide=PLACES).scrub(_recorded(_asked(PROMPT)))
    body = json.loads(clean.request_body)
    assert body["instructions"] == "SCRUBBED-elided-1"
    [tool] = body["tools"]
    assert tool["description"] == "Runs it"
    assert tool["parameters"]["properties"]["cwd"] == {"type": "string", "description": "SCRUBBED-elided-2"}


@pytest.mark.parametrize("cut", [10, 60, 75, 90])
def test_an_echo_goes_too(cut: int) -> None:
    """What the provider echoes of such a text goes from the answer, also where a piece ends in its middle."""
    answer = b"data: " + json.dumps({"response": {"instructions": PROMPT}}).encode() + b"\n\n"
    recorded = _recorded(_asked(PROMPT), answer[:cut], answer[cut:])
    scrubber = Scrubber({}, elide=PLACES)
    clean = scrubber.scrub(recorded)
    assert clean.body == b'data: {"response": {"instructions": "SCRUBBED-elided-1"}}\n\n'
    assert leaks(clean, scrubber.secrets(recorded)) == ()
    assert leaks(recorded, scrubber.secrets(recorded)) != ()


def test_what_was_left_out_is_no_part_of_a_match() -> None:
    """A stored request equals a live one with another text at such a place, and with none other."""
    scrubber = Scrubber({}, elide=PLACES)
    stored = canonical(scrubber.scrub(_recorded(_asked(PROMPT))), PLACES)
    assert (
        canonical(scrubber.scrub(_recorded(_asked("Another prompt, of another day"))), PLACES).digest == stored.digest
    )
    assert canonical(scrubber.scrub(_recorded(_asked(PROMPT, model="m"))), PLACES).digest != stored.digest
