"""Sub-agents: what they return reaches their parent by its inbox, and they end with it."""

from __future__ import annotations

import pytest

SPAWN = ("agent", {"prompt": "child", "name": "lexer"})
TOUCH = ("touch", {"path": "mark"})


def heard(model) -> list[str]:
    """Return what the root was told in its last request."""
    return model.wire.texts(model.of("root")[-1])


@pytest.fixture
def delivered(bench, model):
    """Run a root that spawns a child, works until the delivery is in, and replies."""

    def run() -> list[str]:
        model.say(calls=[SPAWN])
        model.hear(1)
        model.reply("x")
        document = bench.run().document
        assert document["result"] == "x"
        return heard(model)

    return run


def test_a_string_stands_raw_under_the_childs_name(delivered, model):
    """With real newlines, in one block."""
    model.reply('# Lexer\n\n- {"a": 1', to="child")
    assert '↘ lexer\n# Lexer\n\n- {"a": 1' in delivered()


def test_a_structure_stands_as_indented_json(delivered, model):
    """On several lines."""
    model.reply({"a": [1]}, to="child")
    assert '↘ lexer\n{\n  "a": [\n    1\n  ]\n}' in delivered()


def test_a_child_that_never_replies_is_nudged_and_then_failed(delivered, model):
    """Its parent sees a failure tag, none of its prose, and goes on."""
    for _ in range(4):
        model.say("STRAY", to="child")
    told = delivered()
    assert "✗ lexer failed: no_reply" in told
    assert "STRAY" not in str(told)
    assert len(model.of("child")) == 4


def test_a_child_that_meets_a_lasting_fault_has_failed(delivered, model):
    """The tag says why."""
    model.status(400, to="child")
    assert "✗ lexer failed: provider_error" in delivered()


def test_every_child_is_offered_the_reply(delivered, model):
    """Like every agent that returns."""
    model.say("Looked.", to="child")
    model.reply("x", to="child")
    delivered()
    assert all("reply" in model.wire.tools(body) for body in model.of("child"))


def test_a_reply_cancels_live_children_and_counts_what_they_had_reported(bench, model):
    """The run ends at once, and the cancelled stream's figures are in its usage where the wire had sent any."""
    model.say("Still at it.", to="child", cut="hold")
    model.say(calls=[SPAWN])
    model.say(calls=[TOUCH], cut="after-child")
    model.say(calls=[TOUCH])
    model.reply("x")
    document = bench.run().document
    assert document["duration_ms"] < 4000
    partial = 10 if model.wire.name == "messages" else 0
    assert document["usage"] == {"input_tokens": 40 + partial, "output_tokens": 20}


def test_a_headless_root_does_not_wait_for_its_child(bench, model):
    """Prose is nudged at once, and a failed root cancels too."""
    model.say("Still at it.", to="child", cut="hold")
    model.say(calls=[SPAWN])
    for _ in range(4):
        model.say("Launched.")
    assert bench.run().document["reason"] == "no_reply"


def test_children_of_one_name_are_told_apart(bench, model):
    """The second gets a name of its own."""
    model.say(calls=[SPAWN, ("agent", {"prompt": "second", "name": "lexer"})])
    model.reply("one", to="child")
    model.reply("two", to="second")
    model.hear(2)
    model.reply("x")
    bench.run()
    assert {"↘ lexer\none", "↘ lexer-2\ntwo"} <= set(heard(model))


def test_a_child_spawned_beside_the_reply_never_asks(bench, model):
    """The batch lands, and the run is over."""
    model.say(calls=[SPAWN, ("reply", {"value": "x"})])
    assert bench.run().document["result"] == "x"
    assert len(model.requests) == 1
