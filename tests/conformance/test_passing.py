"""Control that passes without a sentinel, on runs made by hand: what fails a requirement, and what tells nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.conformance import passing
from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.conformance.requirements import load
from pytest_agentcontract.scenario.binding import tool_name
from pytest_agentcontract.scenario.case import HANDOFF, SPAWN, ScriptedCall
from pytest_agentcontract.scenario.profile import Binding

WORK = {"calls": [{"tool": "$work"}]}
CHILD = [WORK, {"text": "Done."}]


def moves(covers, order, *more, tool="$handoff", child=None, **expected):
    """Write a case in which the root passes control to a child."""
    return {
        "covers": [covers],
        "script": {"root": [WORK, {"calls": [{"tool": tool, "agent": "child"}]}, *more], "child": child or CHILD},
        "expect": {
            "result": {"status": "success", "value": "Done."},
            "route": [{"covers": [covers], "order": order, **expected}],
        },
    }


NAMED = moves("HND-301", {"begins": ["root", "child"]})
ALONE = moves("HND-406", ["root", "child"])
CALLED = moves("HND-303", ["root", "child", "root"], {"text": "Done."}, tool="$spawn")
KEPT = moves(
    "HND-404", ["root", "child", "root"], {"text": "Done."}, tool="$spawn", child=[WORK, *CHILD], unfinished=[]
)


@pytest.mark.parametrize(
    ("case", "status", "play"),
    [
        (NAMED, "pass", lambda s: s.root(2).child(2).success("Done.")),
        (NAMED, "pass", lambda s: s.root(2).child(2).root(kind="beyond").success("Done.")),
        (NAMED, "fail", lambda s: s.root(2).success("Done.")),
        (NAMED, "fail", lambda s: s.root(2).root(kind="beyond").success("Done.")),
        (NAMED, "not-verified", lambda s: s.root(1).failure()),
        (NAMED, "not-verified", lambda s: s.root(1).root(delivered=False).failure()),
        (NAMED, "not-verified", lambda s: s.root(1).root(kind="withheld", note="no tool").failure()),
        (NAMED, "not-verified", lambda s: s.root(2).child(1).failure()),
        (NAMED, "not-verified", lambda s: s.root(2).child(2).success("Something else.")),
        (NAMED, "not-verified", lambda s: s.root(2).child(2).lost("w2").success("Done.")),
        (NAMED, "not-verified", lambda s: s.success("Done.")),
        (ALONE, "pass", lambda s: s.root(2).child(2).success("Done.")),
        (ALONE, "fail", lambda s: s.root(2).child(2).root(kind="beyond").success("Done.")),
        (CALLED, "pass", lambda s: s.root(2).child(2).root().success("Done.")),
        (CALLED, "fail", lambda s: s.root(2).child(2).success("Done.")),
        (CALLED, "not-verified", lambda s: s.root(2).child(1).failure()),
        (KEPT, "pass", lambda s: s.root(2).child(3).root().success("Done.")),
        (KEPT, "fail", lambda s: s.root(2).child(2).root().success("Done.")),
        (KEPT, "not-verified", lambda s: s.root(2).child(2).failure()),
    ],
)
def test_the_order_of_agents_decides(scene, found, case, status, play):
    """Where control went on, and where to, is evidence; a run that broke off or was refused something is none."""
    (requirement,) = case["covers"]
    finding = found(requirement, play(scene(case)))
    assert finding.status == status, finding


def test_who_asks_again_counts_once(scene):
    """The order is that of control, not of requests."""
    run = scene(NAMED).root(2).child(2).root(2, kind="beyond").success("Done.")
    assert passing.order(run) == ("root", "child", "root")


def test_an_agent_that_nothing_tells_apart_makes_the_case_not_applicable(scene, full):
    """A profile that knows its agents by their models lists them; a stranger's requests would be nobody's."""
    profile = replace(
        full,
        capabilities=full.capabilities | {"transfer"},
        tools={**full.tools, "handoff": Binding("to_{agent}")},
        attribution="model",
    )
    case = scene(NAMED).case
    assert applicable(case, replace(profile, agents={"root": "r", "child": "c"})) is None
    assert applicable(case, replace(profile, agents={"root": "r"})) == (
        "the profile says of no agent child by which model it is known"
    )
    assert applicable(case, full) == "the profile does not declare transfer"


@pytest.mark.parametrize("capability", ["handoff", "transfer", "agents-as-tools"])
def test_whoever_passes_control_is_asked(full, capability):
    """The requirements that need no sentinel speak of all that hand control on, the others of engines alone."""
    profile = replace(full, capabilities=frozenset({capability}))
    assert load()["HND-301"].inapplicable(profile) == ""
    assert bool(load()["HND-304"].inapplicable(profile)) == (capability != "handoff")
    assert load()["HND-301"].inapplicable(full)


@pytest.mark.parametrize("tool", [SPAWN, HANDOFF])
def test_a_tool_can_be_named_after_its_agent(full, tool):
    """One tool for each agent is bound by one line."""
    profile = replace(full, tools={tool[1:]: Binding("to_{agent}")})
    assert tool_name(ScriptedCall(tool, agent="helper"), profile) == "to_helper"
