"""The checks of the hand-off contract on runs that are made by hand: each bites on its own fields, and on no others."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_agentcontract.conformance.checks import CHECKS, handoff_routing, handoff_sentinel, handoff_told
from pytest_agentcontract.conformance.checks.check import Check
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.judge import judge
from pytest_agentcontract.scenario.load_case import load_case
from pytest_agentcontract.scenario.observation import Delivery, Exchange, Invocation, Observation
from pytest_agentcontract.wire.request import Message, Request, Tool, ToolChoice
from pytest_agentcontract.wire.turn import Turn

MODULES = (handoff_sentinel, handoff_routing, handoff_told)
HANDOFF = sorted(
    {check.requirement for module in MODULES for check in vars(module).values() if isinstance(check, Check)}
)
ADVANCE = {"dispatch": {"status": "advance"}}
REPORT = "Report of the run, number 7."
PROMPT = (
    "Be brief.\n\n## Your Team\n\nYou are one: plans\n- two: reads\n\n"
    "- Delegate by call_agent. Mentions are for humans.\n"
    "- Your answer returns to the caller by its callback: a turn of a conversation.\n"
)

AS_STATED = {
    "agent": "one",
    "posted": 1,
    "next": "two",
    "status": "running",
    "step": "s1",
    "dispatch": "advance",
    "origin": "agent",
    "reason": "because",
    "callback": None,
    "called_by": None,
    "notice": None,
    "config": ADVANCE,
    "text": {"contains": ["Report"]},
    "caller": "two",
    "returns_to": None,
}
"""What is expected of each invocation, and what comes of it where a test changes nothing."""

OTHERWISE = {
    "agent": "two",
    "posted": 2,
    "next": "one",
    "status": "ended",
    "step": "s2",
    "dispatch": "hold",
    "origin": "engine_fallback",
    "reason": "for another reason",
    "callback": "one",
    "called_by": "two",
    "notice": "bob",
    "config": {"dispatch": {"status": "hold"}},
    "text": "",
    "caller": "one",
    "returns_to": "two",
}
"""For each field a value that is not the expected one."""

ANNOUNCED = {"notice": "alice", "posted": 2}


class Bench:
    """Makes runs of a case with so many invocations, all of which expect the same and show one requirement."""

    def __init__(self, folder, profile, requirement, *, invocations=1, only=None, should=(), **expected):
        stated = {**AS_STATED, **expected}
        entries = [{"covers": [requirement], "should": list(should), **stated} for _ in range(invocations)]
        if only is not None:
            entries[1 - only]["covers"] = []
        path = folder / "case.json"
        path.write_text(json.dumps(_document(requirement, entries)))
        self.case, self.requirement, self.stated = load_case(path, "handoff/case"), requirement, stated
        self.profile = replace(profile, capabilities=profile.capabilities | {"handoff"})

    def judge(self, *changes, lost=(), prompt=PROMPT, body=None, altered=()):
        """Let each invocation come out as stated, but for its changes, and return the finding."""
        return CHECKS[self.requirement].judge(self.run(*changes, lost=lost, prompt=prompt, body=body, altered=altered))

    def run(self, *changes, lost=(), prompt=PROMPT, body=None, altered=()):
        """Let each invocation come out as stated, but for its changes, and return the run."""
        exchanges, invocations = [], []
        for number in range(len(self.case.expect.route)):
            seen = {**self.stated, **(changes[number] if number < len(changes) else {})}
            asked = _asked(seen, len(exchanges), prompt)
            exchanges += asked
            posted = tuple(_posted(seen, body))
            invocations.append(Invocation(_delivery(), posted, tuple(one.serial for one in asked), altered))
        marks = frozenset({"w1", "w2"}) - set(lost)
        observation = Observation(tuple(exchanges), _delivery(), marks, invocations=tuple(invocations))
        return Run(self.case, self.profile, "anthropic-messages", observation)


@pytest.fixture
def bench(tmp_path, full):
    """Open a bench for one requirement."""
    return lambda requirement, **how: Bench(tmp_path, full, requirement, **how)


def _document(requirement, entries):
    script = [{"calls": [{"tool": "$work"}]}, {"calls": [{"tool": "$return", "value": REPORT}]}]
    workflow = {
        "name": "w",
        "agents": {"one": {"role": "plans"}, "two": {"role": "reads"}},
        "steps": [{"id": "s1", "agent": "one"}],
    }
    thread = [{"id": "c1", "author": "alice", "body": "Go."}]
    events = [{"id": "e1", "comment": "c1"}, *[None] * (len(entries) - 1)]
    return {
        "title": "t",
        "why": "w",
        "covers": [requirement],
        "given": {"mode": "handoff", "handoff": {"workflow": workflow, "thread": thread, "events": events}},
        "script": {"one": script, "two": script},
        "expect": {"route": entries},
    }


def _asked(seen, count, prompt):
    told = f"You were called by {seen['caller']}" if seen["caller"] else ""
    told += f" — your result returns to {seen['returns_to']}." if seen["returns_to"] else ""
    request = Request(
        "anthropic-messages",
        "m",
        prompt + told,
        (Message("user", ("Go.",)),),
        (Tool("reply"),),
        ToolChoice(),
        stream=False,
        body={},
    )
    return [
        Exchange(count + turn, seen["agent"], "turn", request, turn, Turn("."), delivered=True)
        for turn in (1, 2)
        if seen["agent"]
    ]


def _posted(seen, body):
    running = seen["status"] == "running"
    state = {
        "workflow": "w",
        "step": seen["step"],
        "agent": seen["agent"],
        "next": seen["next"] if running else "one",
        "called_by": seen["called_by"],
        "status": seen["status"],
        "dispatch": {"status": seen["dispatch"], "origin": seen["origin"], "reason": seen["reason"]},
        "CONFIG_CALLBACK": seen["callback"],
    }
    line = f"<!-- WORKFLOW_STATE {json.dumps(state)} -->"
    text = "" if seen["text"] == "" else REPORT
    lines = [text, "", f"<!-- AGENT_RUN_CONFIG {json.dumps(seen['config'])} -->", line]
    yield _comment(seen["agent"], body or "\n".join(lines))
    if seen["notice"]:
        yield _comment(None, f"@{seen['notice']} the workflow holds.\n\n{line}")
    elif seen["posted"] == 2:
        yield _comment("one", "\n".join(lines))


def _comment(agent, body):
    return {"id": "x", "author": {"name": "engine", "kind": "engine"}, "agent": agent, "body": body, "created": "now"}


def _delivery():
    return Delivery("exited", 0, exit_ok=True)


def _fields(requirement):
    """Return the fields that a check along a route speaks of, as its own words say; none for the others."""
    words = CHECKS[requirement].look.__doc__ or ""
    found = words.removeprefix("Compare ").partition(" of the invocations")[0]
    return [*AS_STATED] if found == "every field" else [name for name in found.split(", ") if name in AS_STATED]


ALONG = [requirement for requirement in HANDOFF if _fields(requirement)]
EACH_FIELD = [(requirement, name) for requirement in ALONG for name in _fields(requirement)]
BESIDE = [
    (requirement, next(name for name in ("callback", "step", "origin") if name not in _fields(requirement)))
    for requirement in ALONG
    if len(_fields(requirement)) < len(AS_STATED)
]
ONE_BY_ONE = [requirement for requirement in HANDOFF if requirement not in ALONG]


@pytest.mark.parametrize("requirement", HANDOFF)
def test_what_comes_out_as_stated_passes(bench, requirement):
    """A run that is as the case says earns the requirement."""
    finding = bench(requirement).judge()
    assert finding.status == "pass", finding


@pytest.mark.parametrize(("requirement", "name"), EACH_FIELD)
def test_a_check_bites_on_each_field_of_its_own(bench, requirement, name):
    """Whatever the requirement speaks of fails it, if it is otherwise."""
    finding = bench(requirement).judge({name: OTHERWISE[name]})
    assert finding.status == "fail", finding


@pytest.mark.parametrize(("requirement", "name"), BESIDE)
def test_a_check_says_nothing_of_a_route_that_parted_before(bench, requirement, name):
    """A field of another requirement that is otherwise in an earlier invocation is not blamed on this one."""
    finding = bench(requirement, invocations=2, only=1).judge({name: OTHERWISE[name]})
    assert (finding.status, "parts at invocation 1" in finding.why) == ("not-verified", True), finding


@pytest.mark.parametrize("requirement", HANDOFF)
def test_a_check_says_nothing_of_agents_that_did_not_work(bench, requirement):
    """Without the mark of the first work nothing is earned."""
    finding = bench(requirement).judge(lost=("w1",))
    assert (finding.status, finding.why.partition(":")[0]) == ("not-verified", "worked"), finding


@pytest.mark.parametrize("requirement", HANDOFF)
def test_a_check_says_nothing_of_reports_that_were_not_posted(bench, requirement):
    """What the agent returned in this run has to stand in its comment; a canned one earns nothing."""
    finding = bench(requirement).judge({"text": ""})
    assert finding.status != "pass", finding


@pytest.mark.parametrize("requirement", [one for one in ALONG if "agent" not in _fields(one)])
def test_a_check_says_nothing_of_an_agent_that_did_not_run(bench, requirement):
    """What another agent did is no evidence for what this one's decision leads to."""
    finding = bench(requirement).judge({"agent": "two", "next": "one", "callback": "one"})
    assert (finding.status, "agent: it is" in finding.why) == ("not-verified", True), finding


def test_a_field_that_only_should_be_is_no_must(bench):
    """The level is the case's to lower, field by field."""
    finding = bench("HND-304", should=["step"]).judge({"step": "s2"})
    assert (finding.status, finding.level) == ("fail", "SHOULD")


def test_a_run_that_went_no_further_leaves_the_rest_unverified(bench):
    """An invocation that never happened shows nothing."""
    opened = bench("HND-304", invocations=2)
    opened.case = replace(opened.case, expect=replace(opened.case.expect, route=opened.case.expect.route[:1]))
    short = replace(opened.case, expect=replace(opened.case.expect, route=opened.case.expect.route * 2))
    exchanges = tuple(_asked(AS_STATED, 0, PROMPT))
    invocations = (Invocation(_delivery(), tuple(_posted(AS_STATED, None)), (1, 2)),)
    observation = Observation(exchanges, _delivery(), frozenset({"w1", "w2"}), invocations=invocations)
    finding = CHECKS["HND-304"].judge(Run(short, opened.profile, "anthropic-messages", observation))
    assert (finding.status, finding.why) == ("not-verified", "the run went no further")


@pytest.mark.parametrize("requirement", ["HND-701", "HND-703"])
@pytest.mark.parametrize(
    ("expected", "seen", "status"),
    [
        (ANNOUNCED, ANNOUNCED, "pass"),
        (ANNOUNCED, {"notice": "bob", "posted": 2}, "pass"),
        (ANNOUNCED, {"notice": None, "posted": 1}, "fail"),
        (ANNOUNCED, {"notice": "alice and @bob", "posted": 2}, "fail"),
        ({}, ANNOUNCED, "fail"),
    ],
    ids=["one", "another-person", "none", "two-mentions", "too-much"],
)
def test_a_notice_is_one_mention_whoever_is_told(bench, requirement, expected, seen, status):
    """How many are told is one requirement, who it is another."""
    assert bench(requirement, **expected).judge(seen).status == status


def test_who_is_told_is_a_requirement_of_its_own(bench):
    """The wrong person fails the requirement that names the right one."""
    assert bench("HND-702", **ANNOUNCED).judge({"notice": "bob", "posted": 2}).status == "fail"


STATE = '<!-- WORKFLOW_STATE {"status": "running", "next": "two", "agent": "one", "dispatch": null} -->'


@pytest.mark.parametrize(
    ("requirement", "body"),
    [
        ("HND-101", f"{REPORT}\n\n<!-- AGENT_RUN_CONFIG [1] -->\n{STATE}"),
        ("HND-101", f'{REPORT}\n\n<!-- AGENT_RUN_CONFIG {{"task": null}} -->\n{STATE}'),
        ("HND-101", f"{REPORT}\n\n<!-- AGENT_RUN_CONFIG\n{{}} -->\n{STATE}"),
        ("HND-103", f"{REPORT}\n\n{STATE}"),
        ("HND-103", f'{REPORT}\n<!-- AGENT_RUN_CONFIG {{"task": "x"}} -->\n<!-- AGENT_RUN_CONFIG {{}} -->\n{STATE}'),
        ("HND-704", f"{REPORT}\n@carol\n<!-- AGENT_RUN_CONFIG {{}} -->\n{STATE}"),
    ],
)
def test_a_posted_body_that_is_not_in_form_fails(bench, requirement, body):
    """The form of a report is looked at in every comment."""
    finding = bench(requirement).judge(body=body)
    assert finding.status == "fail", finding


@pytest.mark.parametrize(
    ("requirement", "prompt"),
    [
        ("HND-801", "Be brief."),
        ("HND-801", PROMPT + PROMPT),
        ("HND-801", PROMPT.replace("reads", "read")),
        ("HND-802", PROMPT.replace("call_agent", "a mention")),
        ("HND-802", PROMPT.replace("humans", "teammates")),
        ("HND-802", PROMPT.replace("returns", "goes").replace("callback", "engine")),
        ("HND-802", PROMPT.replace("a turn of a conversation", "done")),
    ],
)
def test_a_prompt_without_its_section_fails(bench, requirement, prompt):
    """Section, roles and rules stand in every system prompt."""
    finding = bench(requirement).judge(prompt=prompt)
    assert finding.status == "fail", finding


@pytest.mark.parametrize(("part", "status"), [("Go.", "pass"), ("You are one", "pass"), ("Come.", "fail")])
def test_what_an_agent_is_shown_stands_in_its_first_request(bench, part, status):
    """It may stand in the system prompt or in a message; how it gets there, the source leaves open."""
    finding = bench("HND-802", should=["shown"], shown={"contains": [part]}).judge()
    assert (finding.status, finding.level) == (status, None if status == "pass" else "SHOULD")


def test_a_route_replays_only_if_each_state_names_who_ran_next(bench):
    """A state that names one agent, and a report of another, is a record that nobody can follow."""
    finding = bench("HND-904", invocations=2).judge({}, {"agent": "one"})
    assert (finding.status, finding.observed) == ("fail", '"one" ran after a state that names "two"')


@pytest.mark.parametrize("requirement", ["HND-304", "HND-904"])
def test_an_earlier_comment_that_was_altered_fails_whatever_the_case_is_about(bench, requirement):
    """The route may be right: what was posted before is no record any more."""
    altered = bench(requirement).run(altered=('comment "c1" (0001.json) is gone',))
    [found] = [one for one in judge(altered) if one.status == "fail"]
    assert (found.requirement, found.level) == ("HND-904", "MUST")
    assert found.observed == 'invocation 1: comment "c1" (0001.json) is gone'
    assert all(one.status == "pass" for one in judge(bench(requirement).run()))


def test_every_check_that_is_no_comparison_has_a_test_of_its_own():
    """What is looked at otherwise than field by field is tested above by name."""
    assert set(ONE_BY_ONE) == {"HND-101", "HND-103", "HND-704", "HND-801", "HND-802", "HND-904"}
