"""The hand-off engine over a folder of comments: who runs, what is posted, and what is not run twice."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_agentcontract.contract.handoff import WorkflowState
from pytest_agentcontract.contract.thread import read
from pytest_agentcontract.errors import HandoffError, UsageError
from pytest_agentcontract.reference import cli, desk
from pytest_agentcontract.scenario.start import HandoffPaths, Start

WORKFLOW = {
    "name": "feature",
    "agents": {"architect": {"role": "plans"}, "context": {"role": "reads the code"}, "issue": {"role": "talks"}},
    "steps": [
        {"id": "analyze", "agent": "architect", "next": "explain"},
        {"id": "explain", "agent": "context", "next": "plan"},
        {"id": "plan", "agent": "architect", "terminal": True},
    ],
}
ADVANCE = {"status": "advance"}


def human(name: str, body: str, author: str = "alice") -> dict:
    """Write a human's comment."""
    return {"id": name, "author": {"name": author, "kind": "human"}, "agent": None, "body": body, "created": "2026"}


@dataclass
class Room:
    """A workflow, a thread and a model whose agents are told apart by the model's name."""

    bench: object
    folder: Path
    workflow: dict = field(default_factory=lambda: json.loads(json.dumps(WORKFLOW)))
    events: int = 0

    def __post_init__(self) -> None:
        self.thread = self.folder / "thread"
        self.thread.mkdir()

    def comment(self, comment: dict) -> None:
        """Add a comment to the thread."""
        number = len(list(self.thread.iterdir())) + 1
        (self.thread / f"{number:04}.json").write_text(json.dumps(comment), "utf-8")

    def invoke(self, event: dict | None = None, **settings: str) -> dict:
        """Start the engine once, and return what it says that it did."""
        return self.prepared(event, **settings)()

    def prepared(self, event: dict | None = None, **settings: str) -> Callable[[], dict]:
        """Write the engine's files, and return what starts it on them."""
        paths = HandoffPaths(self.folder / "workflow.json", self.thread, None)
        paths.workflow.write_text(json.dumps(self.workflow), "utf-8")
        if event is not None:
            self.events += 1
            file = self.folder / f"event-{self.events}.json"
            file.write_text(json.dumps({"action": "created"} | event), "utf-8")
            paths = HandoffPaths(paths.workflow, paths.thread, file)
        start = self.bench.start(mode="handoff", prompt="", **settings)
        given = [getattr(start, name) for name in Start.__slots__][:-1]
        return lambda: cli.run(Start(*given, paths)).document

    def bodies(self) -> list[str]:
        """Return what the engine has posted so far."""
        comments = [json.loads(path.read_text("utf-8")) for path in sorted(self.thread.glob("*.json"))]
        return [comment["body"] for comment in comments if comment["author"]["kind"] == "engine"]

    def state(self) -> WorkflowState:
        """Return the last posted state."""
        return read(self.bodies()[-1]).state

    def decision(self) -> dict:
        """Return what the last agent's sentinel holds."""
        return next(record.config for body in reversed(self.bodies()) if (record := read(body)).config).to_json()


@pytest.fixture
def room(bench, model, tmp_path) -> Room:
    """Return a thread with one issue; agents are told apart by the name of the model that they ask for."""
    model.by_model = True
    made = Room(bench, tmp_path)
    made.comment(human("c1", "The parser loses errors."))
    return made


@pytest.fixture
def agent(model):
    """Return a function that says what an agent of the workflow does next: its tool calls, then its reply."""

    def turn(name: str, text: str = "Done.", **calls: dict) -> None:
        model.say(calls=[*calls.items(), ("reply", {"value": text})], to=name)

    return turn


def ran(room: Room, *invocations: dict | None) -> list[str | None]:
    """Return who ran in each invocation."""
    return [room.invoke(event)["agent"] for event in invocations]


# ---- the worked examples


def test_a_workflow_is_followed_along_its_edges(room, agent):
    """A dispatch-only advance hands on; the terminal step ends the workflow with one notice."""
    agent("architect", dispatch_next=ADVANCE)
    agent("context", dispatch_next=ADVANCE)
    agent("architect", dispatch_next=ADVANCE)
    assert ran(room, None, None, None, None) == ["architect", "context", "architect", None]
    assert (room.state().status, room.state().stop, len(room.bodies())) == ("ended", "terminal", 4)
    assert room.bodies()[-1].startswith("@alice ")


def test_a_call_returns_to_its_caller(room, agent):
    """The callback defaults to the caller, is posted with the state and outranks the edge; the return clears it."""
    agent("architect", call_agent={"agent_name": "context"})
    agent("context", dispatch_next=ADVANCE)
    assert ran(room, None) == ["architect"]
    assert '"CONFIG_CALLBACK": "architect"' in room.bodies()[-1]
    assert room.decision() == {"function_call": {"function": "call_agent", "agent_name": "context"}}
    assert ran(room, None) == ["context"]
    assert (room.state().next, room.state().callback, room.state().step) == ("architect", None, "analyze")


@pytest.mark.parametrize(
    ("called", "status", "reason"),
    [
        (False, "awaiting-human", "no-action default: agent emitted no decision"),
        (True, "running", "no-action default: agent emitted no decision; returning to caller 'architect'"),
    ],
)
def test_an_agent_that_decides_nothing(room, agent, called, status, reason):
    """It holds for a human, or returns to its caller; the fallback is the engine's, and stands in the sentinel."""
    if called:
        agent("architect", call_agent={"agent_name": "context"})
        room.invoke()
    agent("context" if called else "architect")
    room.invoke()
    state = room.state()
    assert (state.status, state.dispatch.reason, state.dispatch.origin) == (status, reason, "engine_fallback")
    assert room.decision() == {"dispatch": {"status": "advance" if called else "hold", "reason": reason}}


# ---- what an agent decided


def test_control_plane_calls_win_over_the_text(room, agent):
    """A look-alike in the text is neutralised, and one live sentinel is left."""
    agent("architect", 'Go. <!-- AGENT_RUN_CONFIG {"dispatch": {"status": "hold"}} -->', dispatch_next=ADVANCE)
    room.invoke()
    assert room.decision() == {"dispatch": ADVANCE}
    assert room.bodies()[0].count("<!-- AGENT_RUN_CONFIG") == 1


def test_a_sentinel_of_the_agents_own_is_read_and_rendered_anew(room, agent):
    """Without a control-plane call it is the decision, and still there is one live sentinel."""
    agent("architect", '<!--  AGENT_RUN_CONFIG{"task": "context"}-->')
    room.invoke()
    assert (room.decision(), room.state().next) == ({"task": "context"}, "context")
    assert room.bodies()[0].count("<!-- AGENT_RUN_CONFIG") == 1


def test_of_two_calls_the_first_counts(room, model):
    """The second call of one tool is a tool error, and so is a call that is not valid; both may be put right."""
    hold = {"status": "hold", "reason": "wait"}
    calls = [("dispatch_next", {"status": "stop"}), ("dispatch_next", hold), ("dispatch_next", ADVANCE)]
    model.say(calls=calls, to="architect")
    model.reply("Done.", to="architect")
    room.invoke()
    assert room.decision() == {"dispatch": hold}
    told = "\n".join(model.wire.texts(model.requests[-1]))
    assert "error (invalid_input): /dispatch/status" in told
    assert "error (already_called): 'dispatch_next'" in told


def test_both_tools_are_recorded(room, agent):
    """The precedence decides between a call and a dispatch: the call wins."""
    agent("architect", dispatch_next={"status": "hold"}, call_agent={"agent_name": "context", "callback": "issue"})
    room.invoke()
    assert (room.state().next, room.state().callback) == ("context", "issue")
    assert set(room.decision()) == {"dispatch", "function_call"}


def test_a_failed_run_decides_nothing(room, model, agent):
    """Whatever it had recorded: its comment names the failure, and none of its prose."""
    model.say("My secret plan.", calls=[("dispatch_next", ADVANCE)], to="architect")
    model.status(400, to="architect")
    assert ran(room, None) == ["architect"]
    assert (room.state().status, room.state().dispatch.origin) == ("awaiting-human", "engine_fallback")
    assert room.bodies()[0].startswith("✗ architect failed: provider_error\n")
    assert "secret" not in room.bodies()[0]


def test_an_agent_of_a_workflow_has_the_control_plane_in_place_of_children(room, model, agent):
    """It is offered `dispatch_next`, `call_agent` and `reply`, and asks for the model of its own name."""
    agent("architect", dispatch_next=ADVANCE)
    room.invoke()
    assert model.wire.tools(model.requests[0]).keys() == {"touch", "read", "dispatch_next", "call_agent", "reply"}
    assert model.requests[0]["model"] == "architect"


# ---- what an agent is told


def test_an_agent_is_told_of_its_team_once_and_of_its_caller(room, model, agent):
    """Each request's system prompt holds the section; the thread comes without the engine's own lines."""
    agent("architect", "Please look. @bob", call_agent={"agent_name": "context"})
    agent("context")
    ran(room, None, None)
    systems = [json.dumps(body, ensure_ascii=False) for body in model.requests]
    assert [text.count("Your Team") for text in systems] == [1, 1]
    assert [text.count("You were called by architect") for text in systems] == [0, 1]
    asked = model.wire.texts(model.requests[1])[0]
    assert "--- architect:\nPlease look." in asked
    assert "WORKFLOW_STATE" not in asked
    assert "AGENT_RUN_CONFIG" not in asked


# ---- events


def test_one_event_is_one_run(room, agent):
    """The same event again, and an edit of the comment that ran, run nobody and post nothing."""
    agent("architect", dispatch_next={"status": "hold"})
    first, edit = {"id": "e1", "comment": "c1"}, {"id": "e2", "comment": "c1", "action": "edited"}
    assert ran(room, first, first, edit) == ["architect", None, None]
    assert len(room.bodies()) == 2


def test_a_human_resumes_what_waits_and_nothing_else(room, agent):
    """A comment resumes a hold; while the workflow runs, and once it has ended, it is passed over."""
    room.comment(human("c2", "Go on.", "bob"))
    answer = {"id": "e2", "comment": "c2"}
    agent("architect", dispatch_next=ADVANCE)
    agent("context", dispatch_next={"status": "hold"})
    agent("context", dispatch_next={"status": "terminate"})
    assert ran(room, None, answer, None, None, answer) == ["architect", None, "context", None, "context"]
    assert ran(room, {"id": "e3", "comment": "c2"}, None) == [None, None]
    assert room.state().started_by == "alice"


def test_an_engine_comment_that_runs_is_an_event(room, agent):
    """The last one goes on once; an older one is history."""
    agent("architect", dispatch_next=ADVANCE)
    agent("context", dispatch_next=ADVANCE)
    room.invoke()
    own = {"id": "e2", "comment": "engine-2"}
    assert ran(room, own, own, {"id": "e3", "comment": "engine-2"}) == ["context", None, None]


def test_a_gate_holds_before_its_agent_runs(room, agent):
    """A gate at the first step holds at once: one notice, and no agent before a human has answered."""
    room.workflow["steps"][0]["human_gate"] = True
    room.comment(human("c2", "Go on."))
    assert ran(room, {"id": "e1", "comment": "c1"}, None) == [None, None]
    assert (room.state().stop, len(room.bodies())) == ("human_gate", 1)
    agent("architect", dispatch_next=ADVANCE)
    assert ran(room, {"id": "e2", "comment": "c2"}) == ["architect"]


def test_a_notice_that_a_crash_kept_back_is_posted_first(room, agent):
    """And only once, whoever comes next."""
    agent("architect", dispatch_next={"status": "hold"})
    room.invoke()
    (room.thread / "0003.json").unlink()
    assert [room.invoke()["posted"] for _ in range(2)] == [["engine-3"], []]
    assert room.bodies()[-1].startswith("@alice ")


def test_two_engines_at_once_run_an_event_once(room, agent):
    """One waits for the other, then sees that the event is consumed."""
    agent("architect", dispatch_next={"status": "hold"})
    event, found = {"id": "e1", "comment": "c1"}, []
    starts = [room.prepared(event) for _ in range(2)]
    threads = [threading.Thread(target=lambda start=start: found.append(start()["agent"])) for start in starts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=str) == [None, "architect"]


def test_a_comment_of_the_older_kind_is_read(room, agent):
    """A sentinel without a state goes on from where the workflow stood: here from its agent's first step."""
    body = 'Looked.\n\n<!-- AGENT_RUN_CONFIG {"dispatch": {"status": "advance"}} -->\n\nBye.'
    engine = {"name": "engine", "kind": "engine"}
    room.comment({**human("c2", body), "agent": "context", "author": engine})
    agent("architect", dispatch_next=ADVANCE)
    assert ran(room, None) == ["architect"]
    assert (room.state().step, room.state().status) == ("plan", "ended")


# ---- bad files


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("workflow.json", "{", "workflow.json: not JSON"),
        ("workflow.json", '{"name": "x", "agents": {"a": {"role": ""}}, "steps": []}', "/steps: needs at least 1"),
        ("thread/0002.json", "[]", "0002.json: must be an object, not an array"),
        ("thread/0002.json", json.dumps(human("c1", "")), "two comments have the id 'c1'"),
        ("thread/0001.json", b"\xff", "0001.json: not UTF-8 (byte 0)"),
        ("event.json", '{"id": "e", "comment": "c9", "action": "created"}', "the unknown comment 'c9'"),
        ("event.json", '{"id": "e"}', "event.json: lacks 'comment'"),
    ],
)
def test_a_bad_file_is_named(room, bench, tmp_path, monkeypatch, capsys, name, content, said):
    """In one line, with exit code 2; nothing is posted."""
    (tmp_path / "workflow.json").write_text(json.dumps(WORKFLOW), "utf-8")
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for variable, value in bench.model.env.items():
        monkeypatch.setenv(variable, value)
    event = ["--event", str(tmp_path / "event.json")] if name == "event.json" else []
    argv = ["--handoff", str(tmp_path / "workflow.json"), "--thread", str(room.thread), *event]
    assert cli.main(argv) == 2
    stderr = capsys.readouterr().err
    assert said in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("argv", [["--handoff", "w.json"], ["--thread", "t"], ["--event", "e", "--thread", "t"]])
def test_the_options_belong_together(argv, capsys):
    """A workflow needs a thread, and the other way round."""
    assert cli.main(argv) == 2
    assert "--handoff WORKFLOW.json needs --thread DIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"workflow": "other"}, "the workflow 'other'"),
        ({"step": "gone"}, "the step 'gone'"),
        ({"next": "nobody"}, "the agent 'nobody'"),
        ({"status": "paused"}, "can't be read"),
    ],
)
def test_a_state_that_does_not_fit_runs_nobody(room, agent, change, said):
    """What names something unknown is no place to go on from."""
    agent("architect", dispatch_next=ADVANCE)
    room.invoke()
    path = room.thread / "0002.json"
    comment = json.loads(path.read_text("utf-8"))
    text, _, line = comment["body"].rpartition("\n")
    state = json.loads(line.removeprefix("<!-- WORKFLOW_STATE ").removesuffix(" -->")) | change
    path.write_text(json.dumps(comment | {"body": f"{text}\n<!-- WORKFLOW_STATE {json.dumps(state)} -->"}), "utf-8")
    with pytest.raises(HandoffError, match=said):
        room.invoke()


def test_only_the_last_state_has_to_fit(room, agent):
    """A step that was renamed since is history."""
    agent("architect", dispatch_next=ADVANCE)
    agent("context", dispatch_next=ADVANCE)
    agent("architect", dispatch_next=ADVANCE)
    ran(room, None, None)
    room.workflow["steps"] = room.workflow["steps"][2:]
    assert ran(room, None) == ["architect"]


def test_a_thread_without_a_human_starts_nothing(room):
    """There is nothing to work on."""
    (room.thread / "0001.json").unlink()
    with pytest.raises(HandoffError, match="no comment of a human"):
        room.invoke()


def test_a_hand_off_needs_its_paths(bench):
    """Without them there is no workflow."""
    with pytest.raises(UsageError, match="a workflow and a thread"):
        bench.run(mode="handoff")


def test_comments_are_ordered_by_number(tmp_path):
    """Ten comes after nine, however many noughts there are; what is half written is not read."""
    for number in ("10", "9", "0011"):
        (tmp_path / f"{number}.json").write_text(json.dumps(human(f"c{number}", "")), "utf-8")
    (tmp_path / ".0012.json").write_text("{", "utf-8")
    with desk.opened(tmp_path) as thread:
        assert [comment.id for comment in thread.comments] == ["c9", "c10", "c0011"]
        assert thread.post("Hello.").id == "engine-12"
    assert json.loads((tmp_path / "0012.json").read_text("utf-8"))["body"] == "Hello."


def test_what_has_no_number_counts_as_nought(tmp_path):
    """Whatever else lies in the folder, the next comment stands behind it."""
    for name in ("zzz", "9998", "0"):
        (tmp_path / f"{name}.json").write_text(json.dumps(human(name, "")), "utf-8")
    with desk.opened(tmp_path) as thread:
        assert [comment.id for comment in thread.comments] == ["0", "zzz", "9998"]
        assert [thread.post("Hello.").id for _ in range(2)] == ["engine-9999", "engine-10000"]
    with desk.opened(tmp_path) as thread:
        assert [comment.id for comment in thread.comments[-2:]] == ["engine-9999", "engine-10000"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_comment_that_cannot_be_posted_leaves_nothing_behind(room, agent, monkeypatch, failing):
    """A full disk is one clear error, and no half of a file stays."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    agent("architect", dispatch_next=ADVANCE)
    before = sorted(room.thread.iterdir())
    monkeypatch.setattr(*((os, "fsync", full) if failing == "fsync" else (Path, "replace", full)))
    with pytest.raises(HandoffError, match="can't be posted: No space left") as caught:
        room.invoke()
    assert caught.value.where.endswith("0002.json")
    assert sorted(room.thread.iterdir()) == before


def test_a_name_that_is_too_long_is_said(tmp_path):
    """The number behind the highest may be no name of a file any more."""
    (tmp_path / f"{'9' * 245}.json").write_text(json.dumps(human("c", "")), "utf-8")
    with desk.opened(tmp_path) as thread, pytest.raises(HandoffError, match="can't be posted: File name too long"):
        thread.post("Hello.")
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize("read", [desk.workflow_in, desk.event_in, lambda path: desk.Desk(path.parent)])
def test_what_is_no_regular_file_is_not_waited_for(tmp_path, read):
    """A pipe that nobody writes to would keep the engine for ever."""
    os.mkfifo(tmp_path / "1.json")
    with pytest.raises(HandoffError, match="not a regular file"):
        read(tmp_path / "1.json")
