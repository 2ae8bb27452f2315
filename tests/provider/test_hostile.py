"""Hostile clients: two thousand of them at live seats, and proof that their judge sees what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.provider.fuzz import judge
from tests.provider.fuzz.attempts import attempt
from tests.provider.fuzz.clients import BAD, EITHER, GOOD, Attempt
from tests.provider.fuzz.judge import Found
from tests.provider.fuzz.run import run

GET_IT = Attempt(1, "good", "openai-chat", "POST", (b"",), GOOD, native=True)
TURN = b'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"x=1"'
REFUSAL = (
    b"HTTP/1.1 400 Bad Request\r\nx-should-retry: false\r\ncontent-length: 87\r\n\r\n"
    b'{"error": {"message": "m", "type": "invalid_request_error", "param": null, "code": ""}}'
)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_thousand_hostile_clients_do_no_harm(seed: int) -> None:
    """No crash, no leak, no turn for what is no request, an answer for what is one, and well-formed ones throughout."""
    tally = run(seed, range(500, 1_500))
    assert sum(tally.kinds.values()) == 1_000
    assert tally.turns > 200
    assert tally.wrong == [], f"seed {seed}: repeat with make fuzz SEED={seed} START=NUMBER COUNT=1"


def test_an_attempt_is_made_again_from_its_number() -> None:
    """That is how a failure is repeated; two numbers or seeds are two attempts."""
    made = [attempt(seed, number, "/case/1", "[[a]]") for seed in (1, 2) for number in range(100)]
    again = [attempt(seed, number, "/case/1", "[[a]]") for seed in (1, 2) for number in range(100)]
    assert made == again
    assert len({one.pieces for one in made}) > 150


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (GET_IT, Found(TURN, "fin", 1)),
        (GET_IT, Found(b"HTTP/1.1 100 Continue\r\n\r\n" + TURN, "wait", 1)),
        (GET_IT, Found(b'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"x=1"', "fin", 1)),
        (replace(GET_IT, span=BAD), Found(REFUSAL, "fin", 0)),
        (replace(GET_IT, span=EITHER), Found(REFUSAL, "fin", 0)),
        (
            replace(GET_IT, native=False),
            Found(TURN + b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", "fin", 1),
        ),
        (replace(GET_IT, span=(2, 2)), Found(TURN + TURN, "fin", 2)),
        (replace(GET_IT, span=BAD, native=False), Found(b"", "rst", 0)),
    ],
)
def test_what_is_right_is_no_complaint(one: Attempt, found: Found) -> None:
    """Good requests are served, others are refused in the wire's own words or cut off by HTTP."""
    assert judge.judged(one, "x", found)[0] == []


@pytest.mark.parametrize(
    ("one", "found", "complaint"),
    [
        (replace(GET_IT, span=BAD), Found(REFUSAL, "fin", 1), "1 turns served"),
        (replace(GET_IT, span=BAD), Found(TURN, "fin", 0), "1 answers show a turn"),
        (GET_IT, Found(TURN + TURN, "fin", 1), "2 answers show a turn"),
        (GET_IT, Found(REFUSAL, "fin", 0), "0 turns served, not 1"),
        (GET_IT, Found(b"", "fin", 1), "no answer"),
        (replace(GET_IT, span=BAD, native=False, due=True), Found(b"", "fin", 0), "no answer"),
        (GET_IT, Found(TURN[:-1], "fin", 1), "cut short"),
        (GET_IT, Found(TURN, "TimeoutError('timed out')", 1), "hung"),
        (GET_IT, Found(b"HTTP/1.1 OK\r\n\r\n", "fin", 1), "no HTTP"),
        (GET_IT, Found(TURN + b"rubbish\r\n\r\n", "fin", 1), "no HTTP"),
        (replace(GET_IT, span=BAD), Found(REFUSAL.replace(b"false", b"true"), "fin", 0), "'x-should-retry': 'true'"),
        (replace(GET_IT, span=BAD), Found(REFUSAL.replace(b"400", b"500"), "fin", 0), "status 500"),
        (replace(GET_IT, span=BAD), Found(REFUSAL.replace(b'"error"', b'"wrong"'), "fin", 0), "no error body"),
        (replace(GET_IT, span=BAD, wire="gemini-generate"), Found(REFUSAL, "fin", 0), "not the wire's error"),
        (replace(GET_IT, span=BAD, native=False), Found(REFUSAL.replace(b"400", b"500"), "fin", 0), "an error of ours"),
    ],
)
def test_what_is_wrong_is_seen(one: Attempt, found: Found, complaint: str) -> None:
    """Each promise that hostile clients put to the test can be broken."""
    assert any(complaint in line for line in judge.judged(one, "x", found)[0])
