"""Whatever a model says, on every wire format: it comes back from the script, or is named."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_agentcontract.cassette.exchange import Piece
from pytest_agentcontract.provider.body import rendered
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.turns import content
from pytest_agentcontract.wire.formats import FORMATS
from tests.recorded.taking import again, asked, cassette, said
from tests.wire.test_roundtrip import each_format, patient, turns

some = settings(patient, max_examples=25)
"""Each example is a whole import, played."""

NAMED = {
    "its text as it was": "text",
    "its thinking as it was": "thinking",
    "its refusal as it was": "refusal",
    "its usage as it was": "usage",
    "why it stopped": "stop",
    "what its thinking is signed with": "signature",
    "that its calls bear no ids": "calls",
    "its calls as they were": "calls",
}


def exchange(name, turn, *, stream, tools):
    """Return an exchange in which a provider answers with a turn."""
    request = asked(name, said(name, "Hi", tools=tools), stream=stream)
    (reading,) = read_all(cassette(replace(request, status=500)))
    body = rendered(turn, reading.asked, FORMATS[name], 1, chunked=False)
    data = b"".join(part.data for part in body.parts)
    return replace(request, status=200, headers=tuple(body.headers.items()), pieces=(Piece(0.0, data),))


@each_format
@some
@given(turn=turns(), stream=st.booleans(), tools=st.sampled_from([(), ("search", "a-b_c")]))
def test_any_turn_comes_back_or_is_named(name, turn, stream, tools):
    """What is not named is the same, and what is named is not."""
    tape = cassette(exchange(name, turn, stream=stream, tools=tools))
    made = imported(tape)
    assert made.kept == (0,)
    (before,), (after,) = read_all(tape), again(made.script, tape)
    unlike = {part for part in set(NAMED.values()) if getattr(before.turn, part) != getattr(after.turn, part)}
    assert unlike == {NAMED[note.what.removeprefix("not said: ")] for note in made.notes}
    assert unlike <= {"signature", "calls", "stop", "usage"}


@each_format
@some
@given(turn=turns(), ending=st.sampled_from(["reset", "closed", "hung-up", "whole"]), data=st.data())
def test_any_cut_comes_back_or_is_named(name, turn, ending, data):
    """Wherever a stream breaks off: as much as had come is said again."""
    whole = exchange(name, turn, stream=True, tools=("search", "a-b_c"))
    cut = data.draw(st.integers(0, len(whole.body)))
    tape = cassette(replace(whole, pieces=(Piece(0.0, whole.body[:cut]),) if cut else (), ending=ending))
    made = imported(tape)
    assert made.kept == (0,)
    (before,), (after,) = read_all(tape), again(made.script, tape)
    if not made.notes:
        assert content(before.turn) == content(after.turn)
        assert type(before.fault) is type(after.fault)
