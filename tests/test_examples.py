"""The examples run as they are: the adapter in Node.js is wired up, and keeps the hand-off contract."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_agentcontract.cli import main
from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.scenario import load_vectors
from pytest_agentcontract.scenario.load_profile import load_profiles

FOLDER = Path(__file__).parent.parent / "examples" / "node-adapter"
EVERY_NTH = 7  # a row in seven of each kind is enough to see that the example has not fallen behind

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _node():
    """Say so where there is no Node.js to run the example with."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: there is no `node` on PATH to run the example with")


def test_the_adapter_is_wired_up():
    """`agent-contract adapter check` finds nothing to mend."""
    done = CliRunner().invoke(main, ["adapter", "check", "--", "node", str(FOLDER / "adapter.mjs")])
    assert done.exit_code == 0, done.output
    assert "FAIL" not in done.output


def test_the_adapter_keeps_the_contract(provider):
    """It gives what a sample of the vectors asks for, at whatever level, under the profile beside it."""
    [profile] = load_profiles(FOLDER / "agent-contract.toml").values()
    reports = [run_case(row, profile, "", provider) for row in load_vectors.shipped()[::EVERY_NTH]]
    assert all(report.verdicts for report in reports)
    assert [(one.case.id, verdict) for one in reports for verdict in one.verdicts if verdict.status != "pass"] == []
