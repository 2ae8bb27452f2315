"""A report written and read back."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.errors import ReportError, UsageError
from pytest_agentcontract.report.header import header
from pytest_agentcontract.report.stream import Writer, read
from pytest_agentcontract.scenario import load_profile


@pytest.fixture
def path(tmp_path):
    """Return where a report is written."""
    return tmp_path / "sub" / "report.jsonl"


@pytest.fixture
def head():
    """Return the header of a run on the reference."""
    return header([(load_profile.shipped()["reference"], "1.0", True)], "")


@pytest.fixture
def written(path, head, check, record):
    """Return a complete report of one case and the case's record."""
    judged = record(check("RET-301", "fail"), check("RET-302"), status="fail")
    writer = Writer(path, head)
    writer.add(judged)
    writer.finish({"wires": {"compared": 0, "differing": 0}, "exit": 1})
    writer.close()
    return judged


def test_what_was_written_is_read_back(path, head, written):
    """Header, records with their checks, and counts survive, a lone surrogate in an outcome among them."""
    report = read(path)
    assert report.header["runtimes"] == head["runtimes"]
    assert report.records == (written,)
    assert report.footer["checks"] == {"fail": 1, "pass": 1}


def test_every_line_is_one_json_object(path, written):
    """A case is a line, and so is each of its checks: any tool can read the stream."""
    kinds = [json.loads(line)["record"] for line in path.read_text("utf-8").splitlines()]
    assert kinds == ["header", "case", "check", "check", "footer"]


def test_a_report_without_footer_is_refused(path, written):
    """A run that did not come to its end is no result."""
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    with pytest.raises(ReportError, match="no footer"):
        read(path)


def test_a_report_with_a_missing_line_is_refused(path, written):
    """The footer's counts betray a line that was taken out."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]), "utf-8")
    with pytest.raises(ReportError, match="other lines than its footer counts"):
        read(path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ('{"record": "header"}', "'format' is a required property"),
        (
            '{"record": "footer", "cases": {}, "checks": {}, "wires": {}, "exit": 0, "exti": 1}',
            "unknown key 'exti'; did you mean 'exit'",
        ),
        ("[]", "is not of type 'object'"),
    ],
)
def test_a_wrong_line_is_named(path, written, line, complaint):
    """File, line number and complaint are told for what is no line of a report."""
    path.write_text(line + "\n" + path.read_text("utf-8"), "utf-8")
    with pytest.raises(ReportError, match=r"report\.jsonl:1") as caught:
        read(path)
    assert complaint in str(caught.value)


def test_a_report_begins_with_its_header(path, written):
    """Records without a header say of nobody what they say."""
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    with pytest.raises(ReportError, match="begins with no header"):
        read(path)


def test_two_reports_in_a_file_are_refused(path, written):
    """A file that was appended to is not taken for one run."""
    path.write_text(path.read_text("utf-8") * 2, "utf-8")
    with pytest.raises(ReportError, match="second header"):
        read(path)


def test_a_place_that_cannot_be_written_is_told(tmp_path, head):
    """The report is opened before the first case runs, and the complaint names the place."""
    with pytest.raises(UsageError, match="can't be written"):
        Writer(tmp_path, head)


def test_the_header_names_what_judged(head):
    """Suite, requirement set and runtime carry digests, so that two reports can be told to be comparable."""
    assert head["suite"]["digest"].startswith("sha256:")
    assert head["requirements"]["set"] == "2026.1"
    assert head["runtimes"][0]["embedded"] is True
