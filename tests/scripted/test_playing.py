"""A script is played before anything is asked: what can't be played, and what stands before it is."""

from __future__ import annotations

import os
from typing import Any

import pytest

from pytest_agentcontract.scenario.case import Hold, ScriptedTurn, When
from pytest_agentcontract.scripted import ScriptError, call, delivered, gate, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider, environment

TWO: dict[str, Any] = {"root": [turn("a")], "helper": [turn("b")]}


@pytest.mark.parametrize(
    ("turns", "options", "complaint"),
    [
        ((), {}, "a script has at least one turn"),
        ((turn("a"),), {"root": [turn("b")]}, "turns stand both alone and under an agent's name"),
        ((turn("a", repeat="forever"), turn("b")), {}, "/agents/root/0/repeat: only the last turn can be repeated"),
        (("a",), {}, "/agents/root/0: 'a' is no turn"),
        ((turn(call("$work")),), {}, "/agents/root/0/calls/0/tool: '$work' is for cases"),
        ((ScriptedTurn("a", when=When("sees", "x")),), {}, "/agents/root/0/when: waiting by polls is for cases"),
        ((turn("a", hold=Hold(0, "end")),), {}, "/agents/root/0/hold/until: `end` is for cases"),
        ((turn("a", hold=delivered("helper", 1)),), {}, "/agents/root/0/hold/until: 'helper' has no turn 1"),
        ((turn("a", hold=delivered("root", 1)),), {}, "a turn that waits for itself never goes on"),
        ((), TWO, "/attribution: several agents are told apart by one of 'model', 'header', 'system', 'token'"),
        ((), {**TWO, "by": "model", "marks": {"helpr": "x"}}, "/attribution/marks/helpr: no agent is called 'helpr'"),
        ((), {**TWO, "by": "model", "marks": {"helper": "root"}}, "'root' marks several agents"),
        (
            (),
            {**TWO, "by": "header", "marks": {"helper": "x"}},
            "/attribution/marks/helper: a header's mark is a whole",
        ),
    ],
)
def test_what_cannot_be_played_is_refused(
    scripted_provider: ScriptedProvider, turns: Any, options: Any, complaint: str
) -> None:
    """One clear error, with the place in the script."""
    with pytest.raises(ScriptError) as caught:
        scripted_provider.play(*turns, **options)
    assert complaint in str(caught.value)


def test_one_provider_plays_one_script(scripted_provider: ScriptedProvider) -> None:
    """A second one would leave the first half played."""
    scripted_provider.play(turn("a", repeat="forever"))
    with pytest.raises(ScriptError, match="a script is played already"):
        scripted_provider.play(turn("b"))


def test_only_gates_of_the_script_can_be_released(scripted_provider: ScriptedProvider) -> None:
    """A misspelt name would leave the gate shut."""
    with pytest.raises(ScriptError, match="the script has no gate 'go'\n  Its gates: none"):
        scripted_provider.release("go")
    scripted_provider.play(turn("a", hold=gate("go"), repeat="forever"))
    with pytest.raises(ScriptError, match="the script has no gate 'og'\n  Its gates: 'go'"):
        scripted_provider.release("og")


def test_the_environment_points_every_client_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Base URLs as each SDK wants them, keys that open nothing, and no proxy on the way; what is set there stays."""
    monkeypatch.setenv("NO_PROXY", "intra.net")
    assert environment("http://127.0.0.1:1/x") == {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/x",
        "ANTHROPIC_API_KEY": "scripted",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/x/v1",
        "OPENAI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1/x",
        "GEMINI_API_KEY": "scripted",
        "NO_PROXY": "intra.net,127.0.0.1",
        "no_proxy": "intra.net,127.0.0.1",
    }
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delitem(os.environ, name, raising=False)
    assert environment("u")["NO_PROXY"] == "127.0.0.1"


def test_the_url_stands_before_the_script_is_played(scripted_provider: ScriptedProvider) -> None:
    """Clients are often made first."""
    url = scripted_provider.url
    scripted_provider.play(turn("a", repeat="forever"))
    assert scripted_provider.url == url
    assert scripted_provider.openai_url == f"{url}/v1"
