"""Reports of real runs, put together and shown on the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.report import header
from pytest_agentcontract.report.reading import read

EMPTY = "return/no-reply/empty-finish"
CASES = ("agent-contract::return::no-reply/empty-finish", "agent-contract::return::no-reply/nudged-then-replies")
SUBJECTS = ("reference", "mutant:no-nudge", "null:silent")
TWO = "anthropic-messages", "openai-chat"
HOSTILE = """
def run(start):
    raise RuntimeError("\\n# | `x` <img src=x onerror=alert(1)> [y](http://z.example) @all \\ud800")
"""


@pytest.fixture
def invoke(pytester):
    """Return a function that calls `agent-contract report` in pytester's folder."""
    return lambda *arguments: CliRunner().invoke(cli.main, ["report", *map(str, arguments)])


@pytest.fixture
def judged(run, pytester, monkeypatch):
    """Return a function that judges for real, and returns where the report is."""
    monkeypatch.setattr(header, "digest", lambda *_: f"sha256:{0:064}")  # a checkout may be edited between the runs

    def start(name, runtimes, *options, cases=CASES):
        path = pytester.path / f"{name}.jsonl"
        asked = (f"--agent-contract-runtime={','.join(runtimes)}", f"--agent-contract-report={path}")
        run(*cases, *asked, *options)
        return path

    return start


def _without_times(path):
    """Return what a report says, without what differs from run to run."""
    report = read(path)
    said = [
        (judged.key, judged.status, [(one.requirement, one.status) for one in judged.checks]) for judged in report.cases
    ]
    return report.header.runtimes, sorted(said), report.exit, json.loads(path.read_text("utf-8").splitlines()[-1])


def test_shards_of_real_runs_are_the_whole(judged, invoke, pytester):
    """Cut by runtime, by case and by wire format, and judged by two workers, they are the one run, to the page."""
    both = f"--agent-contract-wire={','.join(TWO)}"
    whole = judged("whole", sorted(SUBJECTS), both)
    shards = [
        judged("workers", ("reference",), both, "-n", "2"),
        judged("first", ("mutant:no-nudge",), both, "-k", "empty-finish"),
        judged("second", ("mutant:no-nudge",), both, "-k", "not empty-finish"),
        judged("third", ("null:silent",), f"--agent-contract-wire={TWO[0]}"),
        judged("fourth", ("null:silent",), both),
    ]
    result = invoke("merge", *shards, "-o", "merged.jsonl")
    assert (result.stderr, result.exit_code) == ("", 0)
    assert _without_times(pytester.path / "merged.jsonl") == _without_times(whole)
    page = invoke("markdown", "merged.jsonl").output
    assert page == invoke("markdown", whole).output
    assert "| RET-301 | MUST | **fail** | **not-verified** | pass |" in page
    assert "| cases that differ by wire format | 0 of 2 | 0 of 2 | 0 of 2 |" in page


def test_a_baseline_is_seen_for_what_it_is(judged, invoke, pytester):
    """What a baseline excuses is baselined with its reason, and not met."""
    subject, known = ("mutant:no-nudge",), pytester.path / "known.json"
    judged("bare", subject, f"--agent-contract-write-baseline={known}", cases=CASES[:1])
    known.write_text(known.read_text("utf-8").replace('"reason": ""', '"reason": "issue 12 | the loop"'), "utf-8")
    path = judged("based", subject, f"--agent-contract-baseline={known}", cases=CASES[:1])
    page = invoke("markdown", path).output
    assert "| RET-301 | MUST | **baselined** |" in page
    assert "baselined: <code>issue 12 &#124; the loop</code>" in page
    assert "| MUST: fail |" not in page
    assert "| **no-reply** |  | **0 of 11** |" in page


def test_a_hostile_runtime_writes_no_markup(judged, invoke, pytester):
    """What a runtime hands over as its result stands on the page as text."""
    pytester.makepyfile(hostile=HOSTILE)
    pytester.syspathinsert()
    page = invoke("markdown", judged("hostile", ("hostile:run",), cases=CASES[:1])).output
    assert "onerror" in page
    assert "<img" not in page
    assert "[y](" not in page


@pytest.fixture
def made(judge, verdicts, pytester):
    """Return a report of made-up verdicts."""
    verdicts[EMPTY] = ("fail",)
    judge("--agent-contract-report=made.jsonl")
    return pytester.path / "made.jsonl"


@pytest.mark.parametrize("command", ["merge", "markdown", "html"])
def test_nothing_is_written_over_unasked(invoke, made, pytester, command):
    """A file that is there stays, unless it is ours and --replace is said; somebody else's stays even then."""
    assert invoke(command, made, "-o", "out").exit_code == 0
    first = (pytester.path / "out").read_bytes()
    again = invoke(command, made, "-o", "out")
    assert (again.exit_code, "out: is there already" in again.stderr) == (4, True)
    assert invoke(command, made, "-o", "out", "--replace").exit_code == 0
    assert (pytester.path / "out").read_bytes() == first
    for theirs in (b"", b"# Notes\n", b'{"record": "note"}\n', b"\xff\xfe"):
        (pytester.path / "out").write_bytes(theirs)
        refused = invoke(command, made, "-o", "out", "--replace")
        assert (refused.exit_code, "was not made by this command" in refused.stderr) == (4, True)
        assert (pytester.path / "out").read_bytes() == theirs
    assert [path.name for path in pytester.path.iterdir() if ".tmp" in path.name] == []


def test_a_report_may_be_put_in_place_of_its_parts(invoke, made, pytester):
    """All is read before anything is written, so that a shard can be the place of the whole."""
    before = read(made)
    assert invoke("merge", made, made, "-o", made, "--replace").exit_code == 0
    assert {judged.key for judged in read(made).cases} == {judged.key for judged in before.cases}


def test_what_cannot_be_merged_is_told_once(invoke, made, pytester):
    """One error on standard error names the file; nothing is written."""
    cut = pytester.path / "cut.jsonl"
    cut.write_text("".join(made.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    result = invoke("merge", made, cut, "-o", "out")
    assert result.exit_code == 4
    assert result.stderr.startswith(f"ERROR: {cut}: has no footer")
    assert not (pytester.path / "out").exists()


def test_a_place_that_cannot_be_written_is_told(invoke, made, pytester):
    """A folder in the way is named; so is a file that should be a folder."""
    for place in (pytester.path, made / "out"):
        result = invoke("markdown", made, "-o", place)
        assert (result.exit_code, result.stderr.count("ERROR")) == (4, 1)


def test_a_folder_holds_a_page_for_each_runtime(judged, invoke, pytester):
    """Each is the page of a report on that runtime alone, and the first page leads to all of them."""
    report = judged("all", sorted(SUBJECTS), f"--agent-contract-wire={TWO[0]}")
    alone = judged("alone", ["mutant:no-nudge"], f"--agent-contract-wire={TWO[0]}")
    folder = pytester.path / "new" / "pages"
    assert invoke("markdown", report, "--folder", folder).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "index.md",
        "mutant-no-nudge.md",
        "null-silent.md",
        "reference.md",
    ]
    assert (folder / "mutant-no-nudge.md").read_text("utf-8") == invoke("markdown", alone).stdout
    index = (folder / "index.md").read_text("utf-8")
    for link in ("[mutant:no-nudge](mutant-no-nudge.md)", "[null:silent](null-silent.md)", "[reference](reference.md)"):
        assert f"| {link} | " in index
    assert "| RET-301 | MUST | **fail** |" in index


def test_a_folder_is_filled_whole_or_not_at_all(invoke, made, pytester):
    """A page of the user's own stops all of them; pages of ours are made anew on request."""
    report, folder = made, pytester.mkdir("pages")
    (folder / "reference.md").write_text("my notes", "utf-8")
    refused = invoke("markdown", report, "--folder", folder, "--replace")
    assert refused.exit_code == 4
    assert "reference.md: is there already, and was not made by this command" in refused.stderr
    assert [path.name for path in folder.iterdir()] == ["reference.md"]
    (folder / "reference.md").unlink()
    assert invoke("markdown", report, "--folder", folder).exit_code == 0
    assert invoke("markdown", report, "--folder", folder).exit_code == 4
    assert invoke("markdown", report, "--folder", folder, "--replace").exit_code == 0
    assert invoke("markdown", report, "--folder", folder, "-o", "x.md").exit_code == 4


def test_several_reports_make_one_page(judged, invoke, pytester):
    """Put together as by merge, with the same refusals; the same reports make the same page in any order."""
    wire = f"--agent-contract-wire={TWO[1]}"
    one, other = judged("one", ["mutant:no-nudge"], wire), judged("other", ["reference"], wire)
    assert invoke("html", one, other, "-o", "page.html").exit_code == 0
    text = (pytester.path / "page.html").read_text("utf-8")
    assert "<bdi>mutant:no-nudge</bdi>" in text
    assert "Meets every MUST" not in text  # two cases are not the whole
    assert invoke("html", other, one, "-o", "page.html").exit_code == 4
    assert invoke("html", other, one, "-o", "page.html", "--replace").exit_code == 0
    assert (pytester.path / "page.html").read_text("utf-8") == text
    one.write_text(one.read_text("utf-8").replace('"strict": false', '"strict": true'), "utf-8")
    refused = invoke("html", one, other, "-o", "new.html")
    assert (refused.exit_code, "strict differs" in refused.stderr) == (4, True)
    assert not (pytester.path / "new.html").exists()
