"""Text output and conversations: tokens as they come, parking, and a reply that is nobody's to call."""

from __future__ import annotations

import threading

from pytest_agentcontract.reference import cli


def test_text_mode_prints_every_token_and_then_the_payload(bench, model):
    """Each message ends its line; the payload follows as text; there is no document."""
    model.say("Looking.", calls=[("touch", {"path": "a"})])
    model.say("Found\nsome.")
    model.reply({"n": 3}, text="Done.")
    result = bench.run(mode="text")
    assert "".join(bench.printed) == 'Looking.\nFound\nsome.\nDone.\n{\n  "n": 3\n}\n'
    assert (bool(result.document), result.exit_code) == (False, 0)


def test_text_mode_prints_while_the_model_is_still_speaking(bench, model):
    """The first half is out before the stream has ended."""
    model.say("First half", cut="hold")
    seen = threading.Event()
    start = bench.start(mode="text")
    object.__setattr__(start, "write", lambda text: seen.set() if "First half" in text else None)
    thread = threading.Thread(target=bench_run, args=(start,), daemon=True)
    thread.start()
    assert seen.wait(5)


def bench_run(start):
    """Run in a thread that is left behind at its held stream."""
    cli.run(start)


def test_text_mode_fails_with_an_exit_code(bench, model):
    """What was streamed stays; nothing is added."""
    for _ in range(4):
        model.say("Hm.")
    assert bench.run(mode="text").exit_code == 1
    assert "".join(bench.printed) == "Hm.\n" * 4


def test_an_interactive_root_parks_in_prose_and_is_offered_no_reply(bench, model):
    """Each line is answered once, nobody is nudged, and the end of input ends the session."""
    model.say("Hello.")
    model.say("Bye.")
    result = bench.run(mode="interactive", prompt="", lines=["root, hi", "bye"])
    assert ("".join(bench.printed), result.exit_code) == ("Hello.\nBye.\n", 0)
    assert len(model.requests) == 2
    assert not any("reply" in model.wire.tools(body) for body in model.requests)


def test_a_reply_that_was_not_offered_is_a_tool_error(bench, model):
    """The session goes on."""
    model.reply("x")
    model.say("So be it.")
    model.say("Still here.")
    result = bench.run(mode="interactive", prompt="", lines=["root", "there?"])
    assert model.wire.texts(model.requests[1])[-1].startswith("error (unknown_tool): ")
    assert ("".join(bench.printed), result.exit_code) == ("So be it.\nStill here.\n", 0)


def test_a_fault_or_the_step_cap_parks_a_conversation(bench, model):
    """The user is told, and may say something else."""
    model.status(400)
    model.say(calls=[("touch", {"path": "a"})])
    model.say("Fine.")
    bench.run(mode="interactive", prompt="", max_turns=1, lines=["root", "again", "well?"])
    assert "".join(bench.printed) == "[provider_error]\n[step_cap]\nFine.\n"


def test_a_child_of_a_conversation_returns_by_a_reply(bench, model):
    """Its result is there when the root is asked next."""
    model.say(calls=[("agent", {"prompt": "child"})])
    model.hear(1)
    model.say("Done.")
    model.say("Looked.", to="child")
    model.reply("lexed", to="child")
    bench.run(mode="interactive", prompt="", lines=["root"])
    assert "↘ agent\nlexed" in model.wire.texts(model.of("root")[-1])
    assert all("reply" in model.wire.tools(body) for body in model.of("child"))
