"""A recorded run of a runtime becomes a case: its tools by their parts, so that it can be judged like any other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.recorded.as_case import as_case
from pytest_agentcontract.recorded.parts import as_return, as_work, opened
from pytest_agentcontract.scenario import load_case, load_profile
from pytest_agentcontract.scenario.observation import REFUSALS
from pytest_agentcontract.scenario.profile import Binding
from pytest_agentcontract.scripted import call, turn
from pytest_agentcontract.scripted.playbook import Playbook
from tests.recorded.taking import asked, cassette, desk, said

CASES = {case.id: case for case in load_case.shipped() if case.vector is None}
PLAYED = [
    "return/no-reply/empty-finish",
    "return/no-reply/nudged-then-replies",
    "return/payload/object-stays-an-object",
    "return/sub-agent/large-object",
    "return/sub-agent/several-out-of-order",
    "return/sub-agent/string-stands-raw",
    "return/termination/batch-lands-first",
    "return/termination/failing-sibling",
    "return/termination/reply-ends-the-run",
]
WIRE = "anthropic-messages"


@pytest.mark.parametrize("case_id", PLAYED)
def test_a_run_of_the_reference_is_a_case_that_it_can_be_judged_by(run_recorded, provider, tmp_path, case_id):
    """Return, work and children are told by their parts; the runtime goes the same way, and uses all of the script."""
    reference = load_profile.shipped()["reference"]
    made = as_case(run_recorded(CASES[case_id], WIRE), reference, [one.requirement for one in CASES[case_id].covers])
    assert made.dropped == ()
    assert list(load_case.faults(made.script)) == []
    assert len(made.script["script"]) == len(CASES[case_id].script)
    path = tmp_path / "case.json"
    path.write_text(dumps(made.script), "utf-8")
    report = run_case(load_case.load_case(path), reference, WIRE, provider)
    assert report.observation.unused == {}
    assert {one.kind for one in report.observation.exchanges} & REFUSALS == set()
    assert {verdict.status for verdict in report.verdicts} <= {"pass", "not-verified"}


REPLY = Binding("reply", payload="/value")
TOUCH = Binding("write_{agent}", {"path": "{workdir}/{mark}.txt", "options": ["x", 1]})


@pytest.mark.parametrize(
    ("binding", "arguments", "expected"),
    [
        (REPLY, {"value": "v"}, {"tool": "$return", "value": "v"}),
        (REPLY, {"value": None}, {"tool": "$return", "value": None}),
        (REPLY, {}, {"tool": "$return"}),
        (REPLY, {"value": 1, "note": 2}, None),
        (REPLY, {"valeu": 1}, None),
        (Binding("reply"), {"a": 1}, {"tool": "$return", "value": {"a": 1}}),
        (
            Binding("reply", {"kind": "r"}, "/in/value"),
            {"kind": "r", "in": {"value": 3}},
            {"tool": "$return", "value": 3},
        ),
        (Binding("reply", {"kind": "r"}, "/in/value"), {"kind": "s", "in": {"value": 3}}, None),
    ],
)
def test_a_return_is_known_by_its_binding(binding, arguments, expected):
    """Its value stands where the profile says, and nothing else but what the profile adds."""
    assert as_return(binding, {"tool": "reply", "arguments": arguments}) == expected


def test_a_call_that_does_not_fit_a_binding_is_none_of_it():
    """Other names, other arguments, and broken ones; what a profile leaves open may be anything but nothing."""
    fit = {"path": "/anywhere/a/b.txt", "options": ["x", 1]}
    assert opened(TOUCH, {"tool": "write_me", "arguments": fit}) == {
        "agent": "me",
        "workdir": "/anywhere",
        "mark": "a/b",
    }
    for name, arguments in (
        ("write_", fit),
        ("writeme", fit),
        ("write_me", fit | {"more": 1}),
        ("write_me", {"path": 1}),
    ):
        assert opened(TOUCH, {"tool": name, "arguments": arguments}) is None
    assert opened(TOUCH, {"tool": "write_me", "raw_arguments": "{"}) is None
    assert as_return(REPLY, {"tool": "reply", "raw_arguments": "{"}) is None
    marks: dict[str, str] = {}
    binding = Binding("touch", {"path": "{mark}"})
    made = [as_work(binding, {"tool": "touch", "arguments": {"path": path}}, marks) for path in ("/a", "/b", "/a")]
    assert [one["mark"] for one in made] == ["work-1", "work-2", "work-1"]


def test_what_is_no_part_of_a_case_is_named():
    """A tool of no part keeps its name; a conversation that nothing starts is left out; a nonce's place is no text."""
    model = desk(Playbook({"root": (turn("{nonce}", replace(call("grep", q=1), unadvertised=True)), turn("Alone."))}))
    model.ask(asked("openai-chat", said("openai-chat", "Go.")))
    model.ask(asked("openai-chat", said("openai-chat", "Title?")))
    made = as_case(cassette(*model.kept), load_profile.shipped()["reference"], ["RET-101"])
    assert [(note.number, note.dropped, note.what.split()[0]) for note in made.notes] == [
        (0, False, "calls"),
        (0, False, "not"),
        (1, True, "begins"),
    ]
    assert json.loads(dumps(made.script))["given"] == {"mode": "json", "prompt": "Go."}
    assert made.kept == (0,)
