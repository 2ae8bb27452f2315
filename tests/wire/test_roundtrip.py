"""What is encoded is read back: the turn itself, but for what the wire format has no place for."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, dumps, loads
from pytest_agentcontract.wire.formats import FORMATS
from pytest_agentcontract.wire.projection import LOSSES, project
from pytest_agentcontract.wire.request import Request, ToolChoice
from pytest_agentcontract.wire.sse import Reader
from pytest_agentcontract.wire.turn import SIGNATURE, Call, Stop, Turn, Usage

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""

each_format = pytest.mark.parametrize("name", FORMATS)

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=3)
RAW = st.none() | st.sampled_from(["", "{", '{"a": 1', "nonsense", '{"a": 1}', "[1]", "\u2198"])
NUMBERS = st.integers(0, 10**6)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """Draw any turn whose calls bear ids."""
    calls = draw(st.lists(st.tuples(st.sampled_from(["search", "a-b_c"]), OBJECTS, RAW), max_size=3))
    return Turn(
        text=draw(st.none() | TEXT),
        thinking=draw(st.none() | TEXT),
        calls=tuple(Call(name, given, raw, f"call_{k}") for k, (name, given, raw) in enumerate(calls)),
        stop=draw(st.none() | st.sampled_from(get_args(Stop))),
        usage=Usage(*(draw(NUMBERS) for _ in range(4))),
        refusal=draw(st.none() | TEXT),
        signature=draw(st.sampled_from([SIGNATURE, "other=="])),
        deltas=draw(st.integers(1, 50)),
    )


def request(name: str, *, stream: bool) -> Request:
    """Ask for an answer, with all that a client can ask to be told."""
    body: JSON = {"stream_options": {"include_usage": True}}
    return Request(name, "m", "", (), (), ToolChoice(), stream, body)


@each_format
@patient
@given(turn=turns(), serial=st.integers(1, 999))
def test_a_whole_answer_is_read_back(name: str, turn: Turn, serial: int) -> None:
    """As one document, through its text."""
    wire = FORMATS[name]
    body = loads(dumps(wire.encode_whole(turn, request(name, stream=False), serial)))
    assert wire.decode_whole(body) == project(turn, name, stream=False)


@each_format
@patient
@given(turn=turns(), serial=st.integers(1, 999), cuts=st.lists(st.integers(0, 4000), max_size=12))
def test_a_streamed_answer_is_read_back_however_it_is_cut(name: str, turn: Turn, serial: int, cuts: list[int]) -> None:
    """The chunks of the network are no events: their edges may lie anywhere, also inside a character."""
    wire = FORMATS[name]
    data = b"".join(event.data for event in wire.encode_stream(turn, request(name, stream=True), serial))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    reader = Reader()
    frames = [frame for at, end in itertools.pairwise(edges) for frame in reader.feed(data[at:end])]
    assert not reader.unfinished
    assert wire.decode_stream(frames) == project(turn, name, stream=True)


@each_format
def test_an_error_inside_a_stream_is_raised(name: str) -> None:
    """What the provider reports is told in its words."""
    wire = FORMATS[name]
    frames = Reader().feed(wire.encode_failure(529, "too much to do", 3).data)
    with pytest.raises(WireError, match="too much to do"):
        wire.decode_stream(frames)


def test_every_format_says_what_it_loses() -> None:
    """The table of losses has a row for each format, and each names what stands in a thing's place."""
    assert LOSSES.keys() == FORMATS.keys()
    assert all(loss.what and loss.instead for losses in LOSSES.values() for loss in losses)
