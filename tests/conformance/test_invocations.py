"""The loop over a case's events: what lies in the thread at each, and what is found to be posted."""

from __future__ import annotations

import json
import os

from pytest_agentcontract.conformance.invocations import invoke_all
from pytest_agentcontract.scenario.case import Handoff
from pytest_agentcontract.scenario.observation import Delivery


def comment(name, body="x"):
    """Return a human's comment."""
    return {"id": name, "author": {"name": "alice", "kind": "human"}, "agent": None, "body": body, "created": "now"}


def event(number, name, action="created"):
    """Return an event."""
    return {"id": f"e{number}", "comment": name, "action": action}


class Engine:
    """Posts a comment in each invocation, and remembers what it found."""

    def __init__(self, *, posts=True, ended="exited"):
        self.found, self.events, self.posts, self.ended = [], [], posts, ended

    def __call__(self, paths):
        """Carry out one invocation."""
        files = sorted(paths.thread.glob("[0-9]*.json"))
        self.found.append([(one["id"], one["body"]) for one in map(json.loads, (path.read_text() for path in files))])
        self.events.append(json.loads(paths.event.read_text()) if paths.event else None)
        assert json.loads(paths.workflow.read_text()) == {"name": "w"}
        if self.posts:
            name = f"{len(files) + 1:04}.json"
            (paths.thread / name).write_text(json.dumps(comment(f"engine-{len(files)}")))
            (paths.thread / ".unfinished.json").write_text("{")
        return Delivery(self.ended, 0), ()


def invoke(tmp_path, engine, thread, *events):
    """Invoke an engine for events over a thread."""
    return invoke_all(Handoff({"name": "w"}, tuple(thread), events), tmp_path, engine)


def test_a_comment_is_posted_right_before_the_event_that_names_it(tmp_path):
    """What no later event names is there from the start, and later ones come after what the engine has posted."""
    engine = Engine()
    thread = [comment("issue"), comment("noise"), comment("answer")]
    seen = invoke(tmp_path, engine, thread, event(1, "issue"), None, event(2, "answer"))
    assert [[name for name, _ in found] for found in engine.found] == [
        ["issue", "noise"],
        ["issue", "noise", "engine-2"],
        ["issue", "noise", "engine-2", "engine-3", "answer"],
    ]
    assert engine.events == [event(1, "issue"), None, event(2, "answer")]
    assert [[one["id"] for one in invocation.posted] for invocation in seen.invocations] == [
        ["engine-2"],
        ["engine-3"],
        ["engine-5"],
    ]


def test_an_edit_brings_the_next_version_of_a_comment(tmp_path):
    """A redelivery brings none, and the edited comment keeps its place."""
    engine = Engine(posts=False)
    thread = [comment("issue", "one"), comment("issue", "two"), comment("other")]
    edits = [event(1, "issue"), event(1, "issue"), event(2, "issue", "edited"), event(3, "issue", "edited")]
    invoke(tmp_path, engine, thread, *edits)
    assert [found[0] for found in engine.found] == [
        ("issue", "one"),
        ("issue", "one"),
        ("issue", "two"),
        ("issue", "two"),
    ]
    assert all(len(found) == 2 for found in engine.found)


def test_what_becomes_of_earlier_comments_is_noted(tmp_path):
    """Written anew as the same JSON it is the same; a changed, a broken and a removed one are told by name."""

    def meddle(paths):
        posted = paths.thread / "0005.json"
        posted.write_text(json.dumps(comment("engine-5")))
        first, second, third, fourth = sorted(paths.thread.glob("000[1-4].json"))
        first.write_text(json.dumps(json.loads(first.read_text())))
        second.write_text(json.dumps({**json.loads(second.read_text()), "body": "", "agent": False}))
        third.unlink()
        fourth.write_text("{")
        return Delivery("exited", 0), ()

    seen = invoke(tmp_path, meddle, [comment(name) for name in "abcd"], event(1, "a"))
    assert seen.invocations[0].altered == (
        'comment "b" (0002.json) has another agent, body',
        'comment "c" (0003.json) is gone',
        'comment "d" (0004.json) has another agent, author, body, created, id',
    )


def test_an_invocation_that_does_not_end_is_the_last(tmp_path):
    """What comes after it is not asked for: the observation holds what was seen."""
    seen = invoke(tmp_path, Engine(ended="time-limit"), [comment("issue")], None, None)
    assert (len(seen.invocations), seen.delivery.ended) == (1, "time-limit")


def test_a_pipe_in_the_thread_is_an_empty_comment(tmp_path):
    """The judge waits for no writer that never comes."""

    def pipe(paths):
        os.mkfifo(paths.thread / "0002.json")
        return Delivery("exited", 0), ()

    assert invoke(tmp_path, pipe, [comment("issue")], event(1, "issue")).invocations[0].posted == ({},)


def test_comments_are_ordered_by_number_and_the_next_one_comes_behind_all(tmp_path):
    """Whatever numbers an engine goes on with."""

    def post(paths):
        for name in ("10000", "9999", "notice"):
            (paths.thread / f"{name}.json").write_text(json.dumps(comment(name)))
        return Delivery("exited", 0), ()

    seen = invoke(tmp_path, post, [comment("issue"), comment("answer")], event(1, "issue"), event(2, "answer"))
    assert [one["id"] for one in seen.invocations[0].posted] == ["notice", "9999", "10000"]
    assert json.loads((tmp_path / "comments" / "10001.json").read_text())["id"] == "answer"
