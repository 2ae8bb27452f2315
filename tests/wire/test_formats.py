"""What every wire format promises the provider."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.formats import FORMATS, WireFormat
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Call, Turn

USER: JSON = {"role": "user", "content": "hi"}
BODIES: dict[str, Any] = {
    "anthropic-messages": {"model": "m", "max_tokens": 9, "messages": [USER], "stream": True},
    "openai-chat": {"model": "m", "messages": [USER], "stream": True},
    "openai-responses": {"model": "m", "input": [USER], "stream": True},
    "gemini-generate": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
}
PATHS = {
    "anthropic-messages": "/messages",
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "gemini-generate": "/models/m:streamGenerateContent",
}
TURNS = {
    "empty": (Turn(), 0),
    "empty-text": (Turn(""), 0),
    "text": (Turn("abc"), 3),
    "long-text": (Turn("x" * 100), 8),
    "thinking": (Turn(thinking="hm"), 2),
    "both": (Turn("a", "b"), 2),
}

each_format = pytest.mark.parametrize("wire", FORMATS.values(), ids=FORMATS)


def asked(wire: WireFormat) -> Request:
    """Ask for a stream, in the body or by the target."""
    return wire.decode_request(BODIES[wire.NAME], f"{PATHS[wire.NAME]}?alt=sse")


@each_format
def test_a_format_stands_under_its_own_name(wire: WireFormat) -> None:
    """The key of a format is its name, and its requests carry it."""
    assert FORMATS[wire.NAME] is wire
    assert asked(wire).wire == wire.NAME


@pytest.mark.parametrize(("name", "path"), PATHS.items())
def test_a_format_owns_its_path(name: str, path: str) -> None:
    """A request is recognised with and without the version, by POST alone, and by no other path."""
    owns = FORMATS[name].owns
    assert owns("POST", path)
    assert owns("POST", f"/v1{path}")
    assert not owns("GET", path)
    assert not owns("POST", f"{path}/count_tokens")
    assert not owns("POST", f"/v2{path}")


@each_format
@pytest.mark.parametrize(("turn", "deltas"), TURNS.values(), ids=TURNS)
def test_deltas_are_the_pieces_of_the_answer(wire: WireFormat, turn: Turn, deltas: int) -> None:
    """What counts as a delta is the same in every format, pieces of text and thinking; the end is none."""
    events = wire.encode_stream(turn, asked(wire), 1)
    assert deltas == sum(event.delta for event in events)
    assert not events[-1].delta


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "gemini-generate"])
def test_where_arguments_are_text_they_come_in_pieces_too(name: str) -> None:
    """Each piece is a delta, however broken; what opens the stream is none."""
    turn = Turn("a", "b", (Call("t", raw_arguments="{"), Call("u", raw_arguments="")))
    events = FORMATS[name].encode_stream(turn, asked(FORMATS[name]), 1)
    assert sum(event.delta for event in events) == 3
    assert not events[0].delta


@each_format
def test_ids_derive_from_the_serial(wire: WireFormat) -> None:
    """The same turn under the same serial is the same bytes; under another serial every id differs."""
    turn, request = Turn(calls=(Call("t"), Call("t"), Call("t", id="mine"))), asked(wire)
    first, again, other = (str(wire.encode_whole(turn, request, serial)) for serial in (1, 1, 2))
    assert first == again
    assert first != other
    assert wire.encode_stream(turn, request, 1) == wire.encode_stream(turn, request, 1)
    assert first.count("'mine'") == other.count("'mine'") == 1


def broken(place: str, text: str = "text") -> list[tuple[JSON, str]]:
    """List bodies that can't be requests, each with what is wrong; `place` is where the conversation stands."""
    rows: list[tuple[JSON, str]] = [
        ([], ""),
        ({}, f"/{place}"),
        ({place: {}}, f"/{place}"),
        ({place: [], "model": 1}, "/model"),
        ({place: ["hi"], "model": "m"}, f"/{place}/0"),
        ({place: [{"content": "hi"}], "model": "m"}, f"/{place}/0/role"),
        ({place: [{"role": "robot", "content": "hi"}], "model": "m"}, f"/{place}/0/role"),
        ({place: [{"role": "user", "content": 1}], "model": "m"}, f"/{place}/0/content"),
        ({place: [{"role": "user", "content": [1]}], "model": "m"}, f"/{place}/0/content/0"),
        ({place: [{"role": "user", "content": [{"text": "hi"}]}], "model": "m"}, f"/{place}/0/content/0/type"),
        ({place: [{"role": "user", "content": [{"type": text}]}], "model": "m"}, f"/{place}/0/content/0/text"),
        ({place: [], "model": "m", "tools": {}}, "/tools"),
        ({place: [], "model": "m", "tools": [1]}, "/tools/0"),
        ({place: [], "model": "m", "tool_choice": 1}, "/tool_choice"),
        ({place: [], "model": "m", "stream": "yes"}, "/stream"),
    ]
    return rows


BROKEN = {
    "anthropic-messages": broken("messages"),
    "openai-chat": broken("messages"),
    "openai-responses": broken("input", "input_text"),
    "gemini-generate": [
        ([], ""),
        ({}, "/contents"),
        ({"contents": 1}, "/contents"),
        ({"contents": ["hi"]}, "/contents/0"),
        ({"contents": [{"role": "robot", "parts": []}]}, "/contents/0/role"),
        ({"contents": [{"parts": "hi"}]}, "/contents/0/parts"),
        ({"contents": [{"parts": [1]}]}, "/contents/0/parts/0"),
        ({"contents": [{"parts": [{"text": 1}]}]}, "/contents/0/parts/0/text"),
        ({"contents": [], "systemInstruction": "hi"}, "/systemInstruction"),
        ({"contents": [], "tools": 1}, "/tools"),
        ({"contents": [], "tools": [1]}, "/tools/0"),
        ({"contents": [], "toolConfig": 1}, "/toolConfig"),
    ],
}


@pytest.mark.parametrize(("name", "body", "pointer"), [(name, *row) for name, rows in BROKEN.items() for row in rows])
def test_a_broken_request_is_an_error_with_its_place(name: str, body: JSON, pointer: str) -> None:
    """A body that can't be a request raises WireError with a pointer to the place."""
    with pytest.raises(WireError) as caught:
        FORMATS[name].decode_request(body, f"{PATHS[name]}?alt=sse")
    assert pointer == caught.value.where


def test_every_format_is_tried() -> None:
    """No format is left out of the tables here."""
    assert set(FORMATS) == set(BODIES) == set(PATHS) == set(BROKEN)


@each_format
def test_what_is_unknown_is_left_alone(wire: WireFormat) -> None:
    """Parameters and content types that nobody has heard of change nothing, and the body is kept as it came."""
    parts: list[JSON] = [{"type": kind, "text": "hi", "cache_control": {"x": 1}} for kind in ("text", "input_text")]
    user: JSON = {"role": "user", "content": [{"type": "hologram", "data": 1}, *parts]}
    place = "input" if wire.NAME == "openai-responses" else "messages"
    body: JSON = {"model": "m", place: [user], "temperature": 2, "novelty": {}}
    if wire.NAME == "gemini-generate":
        body = {"contents": [{"role": "user", "parts": [{"hologram": 1}, {"text": "hi", "x": 1}]}], "novelty": {}}
    request = wire.decode_request(body, f"{PATHS[wire.NAME]}?alt=sse")
    assert request.messages[0].texts == ("hi",)
    assert body is request.body
