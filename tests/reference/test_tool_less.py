"""The variant without a return tool: the answer is the last message, whole and as it stands."""

from __future__ import annotations

import pytest

SCHEMA = {"type": "object", "required": ["n"]}
WORK = ("touch", {"path": "mark"})


@pytest.fixture
def run(bench):
    """Run the variant and return its document."""
    return lambda **options: bench.run(variant="tool-less", **options).document


def test_the_last_message_is_the_result_character_for_character(run, model):
    """Nothing is offered to return with, and nothing is trimmed or parsed."""
    model.say(calls=[WORK])
    model.say('\n {"a": 1} \n')
    assert run()["result"] == '\n {"a": 1} \n'
    assert "reply" not in model.wire.tools(model.requests[0])


def test_an_empty_last_message_is_nudged_and_then_failed(run, model):
    """Also after one with text beside a call: it is not scraped."""
    model.say("SUBSTANCE", calls=[WORK])
    for _ in range(4):
        model.say("")
    assert (run()["result"], len(model.requests)) == ("", 5)


def test_a_sign_off_after_words_beside_work_is_asked_about_once(run, model):
    """The whole answer comes in one message, and the second time any is taken."""
    model.say("The report.", calls=[WORK])
    model.say("Done.")
    model.say("The report, whole.")
    assert run()["result"] == "The report, whole."


@pytest.mark.parametrize("stop", ["length", "refusal"])
def test_a_message_cut_or_refused_is_no_answer(run, model, stop):
    """It is nudged like an empty one."""
    label = {"messages": {"length": "max_tokens"}, "chat": {"refusal": "content_filter"}}[model.wire.name]
    model.say("Half an ans", stop=label.get(stop, stop))
    model.say("An answer.")
    assert run()["result"] == "An answer."


def test_a_requested_structure_arrives_as_a_value(run, model):
    """Prose and what does not conform are sent back."""
    model.say("Three.")
    model.say("{}")
    model.say('{"n": 3}')
    assert run(schema=SCHEMA)["result"] == {"n": 3}


def test_a_structure_that_never_comes_fails_the_run(run, model):
    """The prose is not the result."""
    for _ in range(4):
        model.say("Three.")
    document = run(schema=SCHEMA)
    assert (document["is_error"], document["result"]) == (True, "")


def test_a_childs_answer_is_its_last_message(run, model):
    """One without an answer has failed."""
    model.say(calls=[("agent", {"prompt": "child"}), ("agent", {"prompt": "second"})])
    model.hear(2)
    model.say("Done.")
    model.say("Lexed.", to="child")
    for _ in range(4):
        model.say("", to="second")
    run()
    told = model.wire.texts(model.of("root")[-1])
    assert {"↘ agent\nLexed.", "✗ agent-2 failed: no_reply"} <= set(told)
