"""What every wire format promises the provider."""

from __future__ import annotations

import pytest

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.formats import FORMATS, WireFormat
from pytest_agentcontract.wire.turn import Call, Turn

BODY: JSON = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "stream": True}
TURNS = {
    "empty": (Turn(), 0),
    "empty-text": (Turn(""), 0),
    "text": (Turn("abc"), 3),
    "long-text": (Turn("x" * 100), 8),
    "thinking": (Turn(thinking="hm"), 2),
    "all": (Turn("a", "b", (Call("t", raw_arguments="{"), Call("u", raw_arguments=""))), 3),
}

each_format = pytest.mark.parametrize("wire", FORMATS.values(), ids=FORMATS)


@each_format
def test_a_format_stands_under_its_own_name(wire: WireFormat) -> None:
    """The key of a format is its name, and its requests carry it."""
    assert FORMATS[wire.NAME] is wire
    assert wire.decode_request(BODY).wire == wire.NAME


@pytest.mark.parametrize(("name", "path"), [("anthropic-messages", "/messages"), ("openai-chat", "/chat/completions")])
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
    """What counts as a delta is the same in every format: pieces of text, thinking and arguments."""
    events = wire.encode_stream(turn, wire.decode_request(BODY), 1)
    assert deltas == sum(event.delta for event in events)
    assert not events[0].delta
    assert not events[-1].delta


@each_format
def test_ids_derive_from_the_serial(wire: WireFormat) -> None:
    """The same turn under the same serial is the same bytes; under another serial every id differs."""
    turn, request = Turn(calls=(Call("t"), Call("t"), Call("t", id="mine"))), wire.decode_request(BODY)
    first, again, other = (str(wire.encode_whole(turn, request, serial)) for serial in (1, 1, 2))
    assert first == again
    assert first != other
    assert wire.encode_stream(turn, request, 1) == wire.encode_stream(turn, request, 1)
    assert first.count("'mine'") == other.count("'mine'") == 1


BROKEN: list[tuple[JSON, str]] = [
    ([], ""),
    ({}, "/messages"),
    ({"messages": {}}, "/messages"),
    ({"messages": [], "model": 1}, "/model"),
    ({"messages": ["hi"], "model": "m"}, "/messages/0"),
    ({"messages": [{"content": "hi"}], "model": "m"}, "/messages/0/role"),
    ({"messages": [{"role": "robot", "content": "hi"}], "model": "m"}, "/messages/0/role"),
    ({"messages": [{"role": "user", "content": 1}], "model": "m"}, "/messages/0/content"),
    ({"messages": [{"role": "user", "content": [1]}], "model": "m"}, "/messages/0/content/0"),
    ({"messages": [{"role": "user", "content": [{"text": "hi"}]}], "model": "m"}, "/messages/0/content/0/type"),
    ({"messages": [{"role": "user", "content": [{"type": "text"}]}], "model": "m"}, "/messages/0/content/0/text"),
    ({"messages": [], "model": "m", "tools": {}}, "/tools"),
    ({"messages": [], "model": "m", "tools": [1]}, "/tools/0"),
    ({"messages": [], "model": "m", "tool_choice": 1}, "/tool_choice"),
    ({"messages": [], "model": "m", "stream": "yes"}, "/stream"),
]


@each_format
@pytest.mark.parametrize(("body", "pointer"), BROKEN)
def test_a_broken_request_is_an_error_with_its_place(wire: WireFormat, body: JSON, pointer: str) -> None:
    """A body that can't be a request raises WireError with a pointer to the place."""
    with pytest.raises(WireError) as caught:
        wire.decode_request(body)
    assert pointer == caught.value.where


@each_format
def test_what_is_unknown_is_left_alone(wire: WireFormat) -> None:
    """Parameters and content types that nobody has heard of change nothing, and the body is kept as it came."""
    content: JSON = [{"type": "hologram", "data": 1}, {"type": "text", "text": "hi", "cache_control": {"x": 1}}]
    body: JSON = {"model": "m", "messages": [{"role": "user", "content": content}], "temperature": 2, "novelty": {}}
    request = wire.decode_request(body)
    assert request.messages[0].texts == ("hi",)
    assert body is request.body
