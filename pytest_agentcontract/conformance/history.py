"""An agent's history as its requests tell it: what stands where, and what became of it from one request to the next.

Compared is what a model reads. Space around texts, the ids of calls, how the messages of one side are joined, and what
a client adds for the provider alone (cache marks) are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from pytest_agentcontract.conformance.evidence import Run, once
from pytest_agentcontract.jsonvalue import JSONObject, as_list, as_object, dumps
from pytest_agentcontract.scenario.observation import REFUSALS, Exchange
from pytest_agentcontract.wire.request import Message, Request
from pytest_agentcontract.wire.turn import Call

_T = TypeVar("_T")
_ELSEWHERE = "previous_response_id"
"""A request that goes on from what its provider keeps holds only what is new."""

_SAID_OTHERWISE = ("refusal", "audio", "function_call")


@dataclass(frozen=True, slots=True)
class Change:
    """What became of message `at` of an earlier request."""

    at: int
    what: str


@dataclass(frozen=True, slots=True)
class Side:
    """What one side says until the other speaks; `at` is its first message."""

    assistant: bool
    at: int
    words: str
    calls: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


@once
def asked(run: Run, agent: str) -> tuple[Exchange, ...]:
    """Return the agent's requests that tell its history: none that was refused, is a retry or leans on a stored one."""
    return tuple(
        exchange
        for exchange in run.own(agent)
        if exchange.kind not in REFUSALS and not exchange.retry and not as_object(exchange.request.body).get(_ELSEWHERE)
    )


def named(exchange: Exchange, at: int) -> str:
    """Name a message by its request and its place there: a JSON pointer, where the wire format has messages."""
    before = _left_out(exchange.request)
    place = f"message {at + 1}" if before is None else f"/messages/{before + at}"
    return f"{place} of request {exchange.serial}"


def is_empty(request: Request, at: int) -> bool:
    """Tell whether a message holds nothing; blocks that nobody here reads are something."""
    message, raw = request.messages[at], _raw(request, at)
    blocks = [as_object(block).get("type") for block in as_list(raw.get("content"))]
    unread = any(kind != "text" for kind in blocks) or any(raw.get(key) for key in _SAID_OTHERWISE)
    return not (_words(message.texts) or message.calls or message.thinking or unread)


def asks_for_thinking(request: Request) -> bool:
    """Tell whether a request asks the model to think, so that its provider needs the thinking back."""
    return as_object(as_object(request.body).get("thinking")).get("type") in ("enabled", "adaptive")


def holds(said: Sequence[Side], text: str) -> bool:
    """Tell whether a text stands somewhere in what was said."""
    return _words([text]) in " ".join(side.words for side in said if side.words)


def sides(request: Request) -> list[Side]:
    """Return what each side said in turn, as a request tells it."""
    numbered = [(at, message) for at, message in enumerate(request.messages) if _says_something(message)]
    groups = groupby(numbered, key=lambda pair: pair[1].role == "assistant")
    return [_side(assistant, [*pairs]) for assistant, pairs in groups]


def change(old: Sequence[Side], new: Sequence[Side]) -> Change | None:
    """Find the first message of a request that a later one does not hold as it was; what is new may follow the last."""
    for number, side in enumerate(old):
        if number >= len(new):
            return Change(side.at, "has vanished")
        if not _goes_on(side, new[number], may_grow=number == len(old) - 1):
            return Change(side.at, "has changed")
    return None


def _side(assistant: bool, pairs: Sequence[tuple[int, Message]]) -> Side:  # noqa: FBT001 - the group's key
    messages = [message for _, message in pairs]
    return Side(
        assistant,
        pairs[0][0],
        _words([text for message in messages for text in message.texts]),
        tuple((call.name, _said(call)) for message in messages for call in message.calls),
        tuple(_words([result.text]) for message in messages for result in message.results),
    )


def _goes_on(old: Side, new: Side, *, may_grow: bool) -> bool:
    if old.assistant != new.assistant:
        return False
    if not may_grow:
        return (old.words, old.calls, old.results) == (new.words, new.calls, new.results)
    begins = new.words.startswith(old.words)
    return begins and _begins(old.calls, new.calls) and _begins(old.results, new.results)


def _begins(old: tuple[_T, ...], new: tuple[_T, ...]) -> bool:
    return new[: len(old)] == old


def _says_something(message: Message) -> bool:
    return bool(_words(message.texts) or message.calls or message.results)


def _said(call: Call) -> str:
    return dumps(call.arguments) if call.raw_arguments is None else call.raw_arguments


def _words(texts: Sequence[str]) -> str:
    return " ".join(" ".join(texts).split())


def _left_out(request: Request) -> int | None:
    """Return how many messages of the body stand before the first: its system prompt. None where it has no messages."""
    body = as_list(as_object(request.body).get("messages"))
    return len(body) - len(request.messages) if body else None


def _raw(request: Request, at: int) -> JSONObject:
    before, body = _left_out(request), as_list(as_object(request.body).get("messages"))
    return {} if before is None else as_object(body[before + at])
