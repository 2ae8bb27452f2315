"""Exchanges for tests that don't care much what is in them."""

from __future__ import annotations

from dataclasses import replace

from pytest_agentcontract.cassette.exchange import Piece, Recorded

URL = "https://api.anthropic.com/v1/messages?beta=true"


def exchange(body: bytes = b"{}", **changes) -> Recorded:
    """Return a sound exchange, with an answer of one piece."""
    kind = (("content-type", "application/json"),)
    made = Recorded("POST", URL, kind, b'{"n": 1}', 200, "OK", kind, (Piece(0.0125, body),))
    return replace(made, **changes)


def asking(number: int, body: bytes = b"{}") -> Recorded:
    """Return an exchange whose request says a number."""
    return exchange(body, request_body=f'{{"n": {number}}}'.encode())
