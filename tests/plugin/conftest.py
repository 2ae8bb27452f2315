"""A pytest run inside a test, with a judge that says what the test wants to hear."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.verdict import CaseReport, Verdict
from pytest_agentcontract.plugin import account, bench, suite

assert suite  # loaded here: pytester forgets what an inner run is the first to load

UNASKED = ("-p", "no:randomly", "-p", "no:hypothesispytest")  # the one shuffles, the other takes a second to load


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch):
    """Let no inner run see that it runs in CI, or that this is the project's own checkout."""
    for name in ("CI", "AGENT_CONTRACT_DEV", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def sparing(monkeypatch):
    """Let made-up judgements say less than their cases declare."""
    monkeypatch.setattr(account, "silent", lambda *_: ())


@pytest.fixture
def verdicts(monkeypatch, sparing):
    """Return what the judge says: case id -> statuses of RET-301, RET-302, ...; any other case passes."""
    said: dict[str, tuple[str, ...]] = {}

    def judge(case, profile, wire, provider, *, timeout=None, artifacts=None):
        found = said.get(case.id, ("pass",))
        made = [
            Verdict(
                f"RET-30{number}", "SHOULD" if status.endswith("?") else "MUST", status.rstrip("?"), "a nudge", "none"
            )
            for number, status in enumerate(found, 1)
        ]
        return CaseReport(case, profile.name, wire, tuple(made), None, {}, 0.001)

    monkeypatch.setattr(bench, "run_case", judge)
    return said


@pytest.fixture
def run(pytester):
    """Return a function that runs pytest on the arguments, in this process."""

    def start(*arguments):
        return pytester.runpytest_inprocess(*UNASKED, *arguments)

    return start


@pytest.fixture
def judge(run, verdicts):
    """Return a function that runs only the suite, one wire format and two cases unless told otherwise."""

    def start(*arguments, select="nudged-then-replies or empty-finish"):
        return run("--agent-contract", "--agent-contract-wire", "openai-chat", "-k", select, *arguments)

    return start
