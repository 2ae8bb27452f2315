"""Script files: JSON and strict YAML, every fault with its place, and what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_agentcontract.errors import ScriptError
from pytest_agentcontract.scenario.profile import SideCall
from pytest_agentcontract.scripted import call, cut, delivered, gate, load, strict_yaml, turn

YAML = """
# Two agents, told apart by the model they ask for.
agents:
  root:
    - text: Let me see.
      calls: [{tool: search, arguments: {q: "yes", deep: true, most: 3, from: 2026-01-01}}]
    - text: |-
        Two lines,
        and a gate.
      hold: {after_deltas: 1, until: {released: go}}
    - text: never alone
      fault: {cut_after_deltas: 2, with: rst}
      final: true
  helper:
    - {text: 'null', repeat: forever}
attribution: {by: model, marks: {root: gpt-5}}
side_calls:
  - {answer: A title, tools: none}
"""


def _written(folder: Path, content: str | dict[str, Any], name: str = "script.yaml") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_script_in_yaml(tmp_path: Path) -> None:
    """What is no JSON number and none of three words is a text: dates, yes and no are nothing special."""
    book = load.load(_written(tmp_path, YAML))
    assert book.agents["root"] == (
        turn("Let me see.", call("search", {"q": "yes", "deep": True, "most": 3, "from": "2026-01-01"})),
        turn("Two lines,\nand a gate.", hold=gate("go", 1)),
        turn("never alone", fault=cut(2, "rst"), final=True),
    )
    assert book.agents["helper"] == (turn("null", repeat="forever"),)
    assert (book.by, book.signs) == ("model", {"root": "gpt-5", "helper": "helper"})
    assert book.side_calls == (SideCall("A title", "none"),)


def test_the_same_in_json_and_the_short_form(tmp_path: Path) -> None:
    """One agent needs no name; what begins as JSON is read as JSON, whatever the file is called."""
    book = load.load(_written(tmp_path, {"turns": [{"text": "one"}, {}]}))
    assert (book.agents, book.by) == ({"root": (turn("one"), turn())}, "sole")
    waiting = {"after_deltas": 0, "until": {"delivered": "a", "turn": 1}}
    two = {"agents": {"a": [{}], "b": [{"hold": waiting}]}, "attribution": "token"}
    book = load.load(_written(tmp_path, two, "script.json"))
    assert (book.agents["b"], book.signs) == ((turn(hold=delivered("a", 1)),), {"a": "[[a]]", "b": "[[b]]"})


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("", 1, "nothing stands here"),
        ("turns: []\nturns: []", 2, "the key 'turns' stands twice in one mapping"),
        ("turns:\n  - &a {text: x}\n  - *a", 2, "the anchor &a has no use"),
        ("turns:\n  - *a", 2, "the alias *a stands for something elsewhere"),
        ("turns:\n\n  - !!python/object:os.system {}", 3, "the tag tag:yaml.org,2002:python/object:os.system has no"),
        ("turns:\n  - text: !!str 1", 2, "the tag tag:yaml.org,2002:str has no meaning"),
        ("turns:\n  - 1: x", 2, "the key 1 is no text: quote it"),
        ("turns:\n  - text:\n    deltas: 1", 2, "a value is missing"),
        ("turns: []\n---\nturns: []", 2, "a second document begins here"),
        ("turns:\n  - [", 2, "expected the node content"),
        ("turns:\n  - 1e999", 2, "beyond any number"),
        ("turns:\n\t- x", 2, "found character '\\t'"),
        ("a: \x07", 1, "special characters are not allowed"),
        ("[" * 1_000 + "]" * 1_000, 1, "nested too deeply"),
    ],
)
def test_yaml_that_is_no_json_is_refused_with_its_line(text: str, line: int, complaint: str) -> None:
    """Nothing means more than it shows."""
    with pytest.raises(strict_yaml.YAMLError) as caught:
        strict_yaml.loads(text)
    assert complaint in caught.value.what
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("document", "faults"),
    [
        ([], ["[] is not of type 'object'"]),
        ({}, ["'agents' is a required property"]),
        ({"turns": [], "agents": {}}, ["/agents: {} has too few keys", "/agents: does not belong here"]),
        ({"turns": [{"txet": "a"}]}, ["/turns/0: unknown key 'txet'; did you mean 'text'?"]),
        ({"turns": [{"repeat": "forever"}, {}]}, ["/turns/0/repeat: only the last turn can be repeated"]),
        ({"turns": [{"fault": {}}]}, ["/turns/0/fault: exactly one of status"]),
        ({"turns": [{"pace": {"first": 3600}}]}, ["/turns/0/pace/first: 3600 is too large"]),
        ({"turns": [{"pace": {"tokens_per_second": 0}}]}, ["/turns/0/pace/tokens_per_second: 0 is too small"]),
        (
            {"turns": [{"fault": {"status": 500, "headers": {"a": "b\nc", "d": "e\n", "Content-Length": "1"}}}]},
            [
                "/turns/0/fault/headers: 'Content-Length' does not match",
                "/turns/0/fault/headers/a: 'b\\nc' does not match",
                "/turns/0/fault/headers/d: 'e\\n' does not match the form: one line",
            ],
        ),
        ({"turns": [{"fault": {"content_type": "a\r"}}]}, ["/turns/0/fault/content_type: 'a\\r' does not match"]),
        ({"turns": [{"final": True}]}, ["/turns/0: 'fault' is a dependency of 'final'"]),
        (
            {"turns": [{"calls": [{"tool": "$work", "mark": "a"}]}]},
            ["/turns/0/calls/0/mark: `mark` is for the `$` tools", "/turns/0/calls/0/tool: '$work' is for cases"],
        ),
        ({"turns": [{"when": {"sees": "x"}}]}, ["/turns/0/when: waiting by polls is for cases"]),
        ({"turns": [{"hold": {"after_deltas": 0, "until": "end"}}]}, ["/turns/0/hold/until: `end` is for cases"]),
        ({"agents": {"a": [{}], "b": []}}, ["/attribution: several agents are told apart by one of"]),
        (
            {"agents": {"a": [{}], "b": []}, "attribution": {"by": "model", "marks": {"c": "x"}}},
            ["/attribution/marks/c: no agent is called 'c'"],
        ),
        ({"turns": []}, ["a script has at least one turn"]),
        (
            {"agents": {"a": [{}], "b": [{}]}, "attribution": {"by": "token", "marks": {"a": "help", "b": "helper"}}},
            ["/attribution/marks: 'help' stands in 'helper', too"],
        ),
        ({"agents": {"a": []}, "attribution": "guess"}, ["/attribution: 'guess' is not one of"]),
        ({"turns": [], "side_calls": [{"answer": "x"}]}, ["/side_calls/0:"]),
        (
            {
                "agents": {
                    "a": [{"text": 1}],
                    "b": [{"when": {"sees": "x"}}, {"deltas": 0}],
                    "c": [{"repeat": "forever"}, {}],
                }
            },
            [
                "/agents/a/0/text: 1 is not of type",
                "/agents/b/1/deltas: 0 is too small",
                "/agents/c/0/repeat: only the last",
                "/agents/b/0/when: waiting by polls",
            ],
        ),
    ],
)
def test_every_fault_is_listed_with_its_place(document: Any, faults: list[str]) -> None:
    """What can be looked at is, whatever is wrong elsewhere."""
    found = [f"{place}: {complaint}" if place else complaint for place, complaint in load.faults(document)]
    assert len(found) == len(faults), found
    assert all(seen.startswith(fault) for seen, fault in zip(found, faults, strict=True)), found


@pytest.mark.parametrize(
    ("content", "where", "complaint"),
    [
        ("{", "script.yaml:1", "not usable YAML"),
        ("turns: [", "script.yaml:1", "not usable YAML"),
        ('{"turns": [{"txet": 1}]}', "script.yaml: /turns/0", "unknown key 'txet'"),
        ("[]", "script.yaml", "[] is not of type 'object'"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, content: str, where: str, complaint: str) -> None:
    """It names the file, the place in it, and where to read on."""
    with pytest.raises(ScriptError) as caught:
        load.load(_written(tmp_path, content))
    assert caught.value.where == str(tmp_path / where)
    assert complaint in caught.value.what
    assert "serve" in caught.value.remedy


def test_deep_nesting_is_refused_at_once() -> None:
    """However deep it goes on: the reader stops at the limit, so that a million levels cost what two hundred do."""
    with pytest.raises(strict_yaml.YAMLError, match="nested too deeply"):
        strict_yaml.loads("[" * 1_000_000)
    deep = "\n".join("  " * level + "a:" for level in range(5_000))
    with pytest.raises(strict_yaml.YAMLError, match="nested too deeply") as caught:
        strict_yaml.loads(deep)
    assert caught.value.line == 201
    assert strict_yaml.loads("[" * 200 + "]" * 200)


def test_broken_json_keeps_its_name(tmp_path: Path) -> None:
    """A file that is JSON by its name and its beginning is told so; one in a foreign encoding is no text."""
    with pytest.raises(ScriptError, match="not JSON: "):
        load.load(_written(tmp_path, "{", "script.json"))
    (tmp_path / "latin.yaml").write_bytes(b"turns: [{text: \xe9}]")
    with pytest.raises(ScriptError, match="no text in UTF-8"):
        load.load(tmp_path / "latin.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It says so."""
    with pytest.raises(ScriptError, match="No such file"):
        load.load(tmp_path / "none.json")
