"""A headless root: it returns by a reply, is nudged without one, and fails honestly."""

from __future__ import annotations

import json

import pytest

WORK = ("touch", {"path": "mark"})


def test_a_reply_is_the_result_and_the_end(bench, model):
    """Tools are carried out, the reply's payload is the result, and nothing is asked after it."""
    model.say("Looking.", calls=[WORK])
    model.reply("three\n{defects")
    result = bench.run()
    assert (result.document["result"], result.document["is_error"], result.exit_code) == ("three\n{defects", False, 0)
    assert (bench.workdir / "mark").exists()
    assert len(model.requests) == 2


def test_the_document_has_the_mirrored_names(bench, model):
    """The names are those that callers of such runtimes know."""
    model.reply({"a": [1]})
    document = bench.run().document
    assert list(document) == [
        "type", "subtype", "is_error", "result", "num_turns", "session_id", "usage", "duration_ms"
    ]  # fmt: skip
    assert document["usage"] == {"input_tokens": 10, "output_tokens": 5}
    assert document["result"] == {"a": [1]}


def test_reply_is_offered_in_every_request_and_never_forced(bench, model):
    """Also after a nudge the model is free."""
    model.say("Done.")
    model.say("Really.")
    model.reply("x")
    bench.run()
    assert all("reply" in model.wire.tools(body) for body in model.requests)
    assert not any("tool_choice" in body for body in model.requests)


def test_a_finish_in_prose_is_nudged_with_a_message_that_names_the_tool(bench, model):
    """The nudge is the last thing that the model reads."""
    model.say("Done.")
    model.reply("x")
    assert bench.run().document["result"] == "x"
    assert "`reply`" in model.wire.texts(model.requests[1])[-1]


@pytest.mark.parametrize("text", ["Done.", "", " \n"])
def test_four_finishes_without_a_reply_fail_the_run_with_an_empty_result(bench, model, text):
    """Nothing of the prose gets into the result, and the exit code says so."""
    for _ in range(4):
        model.say(text)
    result = bench.run()
    assert (result.document["result"], result.document["subtype"]) == ("", "error_no_reply")
    assert (result.document["is_error"], result.document["reason"], result.exit_code) == (True, "no_reply", 1)
    assert len(model.requests) == 4


def test_the_batch_lands_before_the_reply_ends_the_run(bench, model):
    """Calls before and after the reply are carried out, and a failing one voids nothing."""
    model.say(calls=[("touch", {"path": "a"}), ("touch", {}), ("reply", {"value": "x"}), ("touch", {"path": "b"})])
    assert bench.run().document["result"] == "x"
    assert {path.name for path in bench.workdir.iterdir()} == {"a", "b"}


def test_the_first_of_two_replies_is_the_result(bench, model):
    """A rejected one beside them counts for nothing."""
    model.say(calls=[("reply", {}), ("reply", {"value": "first"}), ("reply", {"value": "second"})])
    assert bench.run().document["result"] == "first"


@pytest.mark.parametrize("stop", ["end_turn", "stop", "max_tokens", "something_new"])
def test_a_complete_reply_counts_whatever_its_label(bench, model, stop):
    """The reply is the call."""
    model.say(calls=[("reply", {"value": "x"})], stop=stop)
    assert bench.run().document["result"] == "x"


def test_thinking_is_no_reply_and_is_not_sent_back(bench, model):
    """A message that only thinks is nudged like an empty one."""
    model.say(thinking="THOUGHT")
    model.reply("x", thinking="THOUGHT")
    assert bench.run().document["result"] == "x"
    assert "THOUGHT" not in json.dumps(model.requests)


def test_the_step_cap_ends_endless_work(bench, model):
    """`max_turns` is the number of requests."""
    for _ in range(3):
        model.say("More.", calls=[WORK])
    document = bench.run(max_turns=3).document
    assert (document["result"], document["subtype"], document["num_turns"]) == ("", "error_max_turns", 3)


@pytest.mark.parametrize("arguments", [{}, {"result": "x"}, {"value": 4}, {"value": None}])
def test_a_wrong_call_shape_is_rejected_with_a_tool_error(bench, model, arguments):
    """The tool error is the nudge: no other message follows it."""
    model.say(calls=[("reply", arguments)])
    model.reply("x")
    assert bench.run().document["result"] == "x"
    assert model.wire.texts(model.requests[1])[-1].startswith("error (invalid_input): ")


def test_rejections_and_prose_share_the_budget(bench, model):
    """Four together fail the run, for the reason of the last."""
    model.say("Done.")
    model.say(calls=[("reply", {})])
    model.say("Done.")
    model.say(calls=[("reply", {})])
    assert bench.run().document["subtype"] == "error_reply_rejected"


@pytest.mark.parametrize("raw", ['{"value": "FRAG', "[1]", '{"value": 1e999}', '{"value": "a", "value": "b"}'])
def test_broken_arguments_reach_no_tool_and_are_never_replayed(bench, model, raw):
    """The model is told, the history holds valid JSON, and the fragment is no result."""
    model.say(calls=[("touch", raw), ("reply", raw)])
    model.reply("x")
    assert bench.run().document["result"] == "x"
    told = [text for text in model.wire.texts(model.requests[1]) if text.startswith("error (invalid_input): ")]
    assert len(told) == 2
    assert "FRAG" not in json.dumps(model.requests[1])


def test_a_lone_surrogate_arrives_and_travels_back(bench, model):
    """What can't be encoded as UTF-8 is still a JSON value."""
    model.say("\ud800", calls=[WORK])
    model.reply("\ud800")
    assert bench.run().document["result"] == "\ud800"
    assert "\ud800" in model.wire.texts(model.requests[1])


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize("value", [{"n": "3"}, "text", '{"n": 3}', []])
def test_a_payload_that_does_not_conform_is_rejected(bench, model, value):
    """The reason reaches the model; a string is never parsed to fit; a conforming payload then succeeds."""
    model.reply(value)
    model.reply({"n": 3})
    assert bench.run(schema=SCHEMA).document["result"] == {"n": 3}
    assert "does not conform" in model.wire.texts(model.requests[1])[-1]
    assert model.wire.tools(model.requests[0])["reply"]["properties"]["value"] == SCHEMA


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("bash", {}, "error (unknown_tool): "),
        ("touch", {"path": "../outside"}, "error (not_allowed): "),
        ("read", {"path": "absent"}, "error (failed): "),
        ("touch", {"path": ""}, "error (invalid_input): "),
        ("agent", {"prompt": 4}, "error (invalid_input): "),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_a_tool_error(bench, model, name, arguments, told):
    """The model is told which kind of error it is, and the run goes on."""
    model.say(calls=[(name, arguments)])
    model.reply("x")
    assert bench.run().document["result"] == "x"
    assert model.wire.texts(model.requests[1])[-1].startswith(told)


def test_read_gives_the_text_of_a_file(bench, model):
    """The tool result is the file's text."""
    (bench.workdir / "notes").write_text("three\ndefects")
    model.say(calls=[("read", {"path": "notes"})])
    model.reply("x")
    bench.run()
    assert model.wire.texts(model.requests[1])[-1] == "three\ndefects"
