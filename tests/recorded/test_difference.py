"""Two cassettes compared: what only one holds, and what is not the same in an exchange."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.cassette.exchange import Cassette, Origin, Piece
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.recorded.difference import changes, lines, row
from pytest_agentcontract.scripted import call, cut, status, turn
from pytest_agentcontract.scripted.playbook import Playbook
from tests.recorded.taking import asked, cassette, desk, said


def talk(wire, *turns, texts=("One?", "Two?", "Three?")):
    """Play turns, and keep the exchanges."""
    model = desk(Playbook({"root": turns}))
    for text, _ in zip(texts, turns, strict=False):
        model.ask(asked(wire, said(wire, text, tools=["search"])))
    return cassette(*model.kept)


THREE = (turn("1"), turn(call("search", q="a")), turn("3"))


def brief(old, new):
    """Return the changes in short."""
    return [(one.old, one.new, one.part, one.pointer, one.was, one.now) for one in changes(old, new)]


def test_a_cassette_is_as_itself(wire):
    """So it is in other pieces, at another pace, with other ids."""
    tape = talk(wire, *THREE)
    slower = []
    for one in tape.exchanges:
        body = one.body.replace(b"toolu_root", b"other_ids")
        slower.append(replace(one, pieces=(Piece(9.0, body[:20]), Piece(1.0, body[20:]))))
    assert brief(tape, tape) == brief(tape, cassette(*slower)) == []


def test_what_only_one_holds(wire):
    """By its number there."""
    tape = talk(wire, *THREE)
    fewer = cassette(tape.exchanges[0], tape.exchanges[2])
    assert [(one.old, one.new, one.part) for one in changes(tape, fewer)] == [(1, None, "exchange")]
    assert [(one.old, one.new, one.part) for one in changes(fewer, tape)] == [(None, 1, "exchange")]
    (line,) = lines([*changes(tape, fewer)])
    assert line == 'exchange 1: only in the old cassette: "user: Two?"'


def test_an_answer_that_says_something_else(wire):
    """Compared as what is said, at a place in it."""
    tape = talk(wire, *THREE)
    other = talk(
        wire, turn("1"), turn(call("search", q="b")), turn("3", usage={"input_tokens": 11, "output_tokens": 5})
    )
    assert brief(tape, other) == [
        (1, 1, "answer", "/calls/0/arguments/q", "a", "b"),
        (2, 2, "answer", "/usage/input_tokens", 10, 11),
    ]


@pytest.mark.parametrize("wire", ["openai-chat"], indirect=True)
def test_a_request_that_asks_something_else(wire):
    """It goes with the one that it is most like, and the place of the difference is told."""
    tape = talk(wire, *THREE)
    other = talk(wire, *THREE, texts=("One?", "Twice?", "Three?"))
    assert brief(tape, other) == [(1, 1, "request's body", "/messages/0/content", "Two?", "Twice?")]
    assert [*lines([*changes(tape, other)])] == [
        "exchange 1: request's body at /messages/0/content",
        '    old: "Two?"',
        '    new: "Twice?"',
    ]


@pytest.mark.parametrize("wire", ["openai-chat"], indirect=True)
def test_each_exchange_is_compared_with_one_other(wire):
    """However alike several of them are."""
    tape = talk(wire, *THREE)
    other = talk(wire, *THREE, texts=("Uno?", "Dos?", "Tres?"))
    assert [(one[0], one[1]) for one in brief(tape, other) if one[2].startswith("request")] == [(0, 0), (1, 1), (2, 2)]


def test_another_status_and_another_end(wire):
    """Where one is an error, or broke off."""
    tape = talk(wire, *THREE)
    failed = talk(wire, turn(fault=status(500, "oh")), *THREE[1:])
    assert brief(tape, failed)[0] == (0, 0, "answer's status", "", 200, 500)
    broken = talk(wire, turn("1", fault=cut(0, "rst"), final=True), *THREE[1:])
    assert [one[2] for one in brief(tape, broken)[:2]] == ["answer's status", "answer's ending"]


def test_the_order_and_the_numbers_of_placeholders_are_no_difference(wire):
    """Exchanges that ask the same are one pair, wherever they stand."""
    tape = talk(wire, *THREE)
    turned = cassette(*reversed(tape.exchanges))
    assert brief(tape, turned) == []
    named = [
        cassette(replace(one, request_body=one.request_body.replace(b"One?", b"SCRUBBED-user-%d" % number)))
        for number, one in ((1, tape.exchanges[0]), (7, tape.exchanges[0]))
    ]
    assert brief(*named) == []


def test_what_was_elided_in_one_is_not_compared():
    """Its text was taken out, and says nothing."""
    tape = talk("openai-chat", *THREE)
    elided = [
        replace(one, request_body=one.request_body.replace(b'"name": "search"', b'"name": ""'))
        for one in tape.exchanges
    ]
    origin = Origin(tape.origin.upstreams, elided=("/tools/*/function/name",))
    assert brief(tape, Cassette(tuple(elided), origin)) == []


def test_long_texts_are_shown_where_they_differ():
    """Both sides short, on one line each, and harmless."""
    tape = talk("openai-chat", turn("x" * 500 + "\x1b[2J\nold" + "y" * 500))
    other = talk("openai-chat", turn("x" * 500 + "\x1b[2J\nnew" + "y" * 500))
    shown = [*lines([*changes(tape, other)])]
    assert len(shown) == 3
    assert all(len(line) < 140 and "\x1b" not in line for line in shown)
    assert ("old" in shown[1], "new" in shown[2]) == (True, True)


def test_changes_for_programs():
    """A side that is not there has no key."""
    tape = talk("openai-chat", *THREE)
    told = [row(one) for one in changes(tape, cassette(*tape.exchanges[:2]))]
    assert dumps([*told])
    assert [[*one] for one in told] == [["old", "new", "part", "pointer", "was"]]
