"""One case, run and judged: the reference, the null runtimes, and what is kept of a failure."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario import load_case, load_profile
from pytest_agentcontract.scenario.start import Result

CASES = {case.id: case for case in load_case.shipped()}
NUDGED = CASES["return/no-reply/nudged-then-replies"]
WIRE = "anthropic-messages"
HERE = "pytest_agentcontract.reference"


@pytest.fixture(scope="module")
def provider():
    """Play the model for all cases of this module."""
    with Provider() as opened:
        yield opened


@pytest.fixture
def reference():
    """Return the profile of the embedded reference."""
    return load_profile.shipped()["reference"]


@pytest.fixture
def null(reference):
    """Return the profile of a null runtime."""
    return lambda name: replace(reference, name=f"null:{name}", entry=f"{HERE}.nulls:run", settings={"null": name})


def test_a_run_of_the_reference_passes_and_has_an_outcome(provider, reference):
    """The outcome is what the contract determines, with the nonce taken out."""
    report = run_case(NUDGED, reference, WIRE, provider)
    assert {verdict.status for verdict in report.verdicts} == {"pass"}
    assert report.outcome["status"] == "success"
    assert "{nonce}" in report.outcome["value"]
    assert report.outcome["agents"] == {"root": {"requests": 3, "nudges": 1, "returned": True}}


def test_each_run_has_a_nonce_of_its_own(provider, reference):
    """No canned answer can pass twice."""
    values = {run_case(NUDGED, reference, WIRE, provider).observation.delivery.value for _ in range(2)}
    assert len(values) == 2


def test_a_case_that_does_not_apply_is_not_run(provider, reference):
    """Its requirements are not applicable, with the reason; nothing is started."""
    lacking = replace(reference, capabilities=reference.capabilities - {"root-return"}, entry="no.such:module")
    report = run_case(NUDGED, lacking, WIRE, provider)
    assert {verdict.status for verdict in report.verdicts} == {"not-applicable"}
    assert "root-return" in report.verdicts[0].why
    assert report.observation is None


def test_a_runtime_that_can_not_be_started_is_an_error_of_the_bench(provider, reference):
    """What can't be started was not judged: each covered requirement says so, and how to go on."""
    report = run_case(NUDGED, replace(reference, entry="no.such:module"), WIRE, provider)
    assert {verdict.status for verdict in report.verdicts} == {"error"}
    assert "no.such" in report.verdicts[0].why


@pytest.mark.parametrize("name", ["silent", "crash", "echo", "canned", "always-reply", "hang"])
@pytest.mark.parametrize("case", ["return/no-reply/nudged-then-replies", "return/no-reply/never-replies"])
def test_a_null_runtime_passes_no_must(provider, null, name, case):
    """A green that nobody earned is the worst bug."""
    report = run_case(CASES[case], null(name), WIRE, provider, timeout=0.5)
    assert [verdict for verdict in report.verdicts if verdict.status == "pass" and verdict.level == "MUST"] == []


def test_the_evidence_of_a_failure_is_kept(provider, null, tmp_path):
    """Output, wire log and working folder of a case that is not met lie below the artifacts folder."""
    report = run_case(NUDGED, null("echo"), WIRE, provider, artifacts=tmp_path)
    assert report.artifacts == tmp_path / NUDGED.id / f"null_echo-{WIRE}"
    logged = [json.loads(line) for line in (report.artifacts / "wire.jsonl").read_text().splitlines()]
    assert [one["serial"] for one in logged] == list(range(1, len(logged) + 1))
    assert logged[0]["request"]["messages"]
    assert (report.artifacts / "stdout.txt").is_file()
    assert (report.artifacts / "work").is_dir()


def test_the_thread_of_a_hand_off_is_kept(provider, reference, tmp_path):
    """Whatever an engine posted before it failed lies beside its working folder, and so do its events."""
    stale = replace(reference, name="mutant", settings={"mutant": "stale-callback"})
    report = run_case(CASES["handoff/callback/stale"], stale, WIRE, provider, artifacts=tmp_path)
    assert len(list((report.artifacts / "thread" / "comments").iterdir())) == 5
    assert (report.artifacts / "thread" / "event-1.json").is_file()
    assert [one["agent"] for one in report.outcome["route"]] == ["issue", "context", "issue", "planner"]


def test_nothing_is_kept_of_a_pass(provider, reference, tmp_path):
    """A case that is met leaves no trace."""
    assert run_case(NUDGED, reference, WIRE, provider, artifacts=tmp_path).artifacts is None
    assert list(tmp_path.iterdir()) == []


def test_an_artifacts_folder_that_is_none_is_named(provider, null, tmp_path):
    """A wrong path is the user's slip, told as one."""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="can't be written"):
        run_case(NUDGED, null("silent"), WIRE, provider, artifacts=file)


SILENT = CASES["faults/reply/silence-before-the-answer"]


def test_a_silence_is_given_up_within_the_limit_that_the_profile_sets(provider, reference):
    """The variable holds the case's seconds, and only there."""
    assert reference.timeout_env == {"REFERENCE_TIMEOUT": "{seconds}"}
    report = run_case(SILENT, reference, WIRE, provider)
    assert [verdict.status for verdict in report.verdicts] == ["pass"]
    assert report.observation.delivery.seconds < SILENT.given.patience + 4


def test_without_a_variable_for_its_limit_a_runtime_meets_no_silence(provider, reference):
    """It might never end, so the case is not run; what it covers is a SHOULD."""
    report = run_case(SILENT, replace(reference, timeout_env={}), WIRE, provider)
    assert [(verdict.requirement, verdict.level, verdict.status) for verdict in report.verdicts] == [
        ("FLT-105", "SHOULD", "not-verified")
    ]
    assert "timeout_env" in report.verdicts[0].why
    assert report.observation is None


@pytest.mark.parametrize(("text", "value"), [("{seconds}", "1"), ("{milliseconds}ms", "1000ms")])
def test_the_limit_is_set_in_the_unit_that_is_asked_for(provider, reference, text, value):
    """And it is no variable of a run that asks for none."""
    profile = replace(reference, timeout_env={"T": text}, entry="tests.conformance.test_run:its_limit")
    seen = [run_case(case, profile, WIRE, provider).observation.delivery.value for case in (SILENT, NUDGED)]
    assert seen == [value, None]


def its_limit(start):
    """Return the limit that a run was started with, without asking anybody."""
    return Result({"is_error": False, "result": start.env.get("T")})


def test_only_what_is_no_must_waits_for_a_limit():
    """A case that is not run where the profile sets no limit must not turn it red."""
    covers = [cover.requirement for case in CASES.values() if case.given.patience for cover in case.covers]
    assert set(covers) == {"FLT-105"}
