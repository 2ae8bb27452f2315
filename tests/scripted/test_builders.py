"""The words of a script in Python: what they build, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_agentcontract.scenario.case import Hold, ScriptedCall, ScriptedTurn
from pytest_agentcontract.scenario.profile import SideCall
from pytest_agentcontract.scripted import (
    ScriptError,
    call,
    content_type,
    cut,
    delivered,
    error,
    gate,
    malformed,
    pace,
    raw_call,
    reply,
    side_call,
    silence,
    special,
    status,
    turn,
)
from pytest_agentcontract.wire.faults import (
    ContentTypeFault,
    CutFault,
    ErrorFault,
    MalformedFault,
    Pace,
    SilenceFault,
    StatusFault,
)
from pytest_agentcontract.wire.turn import Usage


@pytest.mark.parametrize(
    ("built", "value"),
    [
        (turn(), ScriptedTurn()),
        (turn("a", call("f", x=1)), ScriptedTurn("a", calls=(ScriptedCall("f", arguments={"x": 1}),))),
        (turn(call("f"), repeat="forever"), ScriptedTurn(calls=(ScriptedCall("f", arguments={}),), repeat=True)),
        (call("f", [1]), ScriptedCall("f", arguments=[1])),
        (call("f", given=1, tool=2), ScriptedCall("f", arguments={"given": 1, "tool": 2})),
        (raw_call("f", "{"), ScriptedCall("f", raw_arguments="{")),
        (
            special(call("f"), id="c1", unadvertised=True),
            ScriptedCall("f", arguments={}, id="c1", unadvertised=True),
        ),
        (reply(7), ScriptedTurn(calls=(ScriptedCall("reply", arguments={"value": 7}),))),
        (reply("x", "submit", "answer", text="t"), turn("t", call("submit", answer="x"))),
        (status(429, retry_after=2), StatusFault(429, {"retry-after": "2"})),
        (status(500, "no", headers={"X-A": "b"}), StatusFault(500, {"x-a": "b"}, "no")),
        (cut(), CutFault(0)),
        (cut(3, "rst", "event"), CutFault(3, "rst", "event")),
        (malformed(2), MalformedFault(2)),
        (error(1, 500, "no"), ErrorFault(1, 500, "no")),
        (silence(), SilenceFault(0)),
        (content_type("text/html"), ContentTypeFault("text/html")),
        (gate("go", 2), Hold(2, "released", "go")),
        (delivered("helper", 1), Hold(0, "delivered", agent="helper", turn=1)),
        (pace(1, tokens_per_second=4), Pace(1, 0.25)),
        (turn("a", usage={"input_tokens": 3}), ScriptedTurn("a", usage=Usage(3))),
        (turn("\ud800"), ScriptedTurn("\ud800")),
        (turn("a", refusal="no"), ScriptedTurn("a", refusal="no")),
        (side_call("t", no_tools=True, model="*-mini"), SideCall("t", "none", model="*-mini")),
    ],
)
def test_words_build_values(built: object, value: object) -> None:
    """Each word is one value of the scenario's own."""
    assert built == value


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda: turn("a", "b"), "a turn has one text, and this one has 2"),
        (lambda: turn({"text": "a"}), "a turn is made of texts and calls\n  Not of {'text': 'a'}."),
        (lambda: turn("a", stop="tired"), "'tired' is no reason to stop"),
        (lambda: turn("a", fault=529), "529 is no fault"),
        (lambda: turn("a", final=True), "`final` is said of a fault"),
        (lambda: turn("a", hold="go"), "'go' is no gate"),
        (lambda: turn("a", pace=1), "1 is no pace"),
        (lambda: turn("a", deltas=0), "a text has at least one piece"),
        (lambda: turn("a", repeat=3), "repeat=3"),
        (lambda: turn("plain", fault=cut(1, inside="character")), "nothing in this turn is a character of several"),
        (lambda: call(""), "a call names its tool"),
        (lambda: call("f", {"x": 1}, x=2), "the arguments of 'f' are given twice"),
        (lambda: call("f", x=object()), "the arguments of 'f' are no JSON"),
        (lambda: call("f", x=float("nan")), "the arguments of 'f' are no JSON"),
        (lambda: status(200), "200 is no error status"),
        (lambda: error(status=99), "99 is no error status"),
        (lambda: cut(1, "gently"), "no connection ends by 'gently'\n  Known: fin, rst, clean."),
        (lambda: cut(1, inside="word"), "nothing is cut inside 'word'"),
        (lambda: cut(-1), "pieces are counted from 0"),
        (lambda: content_type(""), "a content type has a name"),
        (lambda: gate(""), "a gate has a name"),
        (lambda: gate("g", -1), "pieces are counted from 0"),
        (lambda: delivered("a", 0), "turns are counted from 1"),
        (lambda: delivered("a", 1, -1), "pieces are counted from 0"),
        (lambda: pace(-1), "a pace has no negative seconds"),
        (lambda: pace(between=1, tokens_per_second=1), "say the same twice"),
        (lambda: turn("a", usage="x"), "usage='x' is no usage\n  Use {'input_tokens'"),
        (lambda: turn("a", usage={"inputs": 1}), "usage has no 'inputs'\n  Known: input_tokens"),
        (lambda: turn("a", usage={"input_tokens": -1}), "nothing costs fewer tokens than 0"),
        (lambda: turn("a", usage=Usage(1.5)), "input_tokens=1.5 is no whole number"),
        (lambda: turn("a", asked=5), "asked=5 is no text"),
        (lambda: turn("a", thinking=5), "thinking=5 is no text"),
        (lambda: turn(refusal=["no"]), "refusal=['no'] is no text"),
        (lambda: turn("a", deltas=2.5), "deltas=2.5 is no whole number"),
        (lambda: turn("a", deltas=True), "deltas=True is no whole number"),
        (lambda: turn(call("f"), "a"), "a turn's text comes before its calls"),
        (lambda: cut(1.5), "after=1.5 is no whole number"),
        (lambda: silence("1"), "after='1' is no whole number"),
        (lambda: raw_call("f", 5), "text=5 is no text"),
        (lambda: call(1), "tool=1 is no text"),
        (lambda: special("f"), "'f' is no call\n  Use special(call(...))."),
        (lambda: special(call("f"), id=1), "id=1 is no text"),
        (lambda: gate(1), "name=1 is no text"),
        (lambda: gate("g", 1.5), "after=1.5 is no whole number"),
        (lambda: delivered("a", "1"), "number='1' is no whole number"),
        (lambda: status("500"), "status='500' is no whole number"),
        (lambda: status(500, retry_after="soon"), "retry_after='soon' is no number"),
        (lambda: status(500, 5), "message=5 is no text"),
        (lambda: status(500, headers={"x-a": "b\r\nx-c: d"}), "the header 'x-a' holds a line break"),
        (lambda: status(500, headers={"x a": "b"}), "'x a' is no name of a header"),
        (lambda: status(500, headers={"x-a": 1}), "x-a=1 is no text"),
        (lambda: status(500, headers={"Content-Length": "1"}), "'Content-Length' is written by the server"),
        (lambda: status(500, headers={"transfer-encoding": "x"}), "'transfer-encoding' is written by the server"),
        (lambda: content_type("a\nb"), "the header 'content-type' holds a line break"),
        (lambda: content_type(5), "content-type=5 is no text"),
        (lambda: pace(first="1"), "first='1' is no number"),
        (lambda: pace(float("inf")), "first=inf: it has to be below 3600 seconds"),
        (lambda: pace(float("nan")), "first=nan is no number"),
        (lambda: pace(between=3600), "between=3600: it has to be below 3600"),
        (lambda: pace(tokens_per_second=0), "tokens_per_second=0: it has to be finite"),
        (lambda: pace(tokens_per_second=float("inf")), "tokens_per_second=inf: it has to be finite"),
        (lambda: side_call(5, no_tools=True), "answer=5 is no text"),
        (lambda: side_call("x"), "a side call without a condition"),
    ],
)
def test_what_cannot_be_meant_is_one_clear_error(wrong: Callable[[], Any], complaint: str) -> None:
    """It is raised where it is written, before anything is played."""
    with pytest.raises(ScriptError) as caught:
        wrong()
    assert complaint in str(caught.value)


def test_a_character_of_several_bytes_is_looked_for_in_calls_too() -> None:
    """A cut inside a character needs one, be it in the arguments."""
    assert turn(call("f", q="é"), fault=cut(0, inside="character")).fault == CutFault(0, "fin", "character")
    assert turn(raw_call("f", "é"), fault=cut(0, inside="character")).calls[0].raw_arguments == "é"
