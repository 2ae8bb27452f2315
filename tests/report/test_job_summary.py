"""A report for the page of a CI job: the short of it first, the rest folded, and never more than a job may hold."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.errors import ReportError
from pytest_agentcontract.report import stream
from pytest_agentcontract.report.job_summary import page
from pytest_agentcontract.report.markdown import MARK

EVIL = "</details><script>|x|</script>\n\n# @you [a](b)"


def test_the_level_comes_first_and_the_evidence_is_folded(report, record, check):
    """What is open fits a screen: a row for each runtime; everything else lies in a fold, and each fold is closed."""
    bad = record(check("RET-301", "fail", observed="no nudge"), status="fail")
    text = page(report(bad, record(check("RET-301"), runtime="other")))
    shown, folded = text.split("<details>", 1)
    assert shown.splitlines()[0] == MARK
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert rows[1].startswith("| mine 1.2.3 | not conformant: 1 MUST broken; ")
    assert "no nudge" in folded
    assert "mine: 1 requirement not met" in folded
    assert text.count("<details>") == text.count("</details>") == 3
    assert all(part.startswith("\n\n") for part in text.split("</summary>")[1:])


def test_a_strangers_text_ends_no_fold(report, record, check):
    """Neither a runtime's name nor what it said."""
    text = page(report(record(check("RET-301", "fail", observed=EVIL), status="fail", runtime=EVIL)))
    assert text.count("</details>") == 2
    assert "<script>" not in text


def test_what_does_not_fit_is_counted(report, record, check):
    """The tables stand whole; the evidence is cut to the room there is, and a line says so."""
    records = [
        record(check("RET-301", "fail", observed=f"{at} " + "x" * 200), case=f"return/{at}", status="fail")
        for at in range(400)
    ]
    text = page(report(*records), limit=60_000)
    assert 30_000 < len(text.encode()) < 60_000
    assert "further lines left out" in text
    assert text.count("<details>") == text.count("</details>") == 2
    with pytest.raises(ReportError, match="don't fit"):
        page(report(*records), limit=2_000)


def test_the_command_writes_it(report, record, check, tmp_path):
    """`report markdown --summary`; a folder of pages is something else."""
    path = tmp_path / "r.jsonl"
    path.write_text(stream.text(report(record(check("RET-301")))), "utf-8")
    run = CliRunner()
    done = run.invoke(cli.main, ["report", "markdown", "--summary", str(path)])
    assert (done.exit_code, done.output.splitlines()[1]) == (0, "## Agent contract")
    refused = run.invoke(cli.main, ["report", "markdown", "--summary", str(path), "--folder", str(tmp_path / "x")])
    assert (refused.exit_code, "--summary and --folder can't both be" in refused.output) == (4, True)
