"""Baselines: strict about what they list, and easy to start."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.conformance.baseline import Baseline, Known, Seen, kept, load_baseline, write_baseline
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
    assert write_baseline(path, full, seen, [("group/case", wire) for wire in full.wires]) == 2
    assert json.loads(path.read_text())["known"] == [
        {"case": "group/case", "requirement": "RET-204", "wire": CHAT, "reason": ""},
        {"case": "group/case", "requirement": "RET-401", "reason": ""},
    ]
    with pytest.raises(BaselineError, match="has no reason"):
        load_baseline(path, full, [scene(CASE).case])


@pytest.fixture
def rewritten(full, tmp_path):
    """Write failures of a run over entries; return the new ones as (requirement, wire, reason)."""

    def writing(before, *failures, judged):
        path = tmp_path / "new.json"
        seen = [Seen("group/case", requirement, wire, "fail") for requirement, wire in failures]
        write_baseline(path, full, seen, [("group/case", wire) for wire in judged], before)
        return [(known.requirement, known.wire, known.reason) for known in kept(path, full)]

    return writing


def test_a_written_baseline_keeps_reasons_that_were_given(rewritten):
    """Writing again over a baseline loses no word of it: one reason on all wire formats stays one entry."""
    before = [Known("group/case", "RET-401", reason="trims")]
    failures = [("RET-401", ANTHROPIC), ("RET-401", CHAT)]
    assert rewritten(before, *failures, judged=[ANTHROPIC, CHAT]) == [("RET-401", "", "trims")]
    assert rewritten(before, *failures[1:], judged=[ANTHROPIC, CHAT]) == [("RET-401", CHAT, "trims")]


def test_a_written_baseline_keeps_what_was_not_judged(rewritten):
    """A run of a selection says nothing about the rest; what was judged and passed is taken out, unless flaky."""
    before = [Known("group/case", "RET-401", reason="trims"), Known("other/case", "RET-601", reason="slow")]
    assert rewritten(before, judged=[CHAT]) == [("RET-401", ANTHROPIC, "trims"), ("RET-601", "", "slow")]
    flaky = Known("group/case", "RET-401", reason="now and then", flaky=True)
    assert rewritten([flaky], judged=[ANTHROPIC, CHAT]) == [("RET-401", "", "now and then")]


def test_no_reason_is_given_to_a_failure_that_had_none(rewritten):
    """A failure that is new on one wire format doesn't take over the reason of the other."""
    before = [Known("group/case", "RET-401", CHAT, "trims")]
    found = rewritten(before, ("RET-401", ANTHROPIC), ("RET-401", CHAT), judged=[ANTHROPIC, CHAT])
    assert found == [("RET-401", ANTHROPIC, ""), ("RET-401", CHAT, "trims")]


def test_what_is_no_baseline_of_the_runtime_is_not_overwritten(full, tmp_path):
    """A file that can't be read, or is another's, is told; none at all is fine."""
    path = tmp_path / "baseline.json"
    assert kept(path, full) == ()
    for content in ("{", '{"runtime": "other", "known": []}'):
        path.write_text(content)
        with pytest.raises(BaselineError):
            kept(path, full)


def test_a_place_that_can_not_be_written_is_named(full, tmp_path):
    """A wrong path is the user's slip, told as one."""
    with pytest.raises(UsageError, match="can't be written"):
        write_baseline(tmp_path / "no" / "folder.json", full, [], [])
