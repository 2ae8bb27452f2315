"""Case files: read into values, and refused with file, place and remedy."""

from __future__ import annotations

import json

import pytest

from pytest_agentcontract.errors import CaseError
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.case import Cover, Hold, When
from pytest_agentcontract.scenario.load_case import load_case, load_folder
from pytest_agentcontract.wire.faults import CutFault, StatusFault
from pytest_agentcontract.wire.turn import Usage

MINIMAL = {
    "title": "A case",
    "why": "Because.",
    "covers": ["RET-201"],
    "given": {"prompt": "Go."},
    "script": {"root": [{"calls": [{"tool": "$return", "value": "x"}]}]},
    "expect": {"result": {"status": "success", "value": "x"}},
}


def written(tmp_path, **changes):
    """Write the minimal case with some keys replaced (None drops one) and return its path."""
    data = {key: value for key, value in {**MINIMAL, **changes}.items() if value is not None}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def root(tmp_path, *turns):
    """Load a case whose root has these turns."""
    return load_case(written(tmp_path, script={"root": list(turns), "child": []})).script["root"]


def test_a_minimal_case(tmp_path):
    """A case needs a title, a reason, what it covers, what is given and a script; the rest has defaults."""
    case = load_case(written(tmp_path))
    assert (case.id, case.title, case.covers) == ("mine", "A case", (Cover("RET-201"),))
    assert case.given.mode == "json"
    assert case.expect.result is not None
    assert case.expect.result.value == "x"


def test_needs_follow_from_what_the_case_does(tmp_path):
    """Mode, schema, step cap, the tools called and the payload's type each need a capability."""
    script = {
        "root": [
            {"calls": [{"tool": "$spawn", "agent": "child"}]},
            {"calls": [{"tool": "$return", "value": {"a": 1}}]},
        ],
        "child": [{"calls": [{"tool": "$return", "value": ["x"]}]}],
    }
    case = load_case(written(tmp_path, script=script, given={"schema": {}, "max_turns": 3}, needs=["async"]))
    assert case.needs == {
        "headless", "schema", "step-cap", "sub-agents", "root-return", "child-return", "payload-object",
        "payload-array", "async",
    }  # fmt: skip


def test_a_cover_can_lower_the_level_with_a_reason(tmp_path):
    """Where the source is silent, a case judges a requirement at a lower level and says why."""
    lowered = {"id": "RET-501", "level": "SHOULD", "why": "silent"}
    assert load_case(written(tmp_path, covers=[lowered])).covers == (Cover("RET-501", "SHOULD", "silent"),)


def test_long_and_large_payloads(tmp_path):
    """Lines are joined; what is too long to be written down is made."""
    [turn] = root(tmp_path, {"text": {"lines": ["a", "", "b"]}})
    assert turn.text == "a\n\nb"
    string, keys, depth = (
        root(tmp_path, {"calls": [{"tool": "$return", "value": {"large": large}}]})[0].calls[0].value
        for large in ({"string": 1_000_000}, {"keys": 500}, {"depth": 3})
    )
    assert len(string) >= 1_000_000
    assert len(keys) == 500
    assert depth == {"next": {"next": {"next": "the bottom"}}}


def test_faults_gates_and_conditions(tmp_path):
    """Each becomes a value of its own kind."""
    turns = root(
        tmp_path,
        {"fault": {"status": 429, "headers": {"retry-after": "1"}}},
        {"text": "x", "fault": {"cut_after_deltas": 2, "with": "rst"}},
        {"text": "x", "hold": {"after_deltas": 1, "until": {"printed": "x"}}, "usage": {"input_tokens": 7}},
        {"text": "x", "hold": {"after_deltas": 0, "until": {"delivered": "child", "turn": 2}}},
        {"when": {"sees": "child"}, "hold": {"after_deltas": 0, "until": "end"}, "repeat": "forever"},
    )
    assert [turn.fault for turn in turns[:2]] == [StatusFault(429, {"retry-after": "1"}), CutFault(2, "rst")]
    assert turns[0].only_fault
    assert not turns[1].only_fault
    assert [turn.hold for turn in turns[2:4]] == [
        Hold(1, "printed", text="x"),
        Hold(0, "delivered", agent="child", turn=2),
    ]
    assert turns[2].usage == Usage(7, 0)
    assert (turns[4].when, turns[4].hold, turns[4].repeat) == (When("sees", "child"), Hold(0, "end"), True)


def test_work_is_marked_and_expected_unless_it_is_broken(tmp_path):
    """Every `$work` call gets a mark of its own; a broken one is not expected to leave it."""
    turns = [
        {"calls": [{"tool": "$work"}, {"tool": "$work", "mark": "mine"}]},
        {"calls": [{"tool": "$work", "truncate": 1}, {"tool": "$work", "arguments": {}}]},
    ]
    case = load_case(written(tmp_path, script={"root": turns}))
    assert [call.mark for turn in case.script["root"] for call in turn.calls] == ["w1", "mine", "w2", "w3"]
    assert case.expect.work == ("w1", "mine")


def test_an_absent_payload_is_not_null(tmp_path):
    """A call without a value has the wrong shape; null is a value."""
    [turn] = root(tmp_path, {"calls": [{"tool": "$return"}, {"tool": "$return", "value": None}]})
    assert [call.value for call in turn.calls] == [MISSING, None]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"titel": "x"}, "unknown key 'titel'; did you mean 'title'?"),
        ({"why": None}, "'why' is a required property"),
        ({"covers": ["RET-1"]}, "/covers/0: "),
        ({"covers": [{"id": "RET-101", "level": "SHOULD"}]}, "'why' is a required property"),
        ({"needs": ["root-retrun"]}, "root-retrun"),
        ({"script": {"root": [{"txet": "x"}]}}, r"/script/root/0: unknown key 'txet'; did you mean 'text'?"),
        ({"script": {"root": [{"fault": {"status": 200}}]}}, "at least 400"),
        ({"script": {"root": [{"fault": {}}]}}, r"/script/root/0/fault: exactly one of status, cut_after_deltas"),
        ({"script": {"root": [{"calls": [{"tool": "$spawn"}]}]}}, "'agent' is a required property"),
        ({"script": {"root": [{"calls": [{"tool": "$spawn", "agent": "kid"}]}]}}, "spawns 'kid', which has no script"),
        ({"script": {"root": [{"repeat": "forever"}, {}]}}, "only the last turn can be repeated"),
        ({"script": {"chief": []}}, "names no agent `root`"),
        ({"given": {"mode": "interactive"}}, "an interactive root has a conversation"),
        ({"given": {"conversation": [{"say": "x"}]}}, "only an interactive root has one"),
        (
            {"given": {"mode": "interactive", "conversation": [{"say": "x"}], "open_stdin": True}},
            "only a headless root",
        ),
    ],
)
def test_a_wrong_case_is_one_clear_error(tmp_path, changes, complaint):
    """Whatever is wrong, the message names file, place and what to do."""
    path = written(tmp_path, **changes)
    with pytest.raises(CaseError) as caught:
        load_case(path)
    assert str(path) in str(caught.value)
    assert "write-a-case" in str(caught.value)
    caught.match(complaint.replace("?", r"\?"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "not JSON"),
        (b'{"title": "a", "title": "b"}', "'title' stands twice"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "is not of type 'object'"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_case_is_one_clear_error(tmp_path, content, complaint):
    """Broken bytes, broken JSON and JSON of another kind are told apart."""
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(CaseError, match=complaint):
        load_case(path)


def test_a_folder_gives_ids_by_path_and_an_empty_one_is_an_error(tmp_path):
    """The path below the folder is the id, under `own/`; a folder without cases would be a silent skip."""
    with pytest.raises(CaseError, match="holds no case file"):
        load_folder(tmp_path)
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    written(tmp_path).rename(tmp_path / "mine" / "deep" / "one.json")
    assert [case.id for case in load_folder(tmp_path)] == ["own/mine/deep/one"]


def test_a_missing_file_is_one_clear_error(tmp_path):
    """A path that leads nowhere says so."""
    with pytest.raises(CaseError, match="No such file"):
        load_case(tmp_path / "absent.json")


HANDOFF = {
    "workflow": {"name": "w", "agents": {"one": {"role": "r ({nonce})"}}, "steps": [{"id": "s", "agent": "one"}]},
    "thread": [
        {"id": "c1", "author": "alice", "body": {"lines": ["Go.", "Now."]}},
        {"id": "c2", "agent": None, "body": "A notice."},
    ],
    "events": [{"id": "e1", "comment": "c1"}, None],
}
ROUTE = [{"covers": ["HND-304"], "should": ["next"], "agent": "one", "next": None}, {"agent": None}]


def handed(tmp_path, route=ROUTE, script="one", **changes):
    """Write a hand-off case with some keys of what is given replaced, and return its path."""
    given = {"mode": "handoff", "handoff": {**HANDOFF, **changes}}
    turns = [{"calls": [{"tool": "$return", "value": "x"}]}]
    return written(tmp_path, given=given, script={script: turns}, expect={"route": route})


def test_a_hand_off_has_a_workflow_a_thread_and_events(tmp_path):
    """Comments and events are completed; who runs in a workflow is nobody's child."""
    case = load_case(handed(tmp_path))
    human, notice = case.given.handoff.thread
    assert human["author"] == {"name": "alice", "kind": "human"}
    assert human["body"] == "Go.\nNow."
    assert (notice["author"]["kind"], notice["agent"]) == ("engine", None)
    assert human["created"] < notice["created"]
    assert case.given.handoff.events == ({"action": "created", "id": "e1", "comment": "c1"}, None)
    assert case.needs == {"handoff", "root-return", "payload-string"}


def test_a_route_says_what_each_invocation_shows(tmp_path):
    """Fields are kept apart from what they are for."""
    first, second = load_case(handed(tmp_path)).expect.route
    assert (first.fields, first.should, first.covers) == ({"agent": "one", "next": None}, {"next"}, {"HND-304"})
    assert (second.fields, second.covers) == ({"agent": None}, frozenset())


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"route": ROUTE[:1]}, "as long as `events`"),
        ({"script": "two"}, "knows no agent two"),
        ({"events": [{"id": "e1", "comment": "c9"}, None]}, "no comment 'c9'"),
        ({"route": [{"nxet": 1}, {}]}, "did you mean 'next'"),
        ({"thread": [{"id": "c1", "body": "x"}]}, "'author' is a required property"),
        ({"workflow": {"name": "w", "agents": {}, "steps": []}}, "workflow"),
        ({"events": []}, "events"),
    ],
)
def test_a_wrong_hand_off_is_one_clear_error(tmp_path, changes, complaint):
    """What does not belong together is told before anything runs."""
    with pytest.raises(CaseError, match=complaint):
        load_case(handed(tmp_path, **changes))
