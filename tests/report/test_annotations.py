"""A report as annotations: whatever a runtime says stays inside one workflow command, and the gravest come first."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.conformance.requirements import load
from pytest_agentcontract.report import stream
from pytest_agentcontract.report.annotations import MOST, lines

MINE = (
    'driver = "command"\nmodes.json = ["mine", "{prompt}"]\nwires.openai-chat = {env = {A = "{base_url}"}}\n'
    'tools.work = {name = "t", arguments = {p = "{mark}"}}\ncapabilities = ["headless"]\n'
)
COMMAND = re.compile(r"::(error|warning) ([^:]*)::([^\r\n]*)")


def _parsed(told):
    """Read workflow commands as GitHub's runner does: properties up to the next `::`, then the message."""
    found = [COMMAND.fullmatch(line) for line in told]
    assert all(found), told
    return [(match[1], dict(part.split("=", 1) for part in match[2].split(",")), match[3]) for match in found if match]


def test_a_broken_must_is_an_error_with_its_evidence(report, record, check):
    """In how many cases, the first of them, what was expected and observed, and the command that judges it again."""
    broken = check("RET-301", "fail", expected="a nudge", observed="none")
    made = report(record(broken, check("RET-302"), status="fail"), record(broken, case="return/y", status="fail"))
    [(kind, place, message)] = _parsed(lines(made))
    assert (kind, place) == ("error", {"title": "RET-301 (MUST) fail%3A mine"})
    assert message.split("%0A") == [
        "in 2 cases", "return/x (openai-chat)", "expected a nudge", "observed none", "pytest ..."
    ]  # fmt: skip


def test_it_stands_at_the_runtimes_line(report, record, check):
    """A runtime that agent-contract.toml speaks of is annotated there; another one nowhere."""
    made = report(
        record(check("RET-301", "fail"), status="fail"),
        record(check("RET-301", "fail"), status="fail", runtime="other"),
    )
    told = _parsed(lines(made, '\n[runtimes.mine]\ndriver = "command"\n', "agent-contract.toml"))
    assert [(place.get("file"), place.get("line")) for _, place, _ in told] == [
        ("agent-contract.toml", "2"),
        (None, None),
    ]


def test_what_ones_own_case_shows_stands_in_its_file(report, record, check):
    """Where no case of the suite's shows it as well."""
    own = record(check("RET-301", "fail"), check("RET-302", "fail"), case="own/deep/mine", status="fail")
    made = report(own, record(check("RET-302", "fail"), status="fail"))
    told = _parsed(lines(made, "[runtimes.mine]", "agent-contract.toml", "contract-cases"))
    assert [place["file"] for _, place, _ in told] == ["contract-cases/deep/mine.json", "agent-contract.toml"]


@pytest.mark.parametrize(
    ("status", "level", "known", "strict", "kind"),
    [
        ("fail", "MUST", "", False, "error"),
        ("not-verified", "MUST", "", False, "error"),
        ("error", "MUST", "", False, "error"),
        ("fail", "MUST", "we know", False, None),
        ("fail", "SHOULD", "", False, "warning"),
        ("fail", "SHOULD", "", True, "error"),
        ("pass", "MUST", "", False, None),
        ("not-applicable", "MUST", "", False, None),
    ],
)
def test_what_turns_a_run_red_is_an_error(report, record, check, status, level, known, strict, kind):
    """What does not is a warning, and what is met, known or does not apply is nothing."""
    requirement = "RET-301" if level == "MUST" else "RET-309"
    made = report(record(check(requirement, status, level=level, known=known)), strict=strict)
    assert [one for one, _, _ in _parsed(lines(made))] == ([kind] if kind else [])


def test_a_part_that_should_hold_is_a_warning(report, record, check):
    """Of a MUST that holds, and whose SHOULD part does not."""
    made = report(record(check("RET-301", "fail", level="SHOULD")))
    [(kind, place, _)] = _parsed(lines(made))
    assert (kind, place["title"]) == ("warning", "RET-301 (MUST) fail (SHOULD)%3A mine")


def test_the_gravest_come_first_and_the_rest_is_counted(report, record, check):
    """GitHub shows ten of a step."""
    first, *others = [row.id for row in load().values() if row.level == "MUST"][: MOST + 2]
    made = report(record(*(check(name, "not-verified") for name in others), check(first, "fail"), status="fail"))
    told = _parsed(lines(made))
    assert len(told) == MOST
    assert told[0][1]["title"].startswith(f"{first} (MUST) fail")
    assert told[-1][1]["title"] == "3 requirements more"


def test_what_a_runtime_says_stays_inside_the_message(report, record, check):
    """No line of its own, no command of its own, no property of its own."""
    bad = "50%\n::error file=x::owned\r\n::set-output name=a::b\x1b[31m, title=c:d\ud800"
    made = report(record(check("RET-301", "fail", observed=bad), status="fail", runtime="a,b:c%\n"))
    [told] = lines(made, "[runtimes.a]", "x")
    assert "\n" not in told
    assert "\r" not in told
    assert "\x1b" not in told
    [(_, place, message)] = _parsed([told])
    assert set(place) == {"title"}
    assert place["title"].endswith("a%2Cb%3Ac%25%0A")
    assert "50%25 ::error file=x::owned" in message


def test_the_command_prints_them(report, record, check, tmp_path, monkeypatch):
    """It looks for agent-contract.toml where it is called; a report without a fault prints nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent-contract.toml").write_text(f"[runtimes.mine]\n{MINE}")
    for name, status in (("red", "fail"), ("green", "pass")):
        (tmp_path / name).write_text(stream.text(report(record(check("RET-301", status), status=status))))
    red, green = (CliRunner().invoke(cli.main, ["report", "annotations", name]) for name in ("red", "green"))
    assert (red.exit_code, green.exit_code, green.output) == (0, 0, "")
    assert red.output.startswith("::error file=agent-contract.toml,line=1,title=RET-301")
