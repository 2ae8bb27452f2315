"""The pages on the scripted provider: their examples run, their output is real, their tables are whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli, resources, scripted
from pytest_agentcontract.jsonvalue import as_object, loads, point
from pytest_agentcontract.scripted import faults, load, strict_yaml

DOCS = Path(__file__).parent.parent.parent / "docs"


def _blocks(page: str, language: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _rows(page: str, heading: str) -> list[list[str]]:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    table = text[text.index(heading) :].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def test_the_example_says_what_the_page_says(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Program and tests as they stand on the page, and their output line by line."""
    for block in _blocks("scripted-provider", "python"):
        pytester.makepyfile(**{re.findall(r"# (\w+)\.py", block)[0]: block})
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    result = pytester.runpytest_inprocess("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-W", "ignore")
    shown = _blocks("scripted-provider", "text")[0].splitlines()
    told = [line for line in shown if line.startswith(("the script", "  "))]
    result.stdout.fnmatch_lines([re.sub(r"([\[\]])", "[\\1]", line) for line in told])
    result.assert_outcomes(passed=4, errors=2)
    assert shown[-1].startswith("4 passed, 2 errors")


def test_the_table_of_faults_is_whole() -> None:
    """Every builder and every key of the schema stands in it, and nothing else."""
    rows = _rows("faults", "| in Python | in a file |")
    builders = {re.findall(r"`(\w+)\(", row[0])[0] for row in rows}
    keys = {key for row in rows for key in re.findall(r"`(\w+)`", row[1])}
    schema = loads(resources.schema("case").read_bytes())
    assert builders == {name for name in scripted.__all__ if hasattr(faults, name) and name[0].islower()}
    assert keys == as_object(point(schema, "/$defs/fault/properties")).keys()


def test_the_table_of_keys_is_whole() -> None:
    """A turn of a script file has these keys, and what a call can have in a case is among them or refused."""
    rows = _rows("serve", "| key of a turn | says |")
    named = {key for row in rows for key in re.findall(r"`(\w+)(?:: forever)?`", row[0])}
    schema = loads(resources.schema("case").read_bytes())
    assert named | {"when"} == as_object(point(schema, "/$defs/turn/properties")).keys()
    calls = next(row[1] for row in rows if row[0] == "`calls`")
    of_calls = set(re.findall(r"`(\w+)(?:: true)?`", calls))
    assert of_calls | set(load.OF_CASES) == as_object(point(schema, "/$defs/call/properties")).keys()


def test_the_table_of_words_is_whole() -> None:
    """Whatever can be imported is described, and whatever is described can be imported."""
    rows = _rows("scripted-provider", "| word | says |")
    words = {word for row in rows for word in re.findall(r"`(\w+)(?:\(|`)", row[0])}
    values = {"ScriptError", "ScriptViolation", "Usage"}
    assert words == set(scripted.__all__) - values


@pytest.mark.parametrize(("page", "number"), [("serve", 0), ("attribution", 0), ("clients", 0), ("clients", 1)])
def test_the_scripts_on_the_pages_can_be_played(page: str, number: int) -> None:
    """They have no fault."""
    assert list(load.faults(strict_yaml.loads(_blocks(page, "yaml")[number]))) == []


def test_the_faults_on_the_page_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output of lint is that of the file above it."""
    monkeypatch.chdir(tmp_path)
    Path("wrong.yaml").write_text(_blocks("serve", "yaml")[1])
    assert _blocks("serve", "text")[-1] == CliRunner().invoke(cli.main, ["lint", "wrong.yaml"]).stdout
