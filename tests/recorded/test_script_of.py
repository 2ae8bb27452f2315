"""A recorded conversation becomes a script that answers the same requests alike; what it can't say is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.cassette.exchange import Piece
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.turns import content
from pytest_agentcontract.scripted import call, content_type, cut, error, malformed, raw_call, silence, status, turn
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
    "a success that holds nothing": turn("Hello, world.", fault=cut(0, "clean")),
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


def test_faults_before_the_last_are_turns_of_their_own(wire):
    """Nothing is sent in them but the fault; the last one is that of the turn."""
    tape = taken(wire, turn(fault=status(429)), turn(fault=cut(0, "rst")), turn("Hello.", fault=status(503)))
    same = cassette(*(replace(one, request_body=tape.exchanges[0].request_body) for one in tape.exchanges))
    made = imported(same)
    assert made.notes == ()
    assert [[*entry] for entry in made.script["turns"]] == [["fault"], ["fault"], ["text", "fault"]]
    assert [_short(one) for one in again(made.script, same)] == [_short(one) for one in read_all(same)]


def test_what_had_come_before_an_earlier_fault_is_named():
    """Of two broken answers before a whole one, only the last can be said in part."""
    name = "anthropic-messages"
    parts = [turn("First of all.", fault=cut(3)), turn("Second of all.", fault=cut(3)), turn("Whole.")]
    broken = [taken(name, replace(one, final=True)).exchanges[0] for one in parts[:2]]
    made = imported(cassette(*broken, *taken(name, parts[2]).exchanges))
    assert [(note.number, note.what) for note in made.notes] == [
        (0, "not said: what it had said when it broke off"),
        (1, "not said: what it had said when it broke off"),
    ]
    assert made.kept == (0, 1, 2)


def test_a_malformed_event_is_kept_with_what_came_before_it(wire):
    """What it held is unknown, and said to be."""
    tape = taken(wire, turn("Hello, world.", fault=malformed(2)), turn("And more."))
    made = imported(tape)
    assert {note.what for note in made.notes} == {"not said: what came with its malformed event, and after it"}
    assert [one.fault for one in again(made.script, tape)] == [one.fault for one in read_all(tape)]


def test_a_client_that_left_is_not_answered_further(wire):
    """What it would have been told is unknown: there is silence from there on."""
    tape = taken(wire, turn("Hello, world."), turn("And more."))
    cut_off = tape.exchanges[0]
    half = cut_off.body[: len(cut_off.body) * 6 // 10]
    left = replace(cut_off, pieces=(Piece(0.0, half),), ending="hung-up")
    made = imported(cassette(left, tape.exchanges[1]))
    entry = made.script["agents"]["root"][0]
    assert (entry["final"], [*entry["fault"]]) == (True, ["silent_after_deltas"])
    assert entry["text"] == read_all(cassette(left))[0].turn.text


def test_a_client_that_leaves_after_the_last_event_has_all_of_it(wire):
    """Many do: they have seen that it is the last one."""
    tape = taken(wire, turn("Hello, world."))
    made = imported(cassette(replace(tape.exchanges[0], ending="hung-up")))
    assert (made.notes, made.script["turns"][0]["text"]) == ((), "Hello, world.")


def test_a_signature_is_named():
    """A script signs thinking in its own way."""
    tape = taken("anthropic-messages", turn("So.", thinking="Hm."))
    body = tape.exchanges[0].body.replace(b"c2NyaXB0ZWQ=", b"RVp1")
    made = imported(cassette(replace(tape.exchanges[0], pieces=(Piece(0.0, body),))))
    assert [note.what for note in made.notes] == ["not said: what its thinking is signed with"]


BESIDE = {
    "a token count": ("POST", "https://api.anthropic.com/v1/messages/count_tokens", "answers it by itself"),
    "a list of models": ("GET", "https://api.openai.com/v1/models", "answers it by itself"),
    "a look": ("HEAD", "https://api.anthropic.com/", "answers it by itself"),
    "a foreign path": ("POST", "https://api.openai.com/v1/embeddings", "no wire format knows POST https://api"),
    "another API's messages": ("POST", "https://api.openai.com/v1/threads/t/messages", "no wire format knows"),
}


@pytest.mark.parametrize("what", BESIDE)
def test_what_is_no_model_request_is_left_out_with_its_reason(what):
    """By number, and never silently."""
    method, where, reason = BESIDE[what]
    tape = taken("openai-chat", turn("Hello."))
    beside = replace(tape.exchanges[0], method=method, url=where, request_body=b"{}")
    made = imported(cassette(beside, *tape.exchanges))
    assert (made.kept, len(made.dropped), made.dropped[0].number) == ((1,), 1, 0)
    assert reason in made.dropped[0].what


STRANGE = {
    "a redirect": ({"status": 302}, "status 302 is neither an answer nor an error"),
    "a page": ({"headers": (("content-type", "text/html"),), "pieces": (Piece(0, b"<p>"),)}, "text/html stands where"),
    "no JSON": ({"request_body": b"{"}, "the request can't be read: "),
    "no request": ({"request_body": b"{}"}, "the request can't be read: "),
    "no UTF-8": ({"pieces": (Piece(0, b"data: {\xff}\n\n"),)}, "the answer can't be read: 'utf-8' codec"),
    "another document": ({"pieces": (Piece(0, b'data: {"choices": 3, "type": 7, "candidates": 1}\n\n'),)}, "answer"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_cannot_be_read_is_left_out_with_its_reason(wire, what):
    """The rest of the recording is kept."""
    changes, reason = STRANGE[what]
    tape = taken(wire, turn("Hello."), turn("And more."))
    made = imported(cassette(replace(tape.exchanges[0], **changes), tape.exchanges[1]))
    assert [note.number for note in made.dropped] == [0]
    assert reason in made.dropped[0].what
    assert made.kept == (1,)


def test_a_tool_that_no_script_can_call_is_named():
    """Names that begin with a dollar sign are those of cases."""
    tape = taken("openai-chat", turn(replace(call("search"), unadvertised=True)), stream=False)
    body = tape.exchanges[0].body.replace(b'"search"', b'"$work"')
    made = imported(cassette(replace(tape.exchanges[0], pieces=(Piece(0.0, body),))))
    assert (made.script, made.dropped[0].what) == ({}, "no script can call a tool '$work'")


EXTRAS = {
    "anthropic-messages": (b'"content": [', b'"content": [{"type": "redacted_thinking", "data": "x"}, '),
    "openai-chat": (b'"refusal": null', b'"refusal": null, "audio": {"id": "a"}'),
    "openai-responses": (b'"output": [', b'"output": [{"type": "web_search_call", "id": "ws"}, '),
    "gemini-generate": (b'"parts": [', b'"parts": [{"executableCode": {"code": "1"}}, '),
}


def test_what_a_provider_adds_of_its_own_is_named(wire):
    """Blocks, items and parts that no turn can say."""
    tape = taken(wire, turn("Hello."), stream=False)
    body = tape.exchanges[0].body.replace(*EXTRAS[wire], 1)
    made = imported(cassette(replace(tape.exchanges[0], pieces=(Piece(0.0, body),))))
    assert [note.what.split()[:3] for note in made.lost] == [["not", "said:", "its"]]
    assert made.script["turns"][0]["text"] == "Hello."


def test_a_pace_is_kept_only_if_asked_for(wire):
    """Before the first piece, and on average between two events."""
    tape = taken(wire, turn("Hello, world."))
    events = tape.exchanges[0].body.split(b"\n\n")[:-1]
    pieces = tuple(Piece(0.5 if at == 0 else 0.02, event + b"\n\n") for at, event in enumerate(events))
    slow = cassette(replace(tape.exchanges[0], pieces=pieces))
    assert "pace" not in imported(slow).script["turns"][0]
    assert imported(slow, paced=True).script["turns"][0]["pace"] == {"first": 0.5, "between": 0.02}


def test_an_empty_cassette_is_no_script():
    """There is nothing to say, and nothing left out."""
    made = imported(cassette())
    assert (made.script, made.kept, made.notes) == ({}, (), ())
