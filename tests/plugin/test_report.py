"""The report of a run, also when several processes judge."""

from __future__ import annotations

import pytest

from pytest_agentcontract.errors import DriverError, ReportError
from pytest_agentcontract.plugin import bench
from pytest_agentcontract.report.reading import read
from pytest_agentcontract.wire.formats import FORMATS

EMPTY, NUDGED = "return/no-reply/empty-finish", "return/no-reply/nudged-then-replies"


def test_a_report_holds_every_verdict(judge, verdicts, pytester):
    """Cases, checks and exit status of the run are in the file."""
    verdicts[EMPTY] = ("pass", "not-verified")
    result = judge("--agent-contract-report", "out/r.jsonl")
    report = read(pytester.path / "out" / "r.jsonl")
    assert [(judged.case, judged.status) for judged in report.cases] == [
        (EMPTY, "not-verified"),
        (NUDGED, "pass"),
    ]
    assert report.exit == result.ret
    assert report.header.runtimes[0].name == "reference"


def test_nothing_but_a_report_is_written_over(judge, verdicts, pytester):
    """A slip must not cost anybody his agent; a report, whole or not, is replaced, and so is an empty file."""
    place = pytester.path / "agent.py"
    place.write_text("print('mine')\n", "utf-8")
    result = judge("--agent-contract-report=agent.py")
    assert (result.ret, place.read_text("utf-8")) == (4, "print('mine')\n")
    result.stderr.fnmatch_lines(["*agent.py: is there already, and was not made by this command*"])
    place.write_text("", "utf-8")
    for _ in range(2):
        assert judge("--agent-contract-report=agent.py").ret == 0
        assert [one.case for one in read(place).cases] == [EMPTY, NUDGED]


def test_a_run_that_was_stopped_has_no_footer(judge, verdicts, pytester):
    """After -x the file is no report: somebody would take the rest for passed."""
    verdicts[EMPTY] = ("fail",)
    judge("-x", "--agent-contract-report", "r.jsonl")
    with pytest.raises(ReportError, match="no footer"):
        read(pytester.path / "r.jsonl")


def test_a_case_without_a_verdict_leaves_the_report_open(judge, pytester):
    """Where a fixture of the user's breaks a case, the report doesn't pretend to be whole."""
    fixture = "@pytest.fixture(autouse=True)\ndef broken(request): assert 'empty' not in request.node.name\n"
    pytester.makeconftest(f"import pytest\n{fixture}")
    result = judge("--agent-contract-report", "r.jsonl")
    result.assert_outcomes(passed=1, errors=1)
    with pytest.raises(ReportError, match="no footer"):
        read(pytester.path / "r.jsonl")


def test_a_case_that_cannot_be_judged_speaks_against_all_it_covers(judge, monkeypatch, pytester):
    """Otherwise a requirement would look met by the other cases alone."""

    def broken(*_, **__):
        raise DriverError("no room")

    monkeypatch.setattr(bench, "run_case", broken)
    judge("--agent-contract-report", "r.jsonl", select="empty-finish")
    [judged] = read(pytester.path / "r.jsonl").cases
    assert judged.status == "error"
    assert {(check.requirement, check.status, check.why) for check in judged.checks} >= {
        ("RET-301", "error", "no room"),
        ("RET-308", "error", "no room"),
    }


@pytest.mark.parametrize(("option", "strict"), [((), False), (("--agent-contract-strict",), True)])
def test_the_header_says_how_strictly_was_judged(judge, pytester, option, strict):
    """The same verdicts are another result where a SHOULD is red."""
    judge("--agent-contract-report", "r.jsonl", *option)
    assert read(pytester.path / "r.jsonl").header.strict is strict


@pytest.mark.parametrize("option", [["-n", "2"], ["-n", "2", "--dist", "loadfile"]])
def test_workers_send_their_verdicts_to_one_report(pytester, option):
    """Under xdist the controller writes the only report, with the records of all workers."""
    result = pytester.runpytest_subprocess(
        "agent-contract::return::no-reply/empty-finish",
        "agent-contract::return::no-reply/nudged-then-replies",
        "--agent-contract-report=r.jsonl",
        *option,
    )
    judged = sorted((case, wire) for case in (EMPTY, NUDGED) for wire in FORMATS)
    result.assert_outcomes(passed=len(judged))
    assert result.outlines[-1].startswith(f"agent contract: judged reference: {len(judged)} pass")
    report = read(pytester.path / "r.jsonl")
    assert sorted((judged.case, judged.wire) for judged in report.cases) == judged


def test_only_collecting_judges_nothing(judge, pytester):
    """`--co` leaves no verdict and doesn't complain that there is none."""
    result = judge("--co", "-q")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*agent contract: *")


def test_what_was_seen_of_a_run_is_kept_where_it_is_no_pass(run, pytester):
    """The requests, the nudges and the end of a run that fails; of one that passes, nothing."""
    run(
        "agent-contract::return::no-reply/empty-finish",
        "--agent-contract-runtime=mutant:no-nudge,reference",
        "--agent-contract-wire=openai-chat",
        "--agent-contract-report=r.jsonl",
    )
    found = {judged.runtime: judged.seen for judged in read(pytester.path / "r.jsonl").cases}
    assert found["reference"] is None
    kept = found["mutant:no-nudge"]
    assert [one["agent"] for one in kept["exchanges"]] == ["root"] * len(kept["exchanges"])
    assert kept["run"]["account"] == "failed"
