"""The examples run as they are: the adapter in Node.js is wired up, keeps the hand-off contract, and faults show."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_agentcontract.cli import main
from pytest_agentcontract.conformance.run import applicable, run_case
from pytest_agentcontract.drivers import stdio
from pytest_agentcontract.scenario import load_case, load_vectors
from pytest_agentcontract.scenario.load_profile import load_profiles

FOLDER = Path(__file__).parent.parent / "examples" / "node-adapter"
EVERY_NTH = 7  # a row in seven of each kind is enough to see that the example has not fallen behind

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _node():
    """Say so where there is no Node.js to run the example with."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: there is no `node` on PATH to run the example with")
    yield
    stdio.stop_all()


def profile_in(folder):
    """Return the one profile that a folder of the example holds."""
    [profile] = load_profiles(folder / "agent-contract.toml").values()
    return profile


def test_the_adapter_is_wired_up():
    """`agent-contract adapter check` finds nothing to mend."""
    done = CliRunner().invoke(main, ["adapter", "check", "--", "node", str(FOLDER / "adapter.mjs")])
    assert done.exit_code == 0, done.output
    assert "FAIL" not in done.output


def test_the_adapter_answers_the_vectors(provider):
    """It gives what a sample of the vectors asks for, at whatever level, under the profile beside it."""
    reports = [run_case(row, profile_in(FOLDER), "", provider) for row in load_vectors.shipped()[::EVERY_NTH]]
    assert all(report.verdicts for report in reports)
    assert [(one.case.id, verdict) for one in reports for verdict in one.verdicts if verdict.status != "pass"] == []


def test_the_engine_behind_the_adapter_passes_every_hand_off_case(provider):
    """Its runs pass all of them, on each wire format: none is out of its reach, and nothing else is asked of it."""
    profile = profile_in(FOLDER)
    cases = [case for case in load_case.shipped() if applicable(case, profile) is None]
    assert {case.id for case in cases} == {case.id for case in load_case.shipped() if case.given.handoff}
    for wire in profile.wires:
        reports = [run_case(case, profile, wire, provider) for case in cases]
        assert all(report.verdicts for report in reports)
        assert [(one.case.id, verdict) for one in reports for verdict in one.verdicts if verdict.status != "pass"] == []


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault: what is written in a module in place of what, and the requirements that a case then names."""

    module: str
    swaps: tuple[tuple[str, str], ...]
    case: str
    named: tuple[str, ...]


FAULTS = {
    "a callback outranks the agent's own hold": Planted(
        "routing.mjs",
        (("[call, stop, destination, callback, edge]", "[call, callback, stop, destination, edge]"),),
        "handoff/precedence/hold-over-callback",
        ("HND-302", "HND-403", "HND-404", "HND-701", "HND-706"),  # nobody waits for a human, so none is told
    ),
    "the issue's author is told before the starter": Planted(
        "people.mjs",
        (("started_by || issue_author", "issue_author || started_by"),),
        "handoff/people/notice-lost-in-a-crash",
        ("HND-702",),
    ),
    "a callback outlives the return to the caller": Planted(
        "routing.mjs",
        (
            (
                "function outcome({ step, dispatch }, decided)",
                "function outcome({ step, dispatch, registered }, decided)",
            ),
            ("callback: null, called_by: null, ...decided", "callback: registered, called_by: null, ...decided"),
        ),
        "handoff/callback/stale",
        ("HND-406",),
    ),
    "a callback is not posted": Planted(
        "engine.mjs",
        (("CONFIG_CALLBACK: outcome.callback", "CONFIG_CALLBACK: null"),),
        "handoff/callback/lasts-between-processes",
        ("HND-407",),
    ),
    "an event that is delivered twice runs twice": Planted(
        "engine.mjs",
        (("if (events.includes(event.id) || comments.includes(event.comment)) return false;", ""),),
        "handoff/people/redelivered-event",
        ("HND-701",),
    ),
    "a report is posted as it is": Planted(
        "engine.mjs",
        (("bodyOf(inert(ended.text), ", "bodyOf(ended.text, "),),
        "handoff/people/mentions-in-a-report",
        ("HND-704",),
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_named(fault, tmp_path, provider):
    """A case that the example passes fails on a copy with the fault, under what that breaks and nothing else."""
    folder = tmp_path / "faulty"
    shutil.copytree(FOLDER, folder)
    module = folder / fault.module
    source = module.read_text("utf-8")
    for right, wrong in fault.swaps:
        assert source.count(right) == 1
        source = source.replace(right, wrong)
    module.write_text(source, "utf-8")
    [case] = [case for case in load_case.shipped() if case.id == fault.case]
    report = run_case(case, profile_in(folder), "openai-chat", provider)
    assert tuple(sorted(verdict.requirement for verdict in report.verdicts if verdict.status == "fail")) == fault.named
