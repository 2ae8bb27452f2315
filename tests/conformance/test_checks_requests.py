"""The checks of what stands in requests, on runs played by hand and then falsified in one place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.conformance import history
from pytest_agentcontract.wire.request import Message, Request, Thinking, ToolChoice, ToolResult
from pytest_agentcontract.wire.turn import SIGNATURE, Call

WORK = {"calls": [{"tool": "$work"}]}
REPLY = {"calls": [{"tool": "$return", "value": "R"}]}


def script(*turns):
    """Script a root that works, goes through some turns and replies."""
    return {"script": {"root": [WORK, *turns, REPLY]}, "expect": {"result": {"status": "success", "value": "R"}}}


PLAIN, SAID, MUTE = script(), script({"text": "I begin.", **WORK}), script({"text": ""})
CUT = script({"calls": [{"tool": "$work", "mark": "cut", "truncate": 1}]})
PAIR = [{"tool": "$work", "mark": mark, "id": "same"} for mark in ("one", "two")]
TWINS = script({"calls": PAIR})
THOUGHT = script({"thinking": "Hm.", **WORK})
ALONE = {"script": {"root": [{"text": "R"}]}, "expect": {"result": {"status": "success", "value": "R"}}}


def told(run, number, change, **body):
    """Return a run in which one request, counted from 1, holds other messages."""
    exchanges = [*run.observation.exchanges]
    request = exchanges[number - 1].request
    messages = tuple(change(message) for message in request.messages)
    exchanges[number - 1] = replace(exchanges[number - 1], request=replace(request, messages=messages, body=body))
    return replace(run, observation=replace(run.observation, exchanges=tuple(exchanges)))


def as_it_is(message):
    """Change nothing."""
    return message


def forgotten(message):
    """Leave out the calls."""
    return replace(message, calls=())


def unanswered(message):
    """Leave out the results."""
    return replace(message, results=message.results[1:])


def wordless(message):
    """Leave out what the model said."""
    return replace(message, texts=()) if message.role == "assistant" else message


def other_words(message):
    """Have somebody else's words in the place of the model's."""
    return replace(message, texts=("I am done.",)) if message.texts and message.role == "assistant" else message


def emptied(message):
    """Leave nothing of what the model said and did."""
    return Message("assistant") if message.role == "assistant" else message


def shown_as(arguments):
    """Hand broken calls back with these arguments."""
    return lambda message: replace(
        message, calls=tuple(Call(c.name, arguments, id=c.id) if c.raw_arguments else c for c in message.calls)
    )


def thinking(text="Hm.", signature=SIGNATURE):
    """Hand thinking back before each call."""
    return lambda message: replace(message, thinking=(Thinking(text, signature),)) if message.calls else message


def spaced(message):
    """Lay the same words out differently."""
    return replace(message, texts=tuple(f" {text.replace(' ', '  ')}\n" for text in message.texts))


ON = {"thinking": {"type": "enabled"}}

ROWS = [
    ("WIR-101", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("WIR-101", PLAIN, "fail", lambda s: told(s.root(2).success("R"), 2, forgotten)),
    ("WIR-101", ALONE, "not-verified", lambda s: s.root().success("R")),
    ("WIR-102", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("WIR-102", PLAIN, "fail", lambda s: told(s.root(2).success("R"), 2, unanswered)),
    ("WIR-102", TWINS, "fail", lambda s: told(s.root(3).success("R"), 3, unanswered)),
    ("WIR-102", ALONE, "not-verified", lambda s: s.root().success("R")),
    ("WIR-103", CUT, "pass", lambda s: told(s.root(3).success("R"), 3, shown_as({}))),
    ("WIR-103", CUT, "pass", lambda s: told(s.root(3).success("R"), 3, shown_as({"broken": '{"value": "cut'}))),
    ("WIR-103", CUT, "fail", lambda s: s.root(3).success("R")),
    ("WIR-103", CUT, "fail", lambda s: told(s.root(3).success("R"), 3, shown_as('{"value": "cut'))),
    ("WIR-103", CUT, "fail", lambda s: told(s.root(3).success("R"), 3, shown_as({"value": "cut"}))),
    ("WIR-103", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("WIR-104", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("WIR-104", MUTE, "fail", lambda s: s.root(3).success("R")),
    ("WIR-104", PLAIN, "fail", lambda s: told(s.root(2).success("R"), 2, emptied)),
    ("WIR-104", ALONE, "not-verified", lambda s: s.root().success("R")),
    ("WIR-105", SAID, "pass", lambda s: s.root(3).success("R")),
    ("WIR-105", SAID, "pass", lambda s: told(s.root(3).success("R"), 3, spaced)),
    ("WIR-105", SAID, "fail", lambda s: told(s.root(3).success("R"), 3, wordless)),
    ("WIR-105", SAID, "fail", lambda s: told(s.root(3).success("R"), 3, other_words)),
    ("WIR-105", SAID, "fail", lambda s: told(s.root(3).success("R"), 3, emptied)),
    ("WIR-105", ALONE, "not-verified", lambda s: s.root().success("R")),
    ("WIR-106", THOUGHT, "pass", lambda s: told(s.root(3).success("R"), 3, thinking(), **ON)),
    ("WIR-106", THOUGHT, "fail", lambda s: told(s.root(3).success("R"), 3, thinking(signature=""))),
    ("WIR-106", THOUGHT, "fail", lambda s: told(s.root(3).success("R"), 3, thinking(signature="forged"))),
    ("WIR-106", THOUGHT, "fail", lambda s: told(s.root(3).success("R"), 3, as_it_is, **ON)),
    ("WIR-106", THOUGHT, "not-verified", lambda s: s.root(3).success("R")),
    ("WIR-107", TWINS, "pass", lambda s: s.root(3).success("R")),
    ("WIR-107", TWINS, "pass", lambda s: s.root(2).lost("two").failure()),
    ("WIR-107", TWINS, "fail", lambda s: s.root(3).lost("two").success("R")),
    ("WIR-107", TWINS, "fail", lambda s: told(s.root(3).success("R"), 3, unanswered)),
    ("WIR-107", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
]


@pytest.mark.parametrize(
    ("requirement", "case", "status", "play"), ROWS, ids=[f"{row[0]}-{n}-{row[2]}" for n, row in enumerate(ROWS)]
)
def test_a_check_finds_what_stands_in_requests(scene, found, requirement, case, status, play):
    """Each check passes, fails and abstains as the row says."""
    assert found(requirement, play(scene(case))).status == status


@pytest.mark.parametrize(
    ("requirement", "case", "change", "body", "observed"),
    [
        ("WIR-101", PLAIN, forgotten, {}, "message 3 of request 2 holds a result of 'root-0-0'"),
        ("WIR-102", PLAIN, unanswered, {"messages": [{}, {}, {}, {}]}, "/messages/2 of request 2 calls 'touch'"),
        ("WIR-104", PLAIN, emptied, {}, "message 2 of request 2 is empty"),
    ],
)
def test_the_evidence_names_request_and_message(scene, found, requirement, case, change, body, observed):
    """A pointer where the wire format has messages (a system prompt stands before them), else a number."""
    run = told(scene(case).root(2).success("R"), 2, change, **body)
    assert found(requirement, run).observed.startswith(observed)


def request(*messages, **body):
    """Build a request that holds some messages."""
    return Request("anthropic-messages", "m", "", messages, (), ToolChoice(), stream=False, body=body)


GO, CALL, DONE = Message("user", ("Go.",)), Message("assistant", ("I.",), (Call("touch", {"a": 1}, id="1"),)), "done"
RESULT = Message("user", results=(ToolResult("1", DONE),))


@pytest.mark.parametrize(
    ("after", "change"),
    [
        ((GO, CALL, RESULT), None),
        ((GO, CALL, replace(RESULT, texts=("And now?",)), Message("assistant", ("Yes.",))), None),
        ((GO, CALL, RESULT, Message("user", ("Go on.",))), None),
        ((GO, replace(CALL, calls=(Call("touch", {"a": 1}, id="2"),)), Message("tool", results=RESULT.results)), None),
        ((Message("user", ("Go.", "Remember.")), CALL, RESULT), history.Change(0, "has changed")),
        ((GO, replace(CALL, texts=("You.",)), RESULT), history.Change(1, "has changed")),
        ((GO, replace(CALL, calls=(Call("touch", {"a": 2}, id="1"),)), RESULT), history.Change(1, "has changed")),
        ((GO, CALL, Message("user", results=(ToolResult("1", "cleared"),))), history.Change(2, "has changed")),
        ((Message("user", ("Summary: all went well.",)),), history.Change(0, "has changed")),
        ((GO, CALL), history.Change(2, "has vanished")),
    ],
)
def test_history_is_compared_as_a_model_reads_it(after, change):
    """More at the end, other ids and other seams are no change; other words are, and so is what is gone."""
    assert history.change(history.sides(request(GO, CALL, RESULT)), history.sides(request(*after))) == change


@pytest.mark.parametrize(
    ("content", "empty"),
    [([], True), ("", True), ([{"type": "text", "text": " "}], True), ([{"type": "redacted_thinking"}], False)],
)
def test_a_block_that_nobody_reads_is_something(content, empty):
    """A message is empty only if its body is."""
    assert history.is_empty(request(Message("assistant"), messages=[{"content": content}]), 0) is empty


def test_a_request_that_leans_on_a_stored_one_tells_no_history(scene, found):
    """What its provider keeps, it need not hold."""
    run = told(scene(PLAIN).root(2).success("R"), 2, forgotten, previous_response_id="r1")
    assert found("WIR-101", run).status == "not-verified"
