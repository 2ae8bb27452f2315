"""A recorded conversation becomes a script that answers the same requests alike; what it can't say is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.turns import content
from pytest_agentcontract.scripted import call, content_type, cut, error, raw_call, silence, status, turn
from pytest_agentcontract.scripted.playbook import Playbook
from pytest_agentcontract.wire.formats import FORMATS
from tests.recorded.taking import again, asked, cassette, desk, said


def taken(wire, *turns, stream=True):
    """Play turns to one question each, as often as they want to be asked, and keep the exchanges."""
    model = desk(Playbook({"root": turns}))
    for number in range(1, len(turns) + 1):
        request = asked(wire, said(wire, f"Question {number}", tools=["search", "touch"]), stream=stream)
        model.ask(request)
        while model.script.log.entries[-1].kind == "fault" and not turns[number - 1].only_fault:
            model.ask(request)
    return cassette(*model.kept)


SAID = {
    "a text": turn("Hello, \u2713 world."),
    "an empty text": turn(""),
    "nothing": turn(),
    "thinking": turn("So.", thinking="Let me see."),
    "a refusal": turn(refusal="I won't."),
    "parallel calls": turn("Both.", call("search", q="a", deep={"x": [1, None]}), call("touch")),
    "broken arguments": turn(raw_call("search", '{"q": ')),
    "an unknown tool": turn(call("nowhere", q=1)),
    "the length": turn("Too lo", stop="length"),
    "an absent stop": turn("Well", stop="absent"),
    "its price": turn("Dear.", usage={"input_tokens": 7, "output_tokens": 3, "cache_read": 2}),
    "no price": turn("Free.", usage={}),
}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("what", SAID)
def test_what_was_said_is_said_again(wire, what, stream):
    """Played to the same requests, the script's turns are decoded to the same."""
    entry = SAID[what]
    if what == "an unknown tool":
        entry = turn(replace(entry.calls[0], unadvertised=True))
    tape = taken(wire, entry, turn("And more."), stream=stream)
    made = imported(tape)
    assert (made.notes, made.kept) == ((), (0, 1))
    assert [one.turn for one in again(made.script, tape)] == [one.turn for one in read_all(tape)]


STRUCK = {
    "429, then the answer": turn("Hello, world.", fault=status(429, "slow down", retry_after=2)),
    "an error that is the end": turn(fault=status(401, "who are you?")),
    "cut by a reset": turn("Hello, world.", fault=cut(3, "rst")),
    "cut by a FIN inside an event": turn("Hello, world.", fault=cut(2, "fin", "event")),
    "cut before its first byte": turn("Hello, world.", fault=cut(0, "rst")),
    "cut in a call": turn(call("search", q="a long question"), fault=cut(4)),
    "cut, and over": turn("Hello, world.", fault=cut(3), final=True),
    "an error in the stream": turn("Hello, world.", fault=error(2, 529, "too much to do")),
    "an error in the stream, and over": turn("Hello, world.", fault=error(2, 500, "lost"), final=True),
    "silence": turn("Hello, world.", fault=silence(2)),
    "under a wrong name": turn("Hello, world.", fault=content_type("text/html")),
}


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("what", STRUCK)
def test_what_struck_an_answer_strikes_again(wire, what, stream):
    """Retries are faults of one turn; as much of it comes as had come, and then the same."""
    tape = taken(wire, STRUCK[what], turn("And more."), stream=stream)
    made = imported(tape)
    assert made.dropped == ()
    assert [_short(one) for one in again(made.script, tape)] == [_short(one) for one in read_all(tape)]
    if stream:
        assert made.notes == ()


def _short(reading):
    """Return what a client makes of an answer; ids are new in each attempt."""
    said = reading.turn if reading.fault is None else content(reading.turn)
    return said, reading.fault, reading.recorded.status, reading.recorded.ending


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "gemini-generate"])
def test_a_stream_without_its_end_has_none_again(name):
    """What is no end by HTTP is one: all of it came, but for the last events."""
    tape = taken(name, turn("Hello, world.", thinking="Hm.", fault=cut(100, "clean")), turn("And more."))
    made = imported(tape)
    assert made.notes == ()
    assert [_short(one) for one in again(made.script, tape)] == [_short(one) for one in read_all(tape)]
