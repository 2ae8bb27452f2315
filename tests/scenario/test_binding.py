"""How a case's words become one run's."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.scenario.binding import Nonces, Places, bind, bind_turn, fill, token, tool_name
from pytest_agentcontract.scenario.case import (
    Case,
    Expect,
    ExpectedResult,
    Given,
    Hold,
    Say,
    ScriptedCall,
    ScriptedTurn,
)
from pytest_agentcontract.scenario.profile import Binding, Profile, ResultRule
from pytest_agentcontract.wire.turn import Call, Turn, Usage

PLACES = Places(Nonces("7f", "a9"), Path("runs"), {"child": "Report. [[child-7f]]"})
PROFILE = Profile(
    name="bound",
    driver="command",
    wires={},
    result=ResultRule(),
    capabilities=frozenset(),
    tools={
        "return": Binding("submit", {"kind": "final", "body": {"format": "any"}}, payload="/body/answer"),
        "work": Binding("shell", {"argv": ["touch", "{mark}"], "note": "{unknown} {nonce}"}),
        "spawn": Binding("task", {"prompt": "{child_prompt}"}),
    },
)


def bound(call: ScriptedCall, profile: Profile = PROFILE) -> Call:
    """Bind a turn that consists of one call."""
    return bind_turn(ScriptedTurn(calls=(call,)), profile, PLACES, "root_1").calls[0]


def test_fill_replaces_in_one_pass_and_leaves_other_braces_alone() -> None:
    """What is put in is not looked at again, and JSON, code and unknown names keep their braces."""
    assert fill('{a} {b} {"a": {c}} {', {"a": "{b}", "b": "2"}) == '{b} 2 {"a": {c}} {'


def test_bind_keeps_the_secret_out_of_what_is_given() -> None:
    """What is given holds the public value, what is said and expected the secret; no `{nonce}` stays behind."""
    case = Case(
        id="return/{nonce}",
        title="t",
        why="w",
        covers=(),
        given=Given("interactive", "p {nonce}", {"const": "{nonce}"}, 3, (Say("l {nonce}", 2),)),
        script={
            "root": (ScriptedTurn(calls=(ScriptedCall("$return", value={"k-{nonce}": ["{nonce}", 1, None]}),)),),
            "child": (ScriptedTurn(text="{x} {nonce}", hold=Hold(1, "printed", "{nonce}"), usage=Usage(1, 2)),),
        },
        expect=Expect(ExpectedResult("success", "{nonce}"), work=("{nonce}",)),
    )
    fresh = bind(case, Nonces("7f", "a9"))
    assert "{nonce}" not in repr((fresh.given, fresh.script, fresh.expect))
    assert fresh.script["root"][0].calls[0].value == {"k-a9": ["a9", 1, None]}
    assert fresh.script["child"][0] == ScriptedTurn(text="{x} a9", hold=Hold(1, "printed", "a9"), usage=Usage(1, 2))
    assert fresh.given == Given("interactive", "p 7f", {"const": "7f"}, 3, (Say("l 7f", 2),))
    assert fresh.expect == Expect(ExpectedResult("success", "a9"), work=("a9",))
    assert fresh.id == case.id


@pytest.mark.parametrize("value", ["text", "", {}, [], {"a": {"b": 1}}, [1, {"x": None}]])
def test_return_places_the_payload_among_the_bindings_arguments(value: JSON) -> None:
    """The value stands where the profile says, whatever it is, beside the binding's own arguments."""
    call = bound(ScriptedCall("$return", value=value))
    assert call.name == "submit"
    assert call.arguments == {"kind": "final", "body": {"format": "any", "answer": value}}


def test_return_with_an_empty_pointer_is_the_whole_arguments() -> None:
    """A tool that takes the value itself gets nothing but the value."""
    whole = Profile("w", "command", {}, ResultRule(), frozenset(), tools={"return": Binding("Output")})
    assert bound(ScriptedCall("$return", value={"a": 1}), whole).arguments == {"a": 1}


SPELT = Binding("sh", {"argv": ["say {payload}", "printf %s {payload_in_shell}"]})
SPELLING = replace(PROFILE, tools={"return": SPELT})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", ""),
        ("it's $HOME, `id` \\ and\n\n{payload}\n", "it's $HOME, `id` \\ and\n\n{payload}\n"),
        ("-n", "-n"),
        ('{"a": 1}', '{"a": 1}'),
        ({"a": [1, None]}, dumps({"a": [1, None]})),
        ([], "[]"),
    ],
)
def test_return_spells_the_payload_in_a_text(value: JSON, text: str) -> None:
    """A string stands there as it is, a structure as JSON, and a shell reads the same from its one word."""
    spoken, command = bound(ScriptedCall("$return", value=value), SPELLING).arguments["argv"]
    assert spoken == f"say {text}"
    assert subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True).stdout.decode() == text


@pytest.mark.parametrize("value", [True, 5, None])
def test_what_has_no_text_of_its_own_is_not_spelt(value: JSON) -> None:
    """Spelt out it would be a string, and no wrong call shape any more."""
    assert bound(ScriptedCall("$return", value=value), SPELLING).arguments == {}


def test_return_without_a_value_is_a_wrong_call_shape() -> None:
    """Nothing is added to it: the binding's arguments belong to a right one."""
    assert bound(ScriptedCall("$return")).arguments == {}
    assert bound(ScriptedCall("$return", arguments={"wrong": 1})).arguments == {"wrong": 1}


def test_work_leaves_the_mark_of_its_label() -> None:
    """The mark's path carries label and nonce; placeholders that a call does not know stay as they are."""
    call = bound(ScriptedCall("$work", mark="first"))
    assert call == Call("shell", {"argv": ["touch", "runs/mark-first-a9"], "note": "{unknown} 7f"}, id="toolu_root_1_1")
    assert PLACES.mark("first") == Path("runs/mark-first-a9")


def test_spawn_hands_over_the_childs_prompt() -> None:
    """The prompt that the child starts with carries its token."""
    assert bound(ScriptedCall("$spawn", agent="child")).arguments == {"prompt": f"Report. {token('child', '7f')}"}


def test_a_literal_tool_is_called_as_written() -> None:
    """Its name and arguments come from the case alone."""
    assert bound(ScriptedCall("reply", arguments={"value": "{mark}"})).arguments == {"value": "{mark}"}
    assert bound(ScriptedCall("return")).name == "return"


def test_a_part_that_the_profile_does_not_bind_stands_for_itself() -> None:
    """Nobody advertises such a tool, so the turn is withheld and named."""
    empty = Profile("e", "command", {}, ResultRule(), frozenset())
    assert tool_name(ScriptedCall("$work"), empty) == "$work"


def test_broken_arguments_go_beside_the_right_ones() -> None:
    """Raw arguments are kept as written, and cut ones are cut from the end of the bound arguments' text."""
    raw = bound(ScriptedCall("$return", value="v", raw_arguments='{"body'))
    assert (raw.arguments, raw.raw_arguments) == ({"kind": "final", "body": {"format": "any", "answer": "v"}}, '{"body')
    cut = bound(ScriptedCall("$spawn", agent="child", truncate=2))
    assert cut.raw_arguments == '{"prompt": "Report. [[child-7f]]'


def test_a_bound_turn_keeps_what_needs_no_binding() -> None:
    """Text, thinking, label and usage pass through; call ids are counted and fit every provider's rules."""
    calls = (ScriptedCall("a"), ScriptedCall("b"))
    turn = bind_turn(ScriptedTurn("t", "h", calls, "end", Usage(1, 2)), PROFILE, PLACES, "child-2_4")
    assert turn == Turn("t", "h", turn.calls, "end", Usage(1, 2))
    assert [call.id for call in turn.calls] == ["toolu_child-2_4_1", "toolu_child-2_4_2"]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", call.id) for call in turn.calls)
    assert [call.arguments for call in turn.calls] == [{}, {}]
