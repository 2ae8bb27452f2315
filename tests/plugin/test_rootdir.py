"""Whose configuration is read where pytest's rootdir is not the folder that it was started in."""

from __future__ import annotations

import json
import shlex

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin.rootdir import hold

TOML = """
[runtimes.{name}]
driver = "python"
entry = "my_agent:run"
wires.openai-chat = {{env = {{OPENAI_BASE_URL = "{{base_url}}"}}}}
tools.work = {{name = "touch", arguments = {{path = "{{mark}}"}}}}
capabilities = ["headless"]
"""


@pytest.fixture
def project(pytester):
    """Return a function that makes a project of its own in a folder beside."""

    def make(name, *, toml=True):
        folder = pytester.mkdir(name)
        (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
        (folder / "known.json").write_text(json.dumps({"runtime": name, "known": []}), "utf-8")
        if toml:
            (folder / "agent-contract.toml").write_text(TOML.format(name=name), "utf-8")
        return folder

    return make


@pytest.mark.parametrize("toml", [True, False])
def test_a_value_after_a_space_never_moves_the_configuration(project, judge, monkeypatch, toml):
    """A baseline beside another project is no reason to judge that project; the message says what to write."""
    project("theirs")
    monkeypatch.chdir(project("mine", toml=toml))
    result = judge("--agent-contract-baseline", "../theirs/known.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*Write --agent-contract-baseline=../theirs/known.json."])


def test_with_an_equals_sign_it_is_this_project(project, judge, monkeypatch):
    """The same file as part of the option leaves the rootdir where it is."""
    project("theirs")
    monkeypatch.chdir(project("mine"))
    result = judge("--agent-contract-report=../theirs/report.jsonl")
    assert result.outlines[-1] == "agent contract: judged mine: 2 pass; a part of the suite: 2 of 285"


def test_a_rootdir_that_is_given_is_meant(project, judge, verdicts, monkeypatch):
    """--rootdir names another project, and the line that judges a case again repeats it."""
    theirs = project("theirs")
    monkeypatch.chdir(project("mine"))
    verdicts["return/no-reply/empty-finish"] = ("fail",)
    result = judge(f"--rootdir={theirs}")
    assert result.outlines[-1].startswith("agent contract: judged theirs: 1 pass, 1 fail")
    result.stdout.fnmatch_lines([f"*--agent-contract-runtime=theirs --rootdir={shlex.quote(str(theirs))}"])


def test_a_path_of_the_users_explains_the_rootdir(project, judge, pytester):
    """Whoever names a folder of another project means that project."""
    (project("theirs") / "test_one.py").write_text("def test_one(): pass", "utf-8")
    assert judge("theirs", select="").outlines[-1].startswith("agent contract: judged theirs: ")


def test_a_file_below_the_rootdir_is_not_passed_over(tmp_path):
    """A configuration in the folder that pytest was started in, but not at the rootdir, is told, --rootdir or not."""
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "agent-contract.toml").write_text(TOML.format(name="mine"), "utf-8")
    for named in (True, False):
        with pytest.raises(UsageError, match="not at pytest's rootdir"):
            hold(tmp_path, folder, named=named, paths=[], words=[])
