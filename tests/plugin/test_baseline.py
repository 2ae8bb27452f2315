"""Known failures: excused, and held to."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.plugin.account import BASELINE_OUTDATED

EMPTY, NUDGED = "return/no-reply/empty-finish", "return/no-reply/nudged-then-replies"


@pytest.fixture
def baseline(pytester):
    """Return a function that writes a baseline of the reference and returns the options that name it."""

    def write(*known, runtime="reference"):
        path = pytester.path / "known.json"
        path.write_text(json.dumps({"runtime": runtime, "known": known}), "utf-8")
        return ("--agent-contract-baseline", path)

    return write


def test_a_known_failure_is_expected(judge, verdicts, baseline):
    """A case whose only failures are known is xfailed, with the reason."""
    verdicts[EMPTY] = ("fail",)
    result = judge("-rx", *baseline({"case": EMPTY, "requirement": "RET-301", "reason": "issue 12"}))
    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 known)", "XFAIL *empty-finish* - issue 12"])


def test_a_failure_beside_a_known_one_fails(judge, verdicts, baseline):
    """What is not in the baseline is not excused by what is."""
    verdicts[EMPTY] = ("fail", "pass", "fail")
    judge(*baseline({"case": EMPTY, "requirement": "RET-301", "reason": "issue 12"})).assert_outcomes(
        passed=1, failed=1
    )


def test_a_known_failure_that_passes_fails_the_run(judge, baseline):
    """A stale entry has an exit status of its own, and the text says which to take out."""
    result = judge(*baseline({"case": EMPTY, "requirement": "RET-301", "reason": "issue 12"}))
    assert result.ret == BASELINE_OUTDATED
    result.stdout.fnmatch_lines([f"*RET-301 no longer fails in {EMPTY}*"])


def test_a_flaky_one_may_pass(judge, baseline):
    """A failure that is known to come and go is never stale."""
    known = {"case": EMPTY, "requirement": "RET-301", "reason": "slow disk", "flaky": True}
    assert judge(*baseline(known)).ret == 0


def test_an_entry_outside_the_selection_is_not_stale(judge, baseline):
    """What was not run can't be known to pass."""
    known = {"case": EMPTY, "requirement": "RET-301", "reason": "issue 12"}
    assert judge(*baseline(known), select="nudged-then-replies").ret == 0


def test_an_entry_that_speaks_of_nothing_is_refused(judge, baseline):
    """A misspelt case is told before anything runs."""
    result = judge(*baseline({"case": "return/nothing", "requirement": "RET-301", "reason": "issue 12"}))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *there is no case 'return/nothing'"])


def test_runxfail_shows_known_failures_as_failures(judge, verdicts, baseline):
    """The option --runxfail reports what is known as if it were not."""
    verdicts[EMPTY] = ("fail",)
    known = {"case": EMPTY, "requirement": "RET-301", "reason": "issue 12"}
    judge("--runxfail", *baseline(known)).assert_outcomes(passed=1, failed=1)


def test_a_baseline_is_of_one_runtime(judge, baseline):
    """With two runtimes nobody could say whose failures are known."""
    result = judge("--agent-contract-runtime", "reference,reference-tool-less", *baseline())
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_failures_are_written_down_to_be_given_reasons(judge, verdicts, pytester):
    """The written file lists each failing check, without a reason, so that it can't be used unread."""
    verdicts[EMPTY] = ("pass", "fail")
    result = judge("--agent-contract-write-baseline", "new.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    written = json.loads((pytester.path / "new.json").read_text("utf-8"))
    expected = {"case": EMPTY, "requirement": "RET-302", "wire": "openai-chat", "reason": ""}
    assert written == {"runtime": "reference", "known": [expected]}
    assert judge("--agent-contract-baseline", "new.json").ret == pytest.ExitCode.USAGE_ERROR


VECTOR = "handoff/vectors/routing/hold/edge/none"


def test_a_failing_vector_is_written_into_a_baseline(run, verdicts, pytester):
    """Once, without a wire format."""
    verdicts[VECTOR] = ("fail",)
    path = pytester.path / "known.json"
    run(f"agent-contract::{VECTOR.replace('/', '::', 1)}", "--agent-contract-write-baseline", path)
    known = json.loads(path.read_text("utf-8"))["known"]
    assert [(one["case"], one.get("wire")) for one in known] == [(VECTOR, None)]


def test_a_baseline_that_is_written_again_loses_nothing(judge, verdicts, pytester):
    """What was not selected stays, with its reason."""
    path = pytester.path / "known.json"
    known = {"case": NUDGED, "requirement": "RET-301", "reason": "issue 12"}
    path.write_text(json.dumps({"runtime": "reference", "known": [known]}), "utf-8")
    verdicts[EMPTY] = ("fail",)
    judge(f"--agent-contract-write-baseline={path}", select="empty-finish")
    written = json.loads(path.read_text("utf-8"))["known"]
    assert [(one["case"], one["reason"]) for one in written] == [(EMPTY, ""), (NUDGED, "issue 12")]


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("write-baseline=broken.json", "broken.json: not JSON"),
        ("write-baseline=no/such.json", "no: is no folder"),
        ("artifacts=broken.json", "broken.json: is no folder"),
        ("report=broken.json/r.jsonl", "can't be written"),
    ],
)
def test_a_place_that_can_not_be_used_is_told_before_anything_runs(judge, pytester, option, complaint):
    """What a run found is never lost at its end for want of a place."""
    (pytester.path / "broken.json").write_text("{", "utf-8")
    result = judge(f"--agent-contract-{option}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{complaint}*"])
