"""The checks of a root that returns: each passes, fails and is not verified on a run that is played by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.conformance.evidence import told_by_user
from pytest_agentcontract.wire.request import Message, Request, ToolChoice

WORK = {"tool": "$work", "mark": "w"}
REPLY = {"tool": "$return", "value": "R"}
ROOT = [{"calls": [WORK]}]
REPLIES = [*ROOT, {"calls": [REPLY]}]
SUCCESS = {"result": {"status": "success", "value": "R"}}
FAILED = {"result": {"status": "failed"}}
SCHEMA = {"type": "object", "required": ["n"]}


def replies_after(*turns, value="R", expect=None, given=None):
    """Script a root that works, goes through some turns, and replies."""
    script = {"root": [*ROOT, *turns, {"calls": [{"tool": "$return", "value": value}]}]}
    case = {"script": script, "expect": {"result": {"status": "success", "value": value}, **(expect or {})}}
    return case | ({"given": {"prompt": "Go.", **given}} if given else {})


def never_replies(*turns, **given):
    """Script a root that works and then has no whole reply."""
    return {"script": {"root": [*ROOT, *turns]}, "expect": FAILED, "given": {"prompt": "Go.", **given}}


def converses(*turns, says=1):
    """Script a conversation whose first line gets all turns but the last ones."""
    lines = [{"say": f"line {number}", "turns": 1} for number in range(1, says + 1)]
    return {"script": {"root": [*ROOT, *turns]}, "given": {"mode": "interactive", "conversation": lines}}


PROSE, EMPTY = {"text": "Prose."}, {}
ENDLESS_PROSE, ENDLESS_WORK = {"text": "Prose.", "repeat": "forever"}, {"calls": [WORK], "repeat": "forever"}
WRONG = {"calls": [{"tool": "$return", "arguments": {}}]}
UNOFFERED = {"calls": [{"tool": "$return", "value": "R", "unadvertised": True}]}
PLAIN, NUDGED = replies_after(), replies_after(PROSE)
NEVER = never_replies(ENDLESS_PROSE)
NO_REPLY_TOOL = ("touch", "agent")
FORCED, ANY = ToolChoice("tool", "reply"), ToolChoice("any")
BATCH = {"script": {"root": [*ROOT, {"calls": [{"tool": "$work", "mark": "a"}, REPLY]}]}, "expect": SUCCESS}
TWO = {"script": {"root": [*ROOT, {"calls": [REPLY, {"tool": "$return", "value": "S"}]}]}, "expect": SUCCESS}
UNLABELLED = {"script": {"root": [*ROOT, {"calls": [REPLY], "stop": "end"}]}, "expect": SUCCESS}
BESIDE = {"script": {"root": [*ROOT, {"calls": [{"tool": "$work", "arguments": {}}, REPLY]}]}, "expect": SUCCESS}
SIGNED_EMPTY = {
    "script": {"root": [*ROOT, {"text": "Done.", "calls": [{"tool": "$return", "value": ""}]}]},
    "expect": {"result": {"status": "success", "value": ""}},
}
THINKS = replies_after({"thinking": "THOUGHT"})
CUT = replies_after({"text": "HALF", "stop": "length"})
BROKEN = replies_after(
    {"calls": [{"tool": "$return", "value": "FRAGMENT", "truncate": 2}]}, expect={"stray": ["FRAGMENT"]}
)
NESTED = {"a": [1, True, None]}
CONFORMS = replies_after({"calls": [{"tool": "$return", "value": {"m": 1}}]}, value={"n": 1}, given={"schema": SCHEMA})
PARSED = replies_after({"calls": [{"tool": "$return", "value": '{"n": 1}'}]}, value={"n": 1}, given={"schema": SCHEMA})
TEXT = {
    "given": {"mode": "text", "prompt": "Go."},
    "script": {
        "root": [*ROOT, {"text": "Hello", "hold": {"after_deltas": 1, "until": {"printed": "He"}}}, {"calls": [REPLY]}]
    },
}
TWICE = converses(UNOFFERED, UNOFFERED, PROSE)

ROWS = [
    ("RET-101", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("RET-101", PLAIN, "fail", lambda s: s.root().root(tools=NO_REPLY_TOOL).success("R")),
    ("RET-101", PLAIN, "not-verified", lambda s: s.success("R")),
    ("RET-101", PLAIN, "not-verified", lambda s: s.root(2).lost("w").success("R")),
    ("RET-103", converses(PROSE), "pass", lambda s: s.root(2, tools=NO_REPLY_TOOL).end(exit_ok=True)),
    ("RET-103", converses(PROSE), "fail", lambda s: s.root(2).end(exit_ok=True)),
    ("RET-103", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-104", converses(UNOFFERED, PROSE), "pass", lambda s: s.root(2).root(error=True).end(exit_ok=True)),
    ("RET-104", converses(UNOFFERED, PROSE), "fail", lambda s: s.root(3).end(exit_ok=True)),
    ("RET-104", converses(UNOFFERED, PROSE), "fail", lambda s: s.root(2).end(exit_ok=True)),
    ("RET-104", converses(UNOFFERED, PROSE), "fail", lambda s: s.root(2).root(error=True).end(exit_code=1)),
    ("RET-104", TWICE, "pass", lambda s: s.root(2).root(error=True).root(error=True).end(exit_ok=True)),
    ("RET-104", TWICE, "fail", lambda s: s.root(2).root(error=True).root().end(exit_ok=True)),
    ("RET-104", converses(PROSE), "not-verified", lambda s: s.root(2).end(exit_ok=True)),
    ("RET-105", converses(PROSE, PROSE, says=2), "pass", lambda s: s.root(2).root(nudge="line 2").end(exit_ok=True)),
    ("RET-105", converses(PROSE, PROSE), "fail", lambda s: s.root(3).end(exit_ok=True)),
    ("RET-105", converses(PROSE, PROSE, says=2), "not-verified", lambda s: s.root(2).end(exit_ok=True)),
    ("RET-106", NUDGED, "pass", lambda s: s.root(3).success("R")),
    ("RET-106", NUDGED, "fail", lambda s: s.root(2).failure()),
    ("RET-106", NUDGED, "fail", lambda s: s.root(3, tools=NO_REPLY_TOOL).success("R")),
    ("RET-106", SIGNED_EMPTY, "not-verified", lambda s: s.root(2).root(kind="beyond", error=True).failure()),
    ("RET-106", converses(PROSE), "pass", lambda s: s.root(2, tools=NO_REPLY_TOOL).end(exit_ok=True)),
    ("RET-106", NUDGED, "not-verified", lambda s: s.root().failure()),
    ("RET-107", NUDGED, "pass", lambda s: s.root(3).success("R")),
    ("RET-107", NUDGED, "fail", lambda s: s.root(2).root(released=False).success("R")),
    ("RET-107", NUDGED, "fail", lambda s: s.root(2).end(ended="time-limit")),
    ("RET-107", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-201", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("RET-201", PLAIN, "fail", lambda s: s.root(2).root(kind="beyond").success("R")),
    ("RET-201", PLAIN, "not-verified", lambda s: s.root().failure()),
    ("RET-201", PLAIN, "not-verified", lambda s: s.root(2).root(kind="beyond", error=True).failure()),
    ("RET-202", BATCH, "pass", lambda s: s.root(2).success("R")),
    ("RET-202", BATCH, "fail", lambda s: s.root(2).lost("a").success("R")),
    ("RET-202", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-203", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("RET-203", NEVER, "pass", lambda s: s.root(5).failure()),
    ("RET-203", NEVER, "fail", lambda s: s.root(5).success("Prose.")),
    ("RET-203", PLAIN, "fail", lambda s: s.root(2).failure()),
    ("RET-203", PLAIN, "fail", lambda s: s.root(2).end(failed=True, exit_code=0, exit_ok=True)),
    ("RET-203", PLAIN, "not-verified", lambda s: s.root(2).end(ended="time-limit")),
    ("RET-204", NUDGED, "pass", lambda s: s.root(3).success("R")),
    ("RET-204", NUDGED, "fail", lambda s: s.root(2).root(choice=FORCED).success("R")),
    ("RET-204", NUDGED, "fail", lambda s: s.root(2).root(choice=ANY).success("R")),
    ("RET-204", NUDGED, "not-verified", lambda s: s.root(2).failure()),
    ("RET-204", NUDGED, "not-verified", lambda s: s.failure()),
    ("RET-205", TWO, "pass", lambda s: s.root(2).success("R")),
    ("RET-205", TWO, "fail", lambda s: s.root(2).success("S")),
    ("RET-205", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-206", UNLABELLED, "pass", lambda s: s.root(2).success("R")),
    ("RET-206", UNLABELLED, "fail", lambda s: s.root(2).failure()),
    ("RET-206", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-207", BESIDE, "pass", lambda s: s.root(2).success("R")),
    ("RET-207", BESIDE, "fail", lambda s: s.root(2).failure()),
    ("RET-207", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-301", NEVER, "pass", lambda s: s.root(5).failure()),
    ("RET-301", NEVER, "fail", lambda s: s.root(2).failure()),
    ("RET-301", NEVER, "fail", lambda s: s.root(4).failure()),
    ("RET-301", NUDGED, "fail", lambda s: s.root(2).root(nudge="").success("R")),
    ("RET-301", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-301", NEVER, "not-verified", lambda s: s.root(2).end(ended="time-limit")),
    ("RET-302", NEVER, "pass", lambda s: s.root(5).failure()),
    ("RET-302", NEVER, "fail", lambda s: s.root(6).failure()),
    ("RET-302", NEVER, "fail", lambda s: s.root(5).success("Prose.")),
    ("RET-302", NEVER, "fail", lambda s: s.root(3).root(kind="budget").failure()),
    ("RET-302", NEVER, "not-verified", lambda s: s.root(2).failure()),
    ("RET-303", NUDGED, "pass", lambda s: s.root(3).success("R")),
    ("RET-303", NUDGED, "fail", lambda s: s.root(3).failure()),
    ("RET-303", replies_after(PROSE, {"calls": [WORK]}), "fail", lambda s: s.root(3).failure()),
    ("RET-303", NUDGED, "not-verified", lambda s: s.root(2).failure()),
    ("RET-304", NEVER, "pass", lambda s: s.root(5).failure()),
    ("RET-304", NEVER, "fail", lambda s: s.root(5).failure("Prose.")),
    ("RET-304", NEVER, "fail", lambda s: s.root(5).success("")),
    ("RET-304", NEVER, "fail", lambda s: s.root(5).end(document={"result": ""}, value="", exit_code=1)),
    ("RET-304", NEVER, "not-verified", lambda s: s.root(5).end(exit_code=1, problem="no JSON")),
    ("RET-304", NEVER, "not-verified", lambda s: s.failure()),
    ("RET-305", never_replies(ENDLESS_WORK, max_turns=4), "pass", lambda s: s.root(4).failure()),
    ("RET-305", never_replies(ENDLESS_WORK, max_turns=4), "fail", lambda s: s.root(5).failure()),
    ("RET-305", never_replies(ENDLESS_WORK, max_turns=4), "fail", lambda s: s.root(4).success("")),
    ("RET-305", never_replies(ENDLESS_WORK, max_turns=4), "not-verified", lambda s: s.root(2).failure()),
    ("RET-306", replies_after({"calls": [WORK]}), "pass", lambda s: s.root(3).success("R")),
    ("RET-306", replies_after({"calls": [WORK]}), "fail", lambda s: s.root(3).success("")),
    ("RET-306", replies_after({"text": "x", "calls": [WORK]}), "not-verified", lambda s: s.root(3).success("R")),
    ("RET-307", NUDGED, "pass", lambda s: s.root(3).success("R")),
    ("RET-307", NUDGED, "fail", lambda s: s.root(3).success("Prose.")),
    ("RET-307", SIGNED_EMPTY, "pass", lambda s: s.root(2).success("")),
    ("RET-307", SIGNED_EMPTY, "fail", lambda s: s.root(2).success("Done.")),
    ("RET-307", SIGNED_EMPTY, "not-verified", lambda s: s.root(2).success(None)),
    ("RET-307", SIGNED_EMPTY, "not-verified", lambda s: s.root(2).root(kind="beyond", error=True).failure()),
    ("RET-307", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-308", replies_after(EMPTY), "pass", lambda s: s.root(3).success("R")),
    ("RET-308", replies_after(EMPTY), "fail", lambda s: s.root(2).success("")),
    ("RET-308", NUDGED, "not-verified", lambda s: s.root(3).success("R")),
    ("RET-309", CUT, "pass", lambda s: s.root(3).success("R")),
    ("RET-309", CUT, "pass", lambda s: s.root(2).failure()),
    ("RET-309", CUT, "fail", lambda s: s.root(2).success("HALF")),
    ("RET-309", CUT, "fail", lambda s: s.root(2).success("")),
    ("RET-309", NUDGED, "not-verified", lambda s: s.root(3).success("R")),
    ("RET-310", THINKS, "pass", lambda s: s.root(3).success("R")),
    ("RET-310", THINKS, "fail", lambda s: s.root(3).success("THOUGHT")),
    ("RET-310", THINKS, "fail", lambda s: s.root(2).success("THOUGHT")),
    ("RET-310", NUDGED, "not-verified", lambda s: s.root(3).success("R")),
    ("RET-311", never_replies(ENDLESS_PROSE, max_turns=3), "pass", lambda s: s.root(3).failure()),
    ("RET-311", never_replies(ENDLESS_PROSE, max_turns=3), "fail", lambda s: s.root(4).failure()),
    ("RET-311", replies_after(PROSE, given={"max_turns": 3}), "pass", lambda s: s.root(3).success("R")),
    ("RET-311", replies_after(PROSE, given={"max_turns": 3}), "fail", lambda s: s.root(3).failure()),
    ("RET-311", replies_after(PROSE, given={"max_turns": 9}), "not-verified", lambda s: s.root(3).success("R")),
    ("RET-401", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("RET-401", replies_after(value=" R "), "fail", lambda s: s.root(2).success("R")),
    ("RET-401", PLAIN, "not-verified", lambda s: s.root(2).failure()),
    ("RET-402", replies_after(value=NESTED), "pass", lambda s: s.root(2).success(NESTED)),
    ("RET-402", replies_after(value=NESTED), "fail", lambda s: s.root(2).success('{"a": [1, true, null]}')),
    ("RET-402", replies_after(value=NESTED), "fail", lambda s: s.root(2).success({"a": [1, 1, None]})),
    ("RET-402", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-403", replies_after(value=[1]), "pass", lambda s: s.root(2).success([1])),
    ("RET-403", replies_after(value=[1]), "fail", lambda s: s.root(2).success({"items": [1]})),
    ("RET-403", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-404", replies_after(value="[1]"), "pass", lambda s: s.root(2).success("[1]")),
    ("RET-404", replies_after(value="[1]"), "fail", lambda s: s.root(2).success([1])),
    ("RET-404", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-405", replies_after(value="a { b"), "pass", lambda s: s.root(2).success("a { b")),
    ("RET-405", replies_after(value="a { b"), "fail", lambda s: s.root(2).root(kind="beyond", error=True).failure()),
    ("RET-405", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-406", PLAIN, "fail", lambda s: s.root(2).end(exit_ok=True, problem="two documents")),
    ("RET-406", PLAIN, "fail", lambda s: s.root(2).success()),
    ("RET-406", PLAIN, "fail", lambda s: s.root(2).end(document={"result": "R"}, value="R", exit_ok=True)),
    ("RET-406", PLAIN, "not-verified", lambda s: s.success("R")),
    ("RET-407", replies_after(value="x" * 200_000), "pass", lambda s: s.root(2).success("x" * 200_000)),
    ("RET-407", replies_after(value="x" * 200_000), "fail", lambda s: s.root(2).success("x" * 65_536)),
    ("RET-407", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-408", replies_after(value={}), "pass", lambda s: s.root(2).success({})),
    ("RET-408", replies_after(value={}), "fail", lambda s: s.root(2).success(None)),
    ("RET-408", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-409", replies_after(value=[2**53 + 1]), "pass", lambda s: s.root(2).success([2**53 + 1])),
    ("RET-409", replies_after(value=[2**53 + 1]), "fail", lambda s: s.root(2).success([2**53])),
    ("RET-409", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-501", replies_after(WRONG), "pass", lambda s: s.root(2).root(error=True).success("R")),
    ("RET-501", replies_after(WRONG), "fail", lambda s: s.root(3).success("R")),
    ("RET-501", replies_after(WRONG), "fail", lambda s: s.root(2).success({})),
    ("RET-501", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-502", replies_after(WRONG), "pass", lambda s: s.root(2).root(error=True).success("R")),
    ("RET-502", never_replies(WRONG, ENDLESS_PROSE), "pass", lambda s: s.root(2).root(3, error=True).failure()),
    ("RET-502", never_replies(WRONG, ENDLESS_PROSE), "fail", lambda s: s.root(2).root(4, error=True).failure()),
    ("RET-502", never_replies(WRONG, ENDLESS_PROSE), "fail", lambda s: s.root(2).failure()),
    ("RET-502", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-503", CONFORMS, "pass", lambda s: s.root(2).root(error=True).success({"n": 1})),
    ("RET-503", CONFORMS, "fail", lambda s: s.root(2).success({"m": 1})),
    ("RET-503", CONFORMS, "fail", lambda s: s.root(2).root(error=True, results={0: " "}).success({"n": 1})),
    ("RET-503", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-504", PARSED, "pass", lambda s: s.root(2).root(error=True).success({"n": 1})),
    ("RET-504", PARSED, "fail", lambda s: s.root(2).success({"n": 1})),
    ("RET-504", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-505", PLAIN, "pass", lambda s: s.root(2).success("R")),
    ("RET-505", PLAIN, "fail", lambda s: s.root(2).root(kind="beyond", error=True).failure()),
    ("RET-505", CONFORMS, "not-verified", lambda s: s.root(3, error=True).success({"n": 1})),
    ("RET-506", BROKEN, "pass", lambda s: s.root(2).root(error=True).success("R")),
    ("RET-506", BROKEN, "pass", lambda s: s.root(2).failure()),
    ("RET-506", BROKEN, "fail", lambda s: s.root(2).success("FRAGMENT")),
    ("RET-506", BROKEN, "fail", lambda s: s.root(2).success({})),
    ("RET-506", PLAIN, "not-verified", lambda s: s.root(2).success("R")),
    ("RET-801", TEXT, "pass", lambda s: s.root(3).end(stdout="Hello\nR", exit_ok=True)),
    ("RET-801", TEXT, "fail", lambda s: s.root().root(released=False).root().end(stdout="Hello", exit_ok=True)),
    ("RET-801", TEXT, "fail", lambda s: s.root(3).end(stdout="hello\nR", exit_ok=True)),
    ("RET-801", TEXT, "not-verified", lambda s: s.root(1).end(stdout="Hello", exit_ok=True)),
]


@pytest.mark.parametrize(
    ("requirement", "case", "status", "play"), ROWS, ids=[f"{row[0]}-{row[2]}-{at}" for at, row in enumerate(ROWS)]
)
def test_the_check_bites_and_lets_pass(scene, found, requirement, case, status, play):
    """A run gets the finding that its evidence deserves: earned, refuted, or not to be told."""
    finding = found(requirement, play(scene(case)))
    assert finding.status == status, finding
    assert finding.why if status == "not-verified" else finding.expected and finding.observed


def test_a_document_without_the_usual_names_breaks_a_should(scene, found):
    """What only SHOULD stand in a result document is a finding below a MUST."""
    finding = found("RET-406", scene(PLAIN).root(2).success("R"))
    assert (finding.status, finding.level) == ("fail", "SHOULD")


def test_a_document_with_the_usual_names_passes(scene, found):
    """The usual names may stand in the document, or be mapped by the profile."""
    run = scene(PLAIN).root(2).success("R", fields=dict.fromkeys(("type", "subtype", "num_turns"), 1))
    whole = {"session_id": "s", "usage": {}, "duration_ms": 1, "result": "R", "is_error": False}
    run = scene(PLAIN).root(2).end(document=whole, value="R", failed=False, exit_ok=True, fields=run.delivery.fields)
    assert found("RET-406", run).status == "pass"


def test_a_nudge_that_does_not_name_the_tool_breaks_a_should(scene, found):
    """A nudge must come, and should say what to call."""
    finding = found("RET-301", scene(NUDGED).root(2).root(nudge="Go on.").success("R"))
    assert (finding.status, finding.level) == ("fail", "SHOULD")


@pytest.mark.parametrize(("pattern", "status"), [("", "not-verified"), ("^error:", "pass"), ("^oops", "fail")])
def test_chat_tells_a_tool_error_by_the_profiles_pattern(scene, found, full, pattern, status):
    """Where the wire format has no error flag, only a declared pattern makes a text an error."""
    opened = scene(replies_after(WRONG), wire="openai-chat", profile=replace(full, tool_error=pattern))
    assert found("RET-501", opened.root(2).root(error=True).success("R")).status == status


@pytest.mark.parametrize(
    ("pattern", "text", "status"),
    [("(?m)^Error:", "Seen.\nError: no", "pass"), ("(?m)^Error:", "Go on.", "fail"), ("", "Error: no", "fail")],
)
def test_a_runtime_may_tell_a_tool_error_in_plain_text(scene, found, full, pattern, text, status):
    """Where calls are answered by the user's messages, the declared pattern makes one of them a tool error."""
    opened = scene(replies_after(WRONG), wire="openai-chat", profile=replace(full, tool_error=pattern))
    run = opened.root(3).success("R")
    exchanges = run.observation.exchanges
    said = (*exchanges[-1].request.messages[:-1], Message("user", (text,)))
    last = replace(exchanges[-1], request=replace(exchanges[-1].request, messages=said))
    plain = replace(run, observation=replace(run.observation, exchanges=(*exchanges[:-1], last)))
    assert found("RET-501", plain).status == status


def test_a_call_that_is_taken_back_has_no_result(scene, found, full):
    """Where a runtime drops the message of a bad call, the result of the call before it is not that one's."""
    opened = scene(replies_after(WRONG), wire="openai-chat", profile=replace(full, tool_error="^Error:"))
    run = opened.root(3).success("R")
    *before, last = run.observation.exchanges
    said = (*last.request.messages[:-2], Message("user", ("Error: no value",)))
    last = replace(last, request=replace(last.request, messages=said))
    assert [result.text for message in said for result in message.results] != []
    taken_back = replace(run, observation=replace(run.observation, exchanges=(*before, last)))
    assert found("RET-501", taken_back).status == "pass"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("Go.",), ("Go.", "Reply."), ("Reply.",)),
        (("Go.", "Reply."), ("Go.", "Reply.", "Reply."), ("Reply.",)),
        (("Go.\nError: a",), ("Go.\nError: a\nError: b",), ("\nError: b",)),
        (("Go.",), ("Go.",), ()),
    ],
)
def test_what_is_told_is_what_was_added(before, after, told):
    """A new message counts whole, a message that grew by what was added to it, and what was said before not at all."""
    said = [tuple(Message("user", (text,)) for text in texts) for texts in (before, after)]
    requests = [Request("w", "m", "", messages, (), ToolChoice(), stream=False, body={}) for messages in said]
    assert told_by_user(*requests) == told


@pytest.mark.parametrize("kind", ["withheld", "ambiguous", "unexpected", "budget"])
def test_nothing_passes_in_a_run_with_refused_requests(scene, found, kind):
    """A refused request says that the runtime left the script, so that no pass is earned."""
    run = scene(NUDGED).root(3).root(kind=kind).success("R")
    assert {found(f"RET-{number}", run).status for number in (101, 106, 107, 203, 204, 301, 401, 406)} <= {
        "not-verified",
        "fail",
    }
