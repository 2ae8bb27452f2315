"""A report written and read back."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.errors import ReportError, UsageError
from pytest_agentcontract.report.header import header
from pytest_agentcontract.report.reading import read
from pytest_agentcontract.report.stream import Writer, text
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
    judged = record(check("RET-301", "fail"), check("RET-302"), runtime="reference", status="fail")
    writer = Writer.at(path, head)
    writer.add(judged)
    writer.finish(1)
    writer.close()
    return judged


def test_what_was_written_is_read_back(path, head, written):
    """Header, records with their checks, and counts survive, a lone surrogate in an outcome among them."""
    report = read(path)
    assert [runtime.name for runtime in report.header.runtimes] == ["reference"]
    assert [judged.record() for judged in report.cases] == [written]
    assert report.exit == 1


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
        Writer.at(tmp_path, head)


def test_the_header_names_what_judged(head):
    """Suite, requirement set and runtime carry digests, so that two reports can be told to be comparable."""
    assert head["suite"]["digest"].startswith("sha256:")
    assert head["requirements"]["set"] == "2026.1"
    assert head["runtimes"][0]["embedded"] is True


def test_a_broken_line_is_named(path, written):
    """Bytes that are no text, and a key that stands twice, are told with the line."""
    lines = path.read_bytes().splitlines(keepends=True)
    for broken, complaint in (
        (b"\xff\n", "can't decode"),
        (b'{"record": "case", "record": "check"}\n', "stands twice"),
    ):
        path.write_bytes(b"".join([*lines[:2], broken, *lines[2:]]))
        with pytest.raises(ReportError, match=complaint) as caught:
            read(path)
        assert caught.value.where == f"{path}:3"


@pytest.mark.parametrize("line", ['{"record": "note"}', '{"record": ["case"]}', "{}"])
def test_a_line_of_an_unknown_kind_is_refused(path, written, line):
    """What a reader does not know could be what matters."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:-1], line + "\n", lines[-1]]), "utf-8")
    with pytest.raises(ReportError, match="no kind of line") as caught:
        read(path)
    assert caught.value.where == f"{path}:5"


def _swap(path, *changes):
    text = path.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, "utf-8")


def test_a_case_stands_once(path, written):
    """A second account of a case in one report is none of it."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:-1], lines[1], lines[-1]]), "utf-8")
    with pytest.raises(ReportError, match="a second time") as caught:
        read(path)
    assert caught.value.where == f"{path}:5"


def test_a_check_follows_its_case(path, written):
    """A verdict on a case that was not judged is no verdict."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]), "utf-8")
    with pytest.raises(ReportError, match="which has not been judged"):
        read(path)


@pytest.mark.parametrize("change", [('"name": "reference"', '"name": "other"'), ('"openai-chat", "openai', '"openai')])
def test_a_record_is_of_a_runtime_of_the_header(path, written, change):
    """Runtime and wire format of each case are among those that the header names."""
    _swap(path, change)
    with pytest.raises(ReportError, match="which the header doesn't name"):
        read(path)


@pytest.mark.parametrize(
    "change",
    [
        ('"cases": {"fail": 1}', '"cases": {"pass": 1}'),
        ('"checks": {"fail": 1, "pass": 1}', '"checks": {"fail": 1}'),
        ('{"compared": 0, "differing": 0}', '{"compared": 1, "differing": 0}'),
    ],
)
def test_a_footer_that_miscounts_is_refused(path, written, change):
    """Cases, checks and wire formats are counted again."""
    _swap(path, change)
    with pytest.raises(ReportError, match="other lines than its footer counts"):
        read(path)


def test_a_case_is_no_better_than_its_checks(path, written):
    """A failed MUST can't be called a pass, nor known without a reason, whatever the footer says."""
    text = path.read_text("utf-8")
    for status in ("pass", "known", "not-applicable", "should-not-met"):
        changed = text.replace('"status": "fail", "why"', f'"status": "{status}", "why"')
        path.write_text(changed.replace('"cases": {"fail": 1}', f'"cases": {{"{status}": 1}}'), "utf-8")
        with pytest.raises(ReportError, match=f"says {status} of return/x, and fail of its RET-301"):
            read(path)


def test_what_is_written_again_is_the_same(path, written):
    """Read and rendered, a report is the file that it was, to the byte."""
    assert text(read(path)) == path.read_text("utf-8")


def test_own_cases_are_part_of_what_was_judged_by(tmp_path):
    """The header tells apart reports by two sets of cases of the user's own."""
    profile = load_profile.shipped()["reference"]
    digests = set()
    for word in ("one", "two"):
        (tmp_path / "a.json").write_text(word, "utf-8")
        digests.add(header([(profile, "1.0", True)], "", tmp_path)["requirements"]["own"])
    assert len(digests) == 2


def test_a_report_of_the_first_format_is_read(path, written):
    """It lacks what was seen, and nothing else; a format that is not known yet is refused by its number."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0].replace('"format": 2', '"format": 1'), *lines[1:]]), "utf-8")
    assert [judged.seen for judged in read(path).cases] == [None]
    path.write_text("".join([lines[0].replace('"format": 2', '"format": 3'), *lines[1:]]), "utf-8")
    with pytest.raises(ReportError, match=r"format: 3 is not one of \[1, 2\]"):
        read(path)


def test_what_was_seen_is_kept(path, head, check, record):
    """It is read back as it was written; what no picture knows is refused."""
    run = {"ended": "exited", "account": "success", "exit": None}
    seen = {"exchanges": [{"kind": "turn", "agent": "root", "turn": 1, "calls": [["reply", "{}"]]}], "run": run}
    writer = Writer.at(path, head)
    writer.add({**record(check("RET-301", "fail"), runtime="reference", status="fail"), "seen": seen})
    writer.finish(1)
    writer.close()
    report = read(path)
    assert [judged.seen for judged in report.cases] == [seen]
    assert text(report) == path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace('"kind": "turn"', '"kind": "trun"'), "utf-8")
    with pytest.raises(ReportError, match=r":2: .*seen\.exchanges.*kind: .trun. is not one of"):
        read(path)
