"""A report as a page of Markdown."""

from __future__ import annotations

import re

import pytest

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import ReportError, UsageError
from pytest_agentcontract.report.inline import code, name, steady
from pytest_agentcontract.report.markdown import LIMIT, MARK, page
from pytest_agentcontract.report.merging import merge
from pytest_agentcontract.report.values import Measured

LEDGER = requirements.load()
MUSTS = sum(row.level == "MUST" and "handoff" not in row.judges for row in LEDGER.values())
"""Those that may speak of a runtime that claims no hand-off."""


def _cells(text, first):
    """Return the cells of the row that begins so."""
    [line] = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_every_requirement_has_a_row(report, record, check):
    """Also those that nothing was said of: a run of a few cases does not look whole."""
    text = page(report(record(check("RET-301"))))
    assert [row for row in LEDGER if len(_cells(text, row)) != 2] == []
    assert _cells(text, "RET-301") == ["MUST", "pass"]
    assert _cells(text, "RET-302") == ["MUST", "not judged"]
    assert _cells(text, "**MUST met**") == [f"**1 of {MUSTS}**"]


def test_what_cannot_speak_of_a_runtime_is_not_lacking(report, record, check, runtime):
    """By what it claims: also where no case was there to say so, as of a part of the suite or of tables of vectors."""
    claims = runtime("routed", capabilities=("headless", "handoff"))
    text = page(report(record(check("RET-301")), runtimes=(runtime(), claims)))
    assert _cells(text, "HND-111") == ["MUST", "not-applicable", "not judged"]
    assert re.search(r"^- not-applicable: the profile does not declare handoff: .*\bHND-111\b", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("checks", "word"),
    [
        ([("pass", "MUST", ""), ("pass", "MUST", "")], "pass"),
        ([("pass", "MUST", ""), ("not-verified", "MUST", "")], "**not-verified**"),
        ([("pass", "MUST", ""), ("error", "MUST", "")], "**error**"),
        ([("not-verified", "MUST", ""), ("fail", "MUST", "")], "**fail**"),
        ([("fail", "MUST", "issue 12"), ("pass", "MUST", "")], "**baselined**"),
        ([("fail", "MUST", "issue 12"), ("not-verified", "MUST", "")], "**not-verified**"),
        ([("error", "MUST", "issue 12")], "**error**"),
        ([("fail", "SHOULD", ""), ("pass", "MUST", "")], "**fail (SHOULD)**"),
        ([("fail", "SHOULD", ""), ("fail", "MUST", "issue 12")], "**baselined**"),
        ([("not-applicable", "MUST", ""), ("pass", "MUST", "")], "pass"),
        ([("not-applicable", "MUST", "")], "not-applicable"),
    ],
)
def test_a_cell_is_no_better_than_the_worst(report, record, check, checks, word):
    """One verdict that is no pass keeps the requirement from passing, and from being counted as met."""
    records = [
        record(check("RET-301", status, level, known), case=f"return/{number}", status=status)
        for number, (status, level, known) in enumerate(checks)
    ]
    text = page(report(*records))
    assert _cells(text, "RET-301")[1] == word
    applying = MUSTS - (word == "not-applicable")
    assert _cells(text, "**MUST met**") == [f"**{int(word == 'pass')} of {applying}**"]
    assert ("  - return/" in text) is (word not in ("pass", "not-applicable"))


def test_what_is_the_same_on_all_wire_formats_is_one_line(report, record, check):
    """Evidence names a wire format only where the others say something else."""
    seen = {"anthropic-messages": ("a", "b"), "openai-chat": ("a", "c")}
    records = [
        record(check("RET-301", "fail", observed=text), case=f"return/{at}", status="fail", wire=wire)
        for wire, texts in seen.items()
        for at, text in enumerate(texts)
    ]
    assert [line for line in page(report(*records)).splitlines() if line.startswith("  - ")] == [
        "  - return/0 (all wire formats): fail; expected <code>a reply</code>; observed <code>a</code>",
        "  - return/1 (anthropic-messages): fail; expected <code>a reply</code>; observed <code>b</code>",
        "  - return/1 (openai-chat): fail; expected <code>a reply</code>; observed <code>c</code>",
    ]


def test_reasons_stand_with_what_they_excuse(report, record, check):
    """The baseline's reason, and why a requirement does not apply."""
    known = record(check("RET-301", "fail", known="issue 12"), status="known")
    idle = record(check("RET-302", "not-applicable", why="no return tool"), case="return/y", status="not-applicable")
    text = page(report(known, idle))
    assert "observed <code>none</code>; baselined: <code>issue 12</code>" in text
    assert "- not-applicable: no return tool: RET-302\n" in text
    assert _cells(text, "cases: baselined") == ["1"]


def test_a_red_case_without_a_red_verdict_is_shown(report, record, check):
    """A pinned outcome that differs, or a case that could not be judged, is not hidden by its verdicts."""
    text = page(report(record(check("RET-301"), status="fail", why="the outcome is not that of the snapshot")))
    assert "- cases that no verdict explains\n  - return/x (openai-chat): fail; <code>the outcome" in text


def test_what_passes_by_does_not_change_the_page(report, record, check):
    """Times, made-up values, places and the numbers of requests are no verdict."""
    first = "value 49575b8269c8 after 1.25s in /var/tmp/a-b/c, pid 812, request 8 at http://127.0.0.1:4711/x"
    second = "value 0da0a1651a08 after 0.5s in /var/tmp/d, pid 9, request 11 at http://127.0.0.1:99/y/z"
    one, other = (record(check("RET-301", "fail", observed=text), status="fail") for text in (first, second))
    other |= {"seconds": 9.0, "reproduce": "pytest elsewhere"}
    assert page(report(one, where="a")) == page(report(other, where="b"))
    assert steady(first) == "value {nonce} after {time} in {path}, pid {number}, request {number} at {url}"


def test_a_changed_verdict_is_a_small_diff(report, record, check):
    """One verdict more or less leaves every other row as it is."""
    one, other = (
        page(report(record(check("RET-301", status), status=status))).splitlines() for status in ("pass", "fail")
    )
    assert len(set(one) ^ set(other)) < 14
    assert {line for line in set(one) ^ set(other) if line.startswith("| RET-")} == {
        "| RET-301 | MUST | pass |",
        "| RET-301 | MUST | **fail** |",
    }


def test_shards_make_the_page_of_the_whole(report, record, check):
    """The order of runtimes and records in a file does not show."""
    one = record(check("RET-301"), runtime="theirs")
    found = [record(check("RET-301", "fail"), status="fail", case=f"return/{case}") for case in "zxy"]
    whole = page(report(one, *found))
    assert page(report(*reversed(found), one)) == page(merge([report(*found), report(one)])) == whole


HOSTILE = (
    "a|b `c` <script>alert(1)</script> **d** [e](https://f.example) @g #1 \\| &lt; ~~h~~ $x$"
    "\n\n# i\r| j \u202e www.k.example"
)


@pytest.mark.parametrize("text", [HOSTILE, "``` |", "<!-- ", "--> <b", "\ud800", "]]>", "\x1b[31m"])
def test_text_of_strangers_stays_text(report, record, check, runtime, text):
    """Nothing that a runtime says makes markup, a cell, a link, a mention or a line."""
    subject = runtime(name=text, version=text, wires=(text,))
    judged = record(
        check(text, "fail", known=text, expected=text, observed=text, why=text),
        check("RET-302", "not-applicable", why=text),
        case=text,
        runtime=text,
        wire=text,
        status="fail",
    )
    made = page(report(judged, runtimes=(subject,)))
    plain = page(report())
    assert {len(line.split("|")) for line in made.splitlines() if line.startswith("|")} == {4, 5}
    foreign = re.sub("</?code>", "", made.replace(MARK, ""))
    assert re.findall(r"[<>`\\@~$]|\]\(|https?://|www\.|&(?!#\d+;)", foreign) == []
    assert [line for line in made.splitlines() if line.startswith("#")][:4] == [
        line for line in plain.splitlines() if line.startswith("#")
    ]
    made.encode()


def test_names_that_are_harmless_are_left_as_they_are():
    """Ids stay readable in the source; what could be markup becomes code."""
    assert [name(text, 80) for text in ("RET-301", "mutant:no-nudge", "return/no-reply/x", "2.1.0")] == [
        "RET-301",
        "mutant:no-nudge",
        "return/no-reply/x",
        "2.1.0",
    ]
    assert name("a_b", 80) == "<code>a&#95;b</code>"
    assert name("", 80) == "(none)"
    assert code(" \n ", 80) == ""


def test_a_page_is_kept_small(report, record, check):
    """What doesn't fit is counted, each runtime gets its share, and the tables are never cut."""
    loud = [
        record(check("RET-301", "fail", observed=f"{number} " + "|" * 300), case=f"own/{number}", status="fail")
        for number in range(1500)
    ]
    quiet = record(check("RET-302", "fail"), runtime="theirs", status="fail")
    text = page(report(*loud, quiet))
    assert LIMIT - 3_000 < len(text.encode()) < LIMIT
    [left] = re.findall(r"^(\d+) further lines left out", text, re.MULTILINE)
    assert text.count("  - own/") + int(left) == 1500 + 3  # the last lines name what does not apply or was not judged
    assert "### theirs 1.2.3\n\n- **RET-302** (MUST): fail\n  - return/x (openai-chat)" in text


def test_two_that_are_cut_get_the_same(report, record, check):
    """The first runtime does not take the room of the second."""
    records = [
        record(
            check("RET-301", "fail", observed=f"{number} " + "x" * 200),
            case=f"own/{runtime}/{number}",
            runtime=runtime,
            status="fail",
        )
        for runtime in ("one", "two")
        for number in range(200)
    ]
    text = page(report(*records), limit=60_000)
    assert len(text.encode()) < 60_000
    assert abs(text.count("  - own/one/") - text.count("  - own/two/")) <= 1


def test_tables_that_do_not_fit_are_refused(report, runtime):
    """Half a matrix is none."""
    with pytest.raises(ReportError, match="2 runtimes don't fit"):
        page(report(runtimes=(runtime("a"), runtime("b"))), limit=5_000)


def test_an_unknown_set_of_requirements_is_refused(report):
    """Without its ledger nobody knows what was not judged."""
    with pytest.raises(UsageError, match="no requirement set"):
        page(report(requirements=Measured("1999.1", "sha256:" + "0" * 64, "")))
