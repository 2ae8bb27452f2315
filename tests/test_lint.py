"""`agent-contract lint`: every fault of a file at once, whatever kind of file it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli, resources

TOOLS = ("$return", "$work", "$spawn", "$handoff")
CASE = {
    "titel": "A case",
    "why": "w",
    "covers": ["RET-1"],
    "given": {"mode": "interactive", "prompt": 3},
    "script": {
        "root": [{"repeat": "forever"}, {"fault": {}}, {"calls": [{"tool": "$spawn", "agent": "kid"}]}, {"deltas": 0}]
    },
}
CONFIG = """
# two runtimes
[runtimes.reference]
driver = "python"
entry = "x:y"
capabilities = ["headless"]

[runtimes.mine]
drvier = "command"
modes.json = ["agent", "{promt}"]
capabilities = ["headless", "root-return"]
failure = "("
"""
SCRIPT = """
# A script
turns:
  - txet: one
  - calls: [{tool: $work}]
    repeat: forever
  - text: two
    fault: {status: 200}
"""


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[str]]]:
    """Return a function that writes files, looks them over, and returns the exit status and the lines."""
    monkeypatch.chdir(tmp_path)

    def look(**files: str) -> tuple[int, list[str]]:
        names = [name.replace("_", ".") for name in files]
        for name, content in zip(names, files.values(), strict=True):
            Path(name).write_text(content)
        result = CliRunner().invoke(cli.main, ["lint", *names])
        assert result.stderr == ""
        return result.exit_code, [line for line in result.stdout.splitlines() if not line.startswith("  ")]

    return look


def test_a_case(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """What the schema says, and what it can't say."""
    status, lines = lint(case_json=json.dumps(CASE))
    assert status == 1
    assert lines == [
        "case.json: unknown key 'titel'; did you mean 'title'?",
        "case.json: 'title' is a required property",
        "case.json: /covers/0: 'RET-1' does not match the form: ^(RET|FLT|INT|HND|WIR)-[0-9]{3}$",
        "case.json: /given/prompt: 3 is not of type 'string', 'object'",
        "case.json: /script/root/3/deltas: 0 is too small: at least 1",
        "case.json: /script/root/0/repeat: only the last turn can be repeated",
        (
            "case.json: /script/root/1/fault: exactly one of status, cut_after_deltas, error_after_deltas, "
            "malformed_after_deltas, silent_after_deltas, content_type says which fault it is"
        ),
        "case.json: /script/root/2/calls/0: spawns 'kid', which has no script",
        "case.json: /given: an interactive root has a conversation, and only an interactive root has one",
        "1 file, 9 faults",
    ]


def _strange() -> str:
    case = json.loads((resources.cases() / "return" / "no-reply" / "empty-finish.json").read_text())
    case["covers"] = ["RET-999", {"id": "RET-300", "level": "MAY", "why": "w"}]
    case["script"]["root"][0] = {"calls": [{"tool": "$wrk"}, {"tool": "$9"}]}
    return json.dumps(case)


def test_a_case_of_unknown_names(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """What it covers and what it calls has to be known; a near name is told."""
    status, lines = lint(case_json=_strange())
    assert status == 1
    assert lines[:2] == [
        "case.json: /script/root/0/calls/0/tool: no tool of cases is called '$wrk'; did you mean '$work'?",
        f"case.json: /script/root/0/calls/1/tool: no tool of cases is called '$9'; known: {', '.join(TOOLS)}",
    ]
    assert lines[2].startswith("case.json: /covers/0: no requirement is called RET-999. Did you mean RET-")
    assert lines[3].startswith("case.json: /covers/1: no requirement is called RET-300. Did you mean RET-")
    assert lines[4] == "1 file, 4 faults"


@pytest.mark.parametrize("left", [True, False])
def test_serve_refuses_a_case_of_unknown_names(tmp_path: Path, left: bool) -> None:  # noqa: FBT001 - a parameter
    """It is refused before anything is served."""
    case = json.loads(_strange())
    if left:
        case["script"]["root"][0] = {}
    (tmp_path / "case.json").write_text(json.dumps(case))
    result = CliRunner().invoke(cli.main, ["serve", "--case", str(tmp_path / "case.json"), "--runtime", "reference"])
    assert result.exit_code == 4
    assert ("no requirement is called RET-999" if left else "no tool of cases is called '$wrk'") in result.stderr


def test_a_configuration(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """It is known by its first line, whatever its name."""
    status, lines = lint(anything_txt=CONFIG)
    assert status == 1
    told = "\n".join(lines)
    for fault in (
        "anything.txt: runtimes.reference: the name 'reference' is reserved: give your runtime a name of its own",
        "anything.txt: runtimes.mine: unknown key 'drvier'; did you mean 'driver'?",
        "anything.txt: runtimes.mine: 'driver' is a required property",
        "anything.txt: runtimes.mine.modes.json[1]: unknown placeholder {promt}; did you mean {prompt}?",
        "anything.txt: runtimes.mine.capabilities[1]: 'root-return' needs tools.return",
        "anything.txt: runtimes.mine.failure: not a regular expression: ",
    ):
        assert fault in told


def test_a_script(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """A fault in one turn hides none in another."""
    status, lines = lint(script_yaml=SCRIPT)
    assert status == 1
    assert lines == [
        "script.yaml: /turns/0: unknown key 'txet'; did you mean 'text'?",
        "script.yaml: /turns/2/fault/status: 200 is too small: at least 400",
        "script.yaml: /turns/1/repeat: only the last turn can be repeated",
        "script.yaml: /turns/1/calls/0/tool: '$work' is for cases; a script names the tool itself",
        "1 file, 4 faults",
    ]


def test_everything_wrong_with_the_yaml_is_told_and_then_with_the_script(
    lint: Callable[..., tuple[int, list[str]]],
) -> None:
    """What can't be used hides nothing else, and is not told twice."""
    script = "turns:\n  - &a {txet: one}\n  - *a\n  - text: !!str two\n    text: x\n    deltas:\n  - {stop: tired}\n"
    status, lines = lint(script_yaml=script)
    assert status == 1
    told = "\n".join(lines)
    assert [line.split(": ")[0] for line in lines] == [
        *(f"script.yaml:{number}" for number in (2, 3, 4, 5, 6)),
        "script.yaml",
        "script.yaml",
        "1 file, 7 faults",
    ]
    assert "/turns/0: unknown key 'txet'" in told
    assert "/turns/3/stop: 'tired' is not one of" in told


def test_a_key_that_stands_twice_in_json_has_a_line(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """All of them are told, and the faults of the script after them."""
    status, lines = lint(script_json='{"turns": [\n{"text": "a",\n"text": "b"},\n{"stop":"x","stop":"x"}]}')
    assert status == 1
    assert lines[:2] == [
        "script.json:3: not usable JSON: the key 'text' stands twice in one mapping",
        "script.json:4: not usable JSON: the key 'stop' stands twice in one mapping",
    ]
    assert lines[2].startswith("script.json: /turns/1/stop: 'x' is not one of")


def test_a_table_of_vectors(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """The form of the tables is checked, too."""
    status, lines = lint(table_json='{"title": "t", "rows": []}')
    assert status == 1
    assert lines == [
        "table.json: 'why' is a required property",
        "table.json: /rows: [] has too few entries: at least 1",
        "1 file, 2 faults",
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "x.y: not JSON: "),
        ("turns:\n  - &a {}\n", "x.y:2: not usable YAML: the anchor &a has no use"),
        ("[runtimes\n", "x.y:"),
        ("a = 1\nb", "x.y: not usable TOML: "),
        ('{"a": 1}', "x.y: the file is of no known kind"),
        ("[]", "x.y: the file is of no known kind"),
    ],
)
def test_a_file_that_cannot_be_read(lint: Callable[..., tuple[int, list[str]]], content: str, complaint: str) -> None:
    """One fault, with what is known of the place."""
    status, lines = lint(x_y=content)
    assert status == 1
    assert lines[0].startswith(complaint)
    assert lines[1] == "1 file, 1 fault"


def test_every_fault_has_a_remedy(tmp_path: Path) -> None:
    """Below the faults stands where to read on, once."""
    (tmp_path / "s.yaml").write_text("turns: [{txet: a}, {txet: b}]")
    result = CliRunner().invoke(cli.main, ["lint", str(tmp_path / "s.yaml"), str(tmp_path / "none.json")])
    assert result.stdout.endswith(
        "No such file or directory\n"
        "  The page `serve` of the documentation describes the format.\n"
        "  Name an existing file.\n"
        "2 files, 3 faults\n"
    )


def test_what_ships_has_no_faults(lint: Callable[..., tuple[int, list[str]]]) -> None:
    """Cases, tables of vectors and a sound script."""
    case = resources.cases() / "return" / "no-reply" / "empty-finish.json"
    table = resources.fixtures() / "vectors" / "routing.json"
    status, lines = lint(
        case_json=case.read_text(), table_json=table.read_text(), script_yaml="turns: [{text: one, repeat: forever}]"
    )
    assert (status, lines) == (0, ["3 files, no faults"])


def test_a_folder_stands_for_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the folders in it too, each once; what is no data of a user's is left alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    (tmp_path / "mine" / "a.json").write_text(json.dumps({"turns": [{"txet": "x"}]}))
    (tmp_path / "mine" / "deep" / "b.yaml").write_text("turns:\n  - text: fine\n")
    (tmp_path / "mine" / "agent-contract.toml").write_text("[runtimes.x]\n")
    (tmp_path / "mine" / "notes.md").write_text("turns:")
    result = CliRunner().invoke(cli.main, ["lint", "mine", "mine/a.json"])
    lines = [line for line in result.stdout.splitlines() if not line.startswith("  ")]
    assert result.exit_code == 1
    assert lines[0].startswith("mine/a.json: /turns/0: ")
    assert lines[1].startswith("mine/agent-contract.toml: ")
    assert lines[-1].startswith("3 files, ")


def test_a_folder_without_such_a_file_is_no_success(tmp_path: Path) -> None:
    """An empty selection is an error."""
    result = CliRunner().invoke(cli.main, ["lint", str(tmp_path)])
    assert result.exit_code == 4
    assert "the folder holds no such file" in result.stderr
