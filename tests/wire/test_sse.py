"""Event-stream framing."""

from __future__ import annotations

import pytest

from pytest_agentcontract.jsonvalue import JSON, loads
from pytest_agentcontract.wire.sse import DONE, Event, event, pieces, series


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("a", ("a",)),
        ("abc", ("a", "b", "c")),
        ("0123456789", ("0", "1", "2", "34", "5", "6", "7", "89")),
    ],
)
def test_pieces_are_few_and_full(text: str, expected: tuple[str, ...]) -> None:
    """A text is cut into at most eight pieces, none empty, and an empty text gives none."""
    assert expected == pieces(text)


@pytest.mark.parametrize("length", [7, 8, 9, 1_000, 12_345])
def test_pieces_join_to_the_text_and_hardly_differ_in_length(length: int) -> None:
    """Nothing is lost between the pieces, and the longest is one character longer than the shortest at most."""
    text = "".join(chr(0x4E00 + k) for k in range(length))
    cut = pieces(text)
    assert text == "".join(cut)
    assert len(cut) == min(8, length)
    assert max(map(len, cut)) - min(map(len, cut)) <= 1


def test_a_named_event_has_two_lines() -> None:
    """A name stands on an `event:` line of its own before the data."""
    assert Event(b'event: ping\ndata: {"type": "ping"}\n\n') == event("ping", {"type": "ping"})


def test_an_unnamed_event_has_one_line() -> None:
    """Without a name there is only the data, and the mark of a delta is kept."""
    assert Event(b"data: [1]\n\n", delta=True) == event(None, [1], delta=True)


def test_line_breaks_in_a_value_never_end_the_line() -> None:
    """Whatever breaks lines in an event stream is escaped inside the JSON text."""
    data = event(None, "a\nb\r\nc\rd\n\ne").data
    assert data.count(b"\n") == 2
    assert b"\r" not in data


def test_text_is_utf8_and_a_lone_surrogate_survives_as_an_escape() -> None:
    """Characters stand as UTF-8; half a character, which has no UTF-8, stands as a JSON escape."""
    assert 'data: "\u2198 \u00e9"\n\n'.encode() == event(None, "\u2198 \u00e9").data
    assert b"\\ud83d" in event(None, "\ud83d").data
    assert loads(event(None, "\ud83d").data.removeprefix(b"data: ")) == "\ud83d"


def test_done_is_no_delta() -> None:
    """The end of a Chat Completions stream is the literal word, and no piece of the answer."""
    assert Event(b"data: [DONE]\n\n", delta=False) == DONE


@pytest.mark.parametrize("model", ["m", "\ue000", '"\ue000"'])
def test_a_series_is_what_each_event_alone_would_be(model: str) -> None:
    """Rendered once around its texts, and still right where the surroundings hold what marks their place."""

    def around(text: str) -> JSON:
        return {"model": model, "delta": text, "after": [1]}

    texts = ("a", '"quoted"', "\u2198\n", "\ue000", "\ud800", "")
    found = list(series("x", around, texts))
    assert all(one.delta and one.data.startswith(b"event: x\ndata: ") for one in found)
    assert [loads(one.data.partition(b"data: ")[2]) for one in found] == [around(text) for text in texts]
