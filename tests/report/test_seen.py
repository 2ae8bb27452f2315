"""What a report keeps of a run."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.verdict import CaseReport
from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.report.explain import explain
from pytest_agentcontract.report.seen import seen
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scenario.observation import Delivery, Exchange, Observation
from pytest_agentcontract.scenario.schemas import complaints
from pytest_agentcontract.wire.faults import StatusFault
from pytest_agentcontract.wire.request import Message, Request, ToolChoice
from pytest_agentcontract.wire.turn import Call, Turn

CASE = next(case for case in load_case.shipped() if case.id == "return/no-reply/nudged-then-replies")


@pytest.fixture
def kept():
    """Return a function that says what is kept of a run of these exchanges."""

    def keep(*exchanges, case=CASE, **delivered) -> JSON:
        delivery = Delivery(**{"ended": "exited", "exit_code": 0, "exit_ok": True, "failed": False, **delivered})
        return seen(CaseReport(case, "mine", "openai-chat", (), Observation(exchanges, delivery)))

    return keep


def _asks(*messages, serial=1, kind="turn", agent="root", delivered=True, **other):
    request = Request("openai-chat", "m", "", messages, (), ToolChoice(), stream=False, body=None)
    return Exchange(serial, agent, kind, request, delivered=delivered, **other)


USER, CALLED = Message("user", ("Go on.",)), Turn(calls=(Call("work", {"at": 1}),))


def test_a_nudge_is_told_from_other_requests(kept):
    """What follows a finish without a call is one; what follows a call is not, nor is a retry."""
    finish = _asks(USER, answer=Turn("Done."), turn=1)
    after = _asks(USER, answer=CALLED, turn=2, serial=2)
    retry = _asks(USER, answer=CALLED, turn=2, serial=3, retry=True)
    work = _asks(Message("tool"), answer=Turn("So."), turn=3, serial=4)
    told = [one.get("nudge", False) for one in kept(finish, after, retry, work)["exchanges"]]
    assert told == [False, True, False, False]


def test_a_scripted_fault_is_named(kept):
    """At the attempt that it spoils, not at the retry that gets through."""
    turns = next(
        (case, at)
        for case in load_case.shipped()
        for at, turn in enumerate(case.script.get("root", ()), 1)
        if isinstance(turn.fault, StatusFault)
    )
    case, at = turns
    first = _asks(USER, kind="fault", turn=at, delivered=False)
    again = _asks(USER, turn=at, retry=True, serial=2)
    told = kept(first, again, case=case)["exchanges"]
    assert [one.get("fault", "")[:7] for one in told] == ["status ", ""]
    assert [(one.get("undelivered"), one.get("again")) for one in told] == [(True, None), (None, True)]


def test_the_result_document_is_kept_where_standard_output_is_not_it(kept):
    """A framework's result goes by another way than its standard output; a program's is there to be read."""
    result = {"result": "", "is_error": False}
    assert kept(document=result, stdout="a log line\n")["run"]["document"] == dumps(result)
    assert "document" not in kept(document=result, stdout=f"{dumps(result, indent=2)}\n")["run"]
    assert "document" not in kept(stdout="a log line\n")["run"]
    assert kept(document=None)["run"]["document"] == "null"


def test_an_explanation_shows_the_result_document_too():
    """In one line, above the ends of the outputs."""
    delivery = Delivery("exited", 0, document={"result": ""}, stdout="a log line\n", exit_ok=True)
    report = CaseReport(CASE, "mine", "openai-chat", (), Observation((), delivery))
    shown = f"the result document: {dumps(delivery.document)}\nend of stdout:\n    a log line\n"
    assert shown in explain(report, (), {}, "", "pytest")


def test_it_is_small_and_harmless_whatever_was_sent(kept):
    """Long texts and long runs are cut, and nothing is in it that a file or a screen can't bear."""
    bad = "\x00\ud800\u202e" + "x" * 100_000
    long = [
        _asks(Message("user", (bad,)), answer=Turn(bad, calls=(Call(bad, {bad: bad}),)), serial=n) for n in range(99)
    ]
    told = kept(*long, document={bad: bad}, stdout=bad, stderr=bad, problem=bad)
    assert told["left_out"] + len(told["exchanges"]) == 99
    assert len(dumps(told)) < 40_000
    assert not {"\x00", "\ud800", "\u202e"} & set(dumps(told))
    assert list(complaints("report", told, "seen")) == []


def test_a_run_that_never_happened_was_not_seen():
    """There is nothing to draw."""
    assert seen(CaseReport(CASE, "mine", "openai-chat", ())) is None
