"""Outcomes held against snapshots: the shipped ones, and those that a user pins."""

from __future__ import annotations

import json
import shutil
from functools import partial

import pytest

from pytest_agentcontract import resources
from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.conformance.verdict import CaseReport, Verdict
from pytest_agentcontract.plugin import bench
from pytest_agentcontract.plugin.account import NOTHING_VERIFIED
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.wire.formats import FORMATS

CASE = "return/no-reply/empty-finish"
ITEM = "agent-contract::return::no-reply/empty-finish"
MINE = """
snapshots = "tests/agent_contract"
[runtimes.mine]
driver = "python"
entry = "my_agent:run"
wires.openai-chat = {env = {OPENAI_BASE_URL = "{base_url}"}}
tools.work = {name = "touch", arguments = {path = "{mark}"}}
capabilities = ["headless"]
"""


PROFILE = (resources.profiles() / "reference.toml").read_text("utf-8").replace("runtimes.reference]", "runtimes.mine]")


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    """Return a copy of the shipped outcomes' folder, holding one outcome."""
    folder = tmp_path / "outcomes"
    path = folder / f"{CASE}.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"value": 1, "status": "success"}', "utf-8")
    monkeypatch.setattr(resources, "outcomes", lambda: folder)
    return folder


@pytest.fixture
def delivers(monkeypatch, sparing):
    """Return a function that sets the outcome of every case."""

    def set_outcome(outcome, status="pass"):
        def judge(case, profile, wire, *_, **__):
            return CaseReport(case, profile.name, wire, (Verdict("RET-301", "MUST", status),), None, outcome)

        monkeypatch.setattr(bench, "run_case", judge)

    return set_outcome


def test_the_reference_is_held_to_the_shipped_outcome(run, outcomes, delivers):
    """All wire formats share one file; equal is what is equal as JSON."""
    delivers({"status": "success", "value": 1.0})
    assert run(ITEM).ret == 0
    delivers({"status": "success", "value": True})
    result = run(ITEM)
    result.assert_outcomes(failed=len(FORMATS))
    result.stdout.fnmatch_lines(["the outcome differs from *empty-finish.json", '*-*"value": 1*', '*+*"value": true'])


def test_a_shipped_outcome_is_not_updated(run, outcomes, delivers):
    """Outside the project --snapshot-update leaves the shipped files alone, and says so."""
    delivers({"status": "failed", "value": None})
    result = run(ITEM, "--snapshot-update")
    result.assert_outcomes(failed=len(FORMATS))
    result.stdout.fnmatch_lines(["*empty-finish.json ships with the suite and is read-only here"])
    assert json.loads((outcomes / f"{CASE}.json").read_text("utf-8"))["status"] == "success"


def test_the_project_itself_updates_them(run, outcomes, delivers, monkeypatch):
    """With AGENT_CONTRACT_DEV=1 an update writes, sorted and indented for review, and deletes nothing."""
    monkeypatch.setenv("AGENT_CONTRACT_DEV", "1")
    other = outcomes / "return" / "no-reply" / "other.json"
    other.write_text("{}", "utf-8")
    delivers({"value": "\u00e9\ud800", "status": "success"})
    run(ITEM, "--snapshot-update").assert_outcomes(passed=len(FORMATS))
    expected = '{\n  "status": "success",\n  "value": "\\u00e9\\ud800"\n}\n'
    assert (outcomes / f"{CASE}.json").read_text("utf-8") == expected
    assert other.exists()


def test_an_unread_outcome_is_not_unused(run, outcomes, delivers):
    """A case that doesn't apply leaves its file unread, which fails nothing."""
    delivers({}, status="not-applicable")
    (outcomes / "return" / "other.json").write_text("{}", "utf-8")
    result = run("agent-contract::return::no-reply")
    assert result.ret == NOTHING_VERIFIED
    result.stdout.no_fnmatch_line("*snapshot* unused*")


def test_another_runtime_is_only_remarked_on(run, outcomes, delivers, pytester):
    """A foreign runtime that passes every check with another outcome gets a warning, no failure."""
    (pytester.path / "agent-contract.toml").write_text(MINE.replace("snapshots", "#"), "utf-8")
    delivers({"status": "success", "value": 2})
    result = run(ITEM)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*every check passes, but the outcome is not that of the reference*"])


def test_a_user_pins_his_own_outcomes(run, outcomes, delivers, pytester):
    """`snapshots` in agent-contract.toml makes each outcome a snapshot in the user's repository, asserted."""
    (pytester.path / "agent-contract.toml").write_text(MINE, "utf-8")
    delivers({"status": "success", "value": 2})
    run(ITEM).assert_outcomes(failed=1)
    run(ITEM, "--snapshot-update").assert_outcomes(passed=1)
    pinned = pytester.path / "tests" / "agent_contract" / "mine" / "openai-chat" / f"{CASE}.json"
    assert json.loads(pinned.read_text("utf-8")) == {"status": "success", "value": 2}
    run(ITEM).assert_outcomes(passed=1)
    delivers({"status": "success", "value": 3})
    run(ITEM).assert_outcomes(failed=1)
    shutil.rmtree(pinned.parent)
    run(ITEM).assert_outcomes(failed=1)


@pytest.mark.slow
def test_an_update_by_several_workers_loses_nothing(pytester):
    """Each outcome is a file of its own: all that two processes write at once is there, and asserted afterwards."""
    (pytester.path / "agent-contract.toml").write_text(f'snapshots = "pinned"\n{PROFILE}', "utf-8")
    mine = ("--agent-contract", "--agent-contract-runtime", "mine", "--agent-contract-wire", "openai-chat")
    run = partial(
        pytester.runpytest_subprocess, "-p", "no:randomly", "-n", "2", *mine, "-k", "payload/empty or payload/nested"
    )
    run("--snapshot-update").assert_outcomes(passed=4)
    written = sorted((pytester.path / "pinned").rglob("*.json"))
    assert len(written) == 4
    written[0].unlink()
    run().assert_outcomes(passed=3, failed=1)


def test_every_case_has_an_outcome_and_every_outcome_its_case():
    """No outcome is missing of a case that the reference can play, and none is left over from a case that went."""
    files = {
        path.relative_to(resources.outcomes()).with_suffix("").as_posix()
        for path in resources.outcomes().rglob("*.json")
    }
    variants = [find(name, {}) for name in ("reference", "reference-tool-less")]
    played = {case.id for case in load_case.shipped() if any(applicable(case, profile) is None for profile in variants)}
    assert files == played
