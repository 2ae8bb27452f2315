"""The level that a report alone gives: the words of a certificate, and never more than it would say."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.certificate import issue
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.report import badge, level, reading, standing
from tests.certificate import made_up
from tests.certificate.conftest import key, profile

assert key
assert profile  # fixtures of the certificates' tests
LEDGER = requirements.load()
BAD = {"RET-303": ("fail", ""), "RET-304": ("not-verified", "")}
KNOWN = {"RET-306": ("fail", "issue 12")}


def _part(record):
    return not record["case"].startswith("return/payload/")


RUNS = {
    "whole": ((), {}, level.HIGHEST),
    "a part": ((), {"keep": _part}, level.PARTLY),
    "but for one case": ((), {"keep": lambda one: one["case"] != "return/no-reply/blank-finish"}, level.PARTLY),
    "excused": ((KNOWN,), {}, level.KNOWN),
    "excused, in part": ((KNOWN,), {"keep": _part}, level.BOTH),
    "broken": ((BAD,), {"exit": 1}, level.NONE),
    "unverified": (({"RET-304": ("not-verified", "")},), {"exit": 1}, level.PARTLY),
    "red for another reason": ((), {"exit": 1}, level.PARTLY),
    "nothing": ((dict.fromkeys(LEDGER, ("not-verified", "")),), {"exit": 1}, level.NOTHING),
}


@pytest.fixture(params=RUNS)
def run(request, profile):
    """Return the bytes of a report, and the level that it is to have."""
    said, how, name = RUNS[request.param]
    return made_up.report(profile, *said, **how), name


def _stated(report):
    return level.of(report, report.header.runtimes[0], standing.rows(report, LEDGER), LEDGER)


def test_a_report_says_what_its_certificate_says(run, profile, key):
    """Level and reasons, word by word."""
    content, name = run
    certified = issue.certificate(content, "r.jsonl", profile, key)[1].stated
    assert _stated(reading.parse(content, "r.jsonl")) == certified
    assert certified.name == name


COLORS = {"conformant": "brightgreen", "conformant but for known failures": "green", "not conformant": "red"}
COLORS |= {"not fully verified": "yellow", "not fully verified, with known failures": "yellow"}


def test_a_badge_says_the_level(run):
    """In the words of the certificate; green only for what was earned, and an error where nothing was."""
    content, name = run
    made = badge.badge(reading.parse(content, "r.jsonl"))
    assert made["schemaVersion"] == 1
    assert (made["label"], made["message"]) == ("agent contract: mine", name)
    assert made["color"] == COLORS.get(name, "lightgrey")
    assert made.get("isError", False) is (name == level.NOTHING)


def test_what_other_cases_judged_is_not_known_to_be_whole(report, record, check):
    """However green: the cases that are installed here don't tell what was left out."""
    rows = [check(row.id, level=row.level) for row in LEDGER.values()]
    found = _stated(report(record(*rows)))
    assert found.name == level.PARTLY
    assert found.sentence.startswith("not fully verified: judged by other cases than are installed here")


def test_the_run_of_several_is_nobodys(report, record, check):
    """The exit status of a report on several runtimes says nothing of one of them; each has its own known failures."""
    known = record(check("RET-301", "fail", known="issue 12"), runtime="known", status="known")
    made = report(record(check("RET-301")), known, exit=1)
    rows = standing.rows(made, LEDGER)
    mine, other = (level.of(made, runtime, rows, LEDGER) for runtime in made.header.runtimes)
    assert (mine.name, other.name) == (level.PARTLY, level.NOTHING)
    assert not any("exit status" in reason for reason in (*mine.reasons, *other.reasons))


def test_reasons_are_told_in_brief(report, record, check):
    """A page has a row for each requirement: the sentence counts them."""
    found = _stated(report(record(check("RET-301", "fail"), status="fail")))
    assert any(reason.startswith("1 MUST broken: RET-301") for reason in found.reasons)
    assert found.sentence.startswith("not conformant: 1 MUST broken; ")
    assert "RET-" not in found.sentence


def test_a_badge_is_of_one_runtime(report, record, check):
    """Of several the one that is named."""
    made = report(record(check("RET-301")), record(check("RET-301"), runtime="other"))
    assert badge.badge(made, "other")["label"] == "agent contract: other"
    for name, complaint in (("", "is of several runtimes"), ("third", "holds no runtime called 'third'")):
        with pytest.raises(UsageError, match=complaint):
            badge.badge(made, name)


def test_a_badge_is_written_and_written_anew(profile, tmp_path):
    """Over a badge of ours with --replace, and over nothing else."""
    source, target = tmp_path / "r.jsonl", tmp_path / "badge.json"
    source.write_bytes(made_up.report(profile))
    assert _badge(source, target).exit_code == 0
    assert json.loads(target.read_text("utf-8"))["message"] == "conformant"
    assert _badge(source, target).exit_code == 4
    source.write_bytes(made_up.report(profile, BAD, exit=1))
    assert _badge(source, target, "--replace").exit_code == 0
    assert json.loads(target.read_text("utf-8"))["message"] == "not conformant"
    target.write_text('{"label": "mine"}\n', "utf-8")
    assert _badge(source, target, "--replace").exit_code == 4


def test_a_run_that_did_not_end_leaves_no_green_badge(profile, tmp_path):
    """What was there is written over, and what is wrong is said."""
    source, target = tmp_path / "r.jsonl", tmp_path / "badge.json"
    source.write_bytes(made_up.report(profile))
    _badge(source, target)
    source.write_bytes(b"\n".join(made_up.report(profile).split(b"\n")[:-2]) + b"\n")
    cut = _badge(source, target, "--replace")
    assert (cut.exit_code, "has no footer" in cut.output) == (1, True)
    made = json.loads(target.read_text("utf-8"))
    assert (made["message"], made["color"], made["isError"]) == ("not judged to the end", "lightgrey", True)


def _badge(source, target, *more):
    return CliRunner().invoke(cli.main, ["report", "badge", str(source), "-o", str(target), *more])
