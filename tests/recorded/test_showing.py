"""A cassette as rows and as one exchange, whatever stands in it."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_agentcontract.cassette.exchange import Piece
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.showing import lines, row, whole
from pytest_agentcontract.scripted import call, cut, status, turn
from pytest_agentcontract.scripted.playbook import Playbook
from tests.recorded.taking import asked, cassette, desk, said

CHAT = "openai-chat"


def talk(*turns, text="Hi", stream=True):
    """Play turns, and keep the exchanges."""
    model = desk(Playbook({"root": turns}))
    for number in range(len(turns)):
        model.ask(asked(CHAT, said(CHAT, f"{text} {number}", tools=["search"]), stream=stream))
    return cassette(*model.kept)


def test_a_row_for_each_exchange():
    """Aligned, under the names of the columns: what was asked and answered, in short."""
    tape = talk(turn("Hello.", call("search", q=1)), turn(fault=status(429, "slow down")), turn("x" * 200))
    beside = replace(tape.exchanges[0], method="GET", url="https://api.openai.com/v1/models", request_body=b"")
    rows = [*lines(read_all(cassette(*tape.exchanges, beside)))]
    assert rows[0].split() == ["#", "wire", "model", "status", "ending", "pieces", "seconds", "asked", "answered"]
    assert rows[1].split()[:7] == ["0", CHAT, "m", "200", "whole", "1", "0.25"]
    assert re.search(r'user: Hi 0 +"Hello." \+ search\({"q": 1}\)$', rows[1])
    assert "429" in rows[2]
    assert rows[2].endswith("slow down")
    assert " ... " in rows[3]
    assert rows[4].split()[1:3] == ["-", "-"]
    assert "GET https://api.openai.com/v1/models" in rows[4]
    assert len({row.index("whole") for row in rows[1:]}) == 1


def test_hostile_text_is_harmless():
    """No control character reaches a terminal, and no text begins a line of its own."""
    tape = talk(turn("\x1b[2J\u202efake\n1  openai-chat"), text="\x1b]0;title\x07\n\nforged")
    evil = replace(tape.exchanges[0], reason="\x1b[31m", request_headers=(("x-evil", "\x1b[1mred"),))
    (reading,) = read_all(cassette(evil))
    assert len([*lines([reading])]) == 2
    for shown in (*lines([reading]), *whole(reading)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_one_exchange_whole():
    """Headers and bodies of both sides; a JSON body is laid out, bytes that are no text are escapes."""
    tape = talk(turn("Hello."), stream=False)
    shown = "\n".join(whole(read_all(tape)[0]))
    assert shown.startswith("POST https://api.openai.com/v1/chat/completions\n")
    assert '      "messages": [' in shown
    assert '          "content": "Hello.",' in shown
    assert "200 OK: 1 piece in 0.25 s, whole" in shown
    binary = replace(tape.exchanges[0], pieces=(Piece(0.0, b"\xff\x00"),))
    assert "\\xff\\u0000" in "\n".join(whole(read_all(cassette(binary))[0]))


def test_an_answer_that_never_began():
    """It has no status, and nothing stands in its place."""
    (reading,) = read_all(talk(turn("Hello.", fault=cut(0, "rst"), final=True)))
    assert [*whole(reading)][-1] == "no answer began: 0 pieces in 0 s, reset"
    assert [*lines([reading])][1].split()[3:6] == ["-", "reset", "0"]


def test_rows_for_programs():
    """All of it, in full, and JSON."""
    (reading,) = read_all(talk(turn("x" * 200)))
    told = row(reading)
    assert dumps(told)
    assert (told["exchange"], told["wire"], told["model"], told["kind"]) == (0, CHAT, "m", "model")
    assert told["answered"] == '"' + "x" * 200 + '"'
    assert told["bytes"] == len(reading.recorded.body)


def test_nothing_of_nothing():
    """An empty cassette has no table."""
    assert [*lines(())] == []
