"""Baselines: strict about what they list, and easy to start."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.conformance.baseline import Baseline, Known, Seen, load_baseline, write_baseline
from pytest_agentcontract.errors import BaselineError, UsageError

ROOT = [{"calls": [{"tool": "$work", "mark": "w"}]}, {"calls": [{"tool": "$return", "value": "R"}]}]
CASE = {"covers": ["RET-401"], "script": {"root": ROOT}, "expect": {"result": {"status": "success", "value": "R"}}}
ENTRY = {"case": "group/case", "requirement": "RET-401", "reason": "trims its output"}
ANTHROPIC, CHAT = "anthropic-messages", "openai-chat"


@pytest.fixture
def read(scene, full, tmp_path):
    """Read a baseline with these entries."""

    def reading(*entries, runtime="hand-made"):
        path = tmp_path / "baseline.json"
        path.write_text(json.dumps({"runtime": runtime, "known": list(entries)}))
        return load_baseline(path, full, [scene(CASE).case])

    return reading


def test_a_known_failure_has_its_reason(read):
    """The reason is what the report shows in the failure's place; others have none."""
    baseline = read(ENTRY | {"wire": CHAT})
    assert baseline.reason("group/case", "RET-401", CHAT) == "trims its output"
    assert baseline.reason("group/case", "RET-401", ANTHROPIC) == ""
    assert baseline.reason("group/case", "RET-203", CHAT) == ""


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"case": "group/gone"}, "no case 'group/gone'"),
        ({"requirement": "RET-601"}, "does not judge RET-601"),
        ({"wire": "gemini"}, "speaks no 'gemini'"),
        ({"reason": " "}, "has no reason"),
        ({"reasn": "x"}, "did you mean 'reason'"),
    ],
)
def test_an_entry_that_matches_nothing_is_refused(read, change, complaint):
    """A baseline never rots unseen: each entry speaks of a verdict that there can be, and says why."""
    with pytest.raises(BaselineError, match=complaint):
        read(ENTRY | change)


def test_an_entry_may_name_an_invariant(read):
    """What holds in every run can be broken in every case."""
    assert read(ENTRY | {"requirement": "RET-204"}).reason("group/case", "RET-204", CHAT)


def test_another_runtimes_baseline_is_refused(read):
    """A baseline excuses nobody but the runtime that it names."""
    with pytest.raises(BaselineError, match="'other'"):
        read(ENTRY, runtime="other")


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_file_that_is_no_baseline_is_named(full, tmp_path, content):
    """A missing or broken file is told with the next step."""
    path = tmp_path / "baseline.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BaselineError, match="--agent-contract-write-baseline"):
        load_baseline(path, full, [])


@pytest.mark.parametrize(
    ("known", "statuses", "stale"),
    [
        (Known("c", "RET-401"), {ANTHROPIC: "pass", CHAT: "pass"}, 1),
        (Known("c", "RET-401"), {ANTHROPIC: "pass", CHAT: "fail"}, 0),
        (Known("c", "RET-401"), {ANTHROPIC: "not-verified"}, 0),
        (Known("c", "RET-401", CHAT), {ANTHROPIC: "fail", CHAT: "pass"}, 1),
        (Known("c", "RET-401", CHAT), {ANTHROPIC: "pass"}, 0),
        (Known("c", "RET-401", flaky=True), {ANTHROPIC: "pass"}, 0),
        (Known("c", "RET-401"), {}, 0),
    ],
)
def test_an_entry_that_no_longer_fails_is_stale(known, statuses, stale):
    """An entry is stale where its case was judged and nothing of it failed; what was left out says nothing."""
    seen = [Seen("c", "RET-401", wire, status) for wire, status in statuses.items()]
    assert len(Baseline("hand-made", (known,)).stale(seen, [("c", wire) for wire in statuses])) == stale


def test_an_invariant_without_a_record_counts_as_met():
    """An invariant that holds leaves no record, so a judged case is evidence enough."""
    assert Baseline("hand-made", (Known("c", "RET-204"),)).stale([], [("c", CHAT)])


def test_a_written_baseline_wants_reasons(read, scene, full, tmp_path):
    """Writing lists the failures, one entry for all wire formats where all fail; reading it back asks for reasons."""
    path = tmp_path / "new.json"
    seen = [Seen("group/case", "RET-401", wire, "fail") for wire in full.wires]
    seen += [Seen("group/case", "RET-204", CHAT, "fail"), Seen("group/case", "RET-203", CHAT, "pass")]
    assert write_baseline(path, full, seen) == 2
    assert json.loads(path.read_text())["known"] == [
        {"case": "group/case", "requirement": "RET-204", "wire": CHAT, "reason": ""},
        {"case": "group/case", "requirement": "RET-401", "reason": ""},
    ]
    with pytest.raises(BaselineError, match="has no reason"):
        load_baseline(path, full, [scene(CASE).case])


def test_a_written_baseline_keeps_reasons_that_were_given(read, full, tmp_path):
    """Writing again over a baseline loses no word of it."""
    before = read(ENTRY | {"flaky": True})
    write_baseline(tmp_path / "new.json", full, [Seen("group/case", "RET-401", CHAT, "fail")], before)
    (entry,) = json.loads((tmp_path / "new.json").read_text())["known"]
    assert (entry["reason"], entry["flaky"]) == ("trims its output", True)


def test_a_place_that_can_not_be_written_is_named(full, tmp_path):
    """A wrong path is the user's slip, told as one."""
    with pytest.raises(UsageError, match="can't be written"):
        write_baseline(tmp_path / "no" / "folder.json", full, [])
