"""`agent-contract profile check` prints what it finds in columns, and its exit status says whether all is well."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pytest_agentcontract.cli import main

PROFILE = """
[runtimes.mine]
driver = "python"
entry = "pytest_agentcontract.reference.cli:run"
wires.openai-chat = {{env = {{OPENAI_BASE_URL = "{{base_url}}", OPENAI_API_KEY = "{{api_key}}"}}, suffix = "/v1"}}
tools.return = {{name = "reply", payload = "/value"}}
tools.work = {{name = "touch", arguments = {{path = "{{mark}}"}}}}
result = {{value = "{pointer}", failed = "/is_error"}}
limits = {{steps = 30, nudges = 3}}
capabilities = ["headless", "root-return", "payload-string", "payload-object", "payload-array"]
"""


@pytest.fixture
def in_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, as in the user's project."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _check(folder: Path, *options: str, pointer: str = "/result") -> Result:
    (folder / "agent-contract.toml").write_text(PROFILE.format(pointer=pointer), "utf-8")
    return CliRunner().invoke(main, ["profile", "check", *options])


def test_a_profile_that_fits_passes(in_project: Path) -> None:
    """One line for each thing that was looked at, in columns, and status 0."""
    done = _check(in_project, "mine")
    lines = done.output.splitlines()
    assert done.exit_code == 0, done.output
    assert {line[17:23].strip() for line in lines} == {"ok"}
    assert [line[:17].strip() for line in lines] == [
        *("start", "reach", "tools.return", "tools.work", "result", "work", "failure"),
        *("headless", "root-return", "payload-string", "payload-object", "payload-array"),
    ]


def test_a_profile_that_does_not_fit_is_told_what_to_mend(in_project: Path) -> None:
    """A wrong pointer is one FAIL with the right one below, and not a wall; the exit status is 1."""
    done = _check(in_project, "mine", pointer="/response")
    assert done.exit_code == 1
    lines = done.output.splitlines()
    at = next(number for number, line in enumerate(lines) if line[17:23].strip() == "FAIL")
    assert lines[at] == f"{'result':<17}FAIL  the result holds no /response; what the model said stands at /result"
    assert lines[at + 1] == f'{"":<23}Say result.value = "/result".'
    assert done.output.count("FAIL") == 2  # the second is the note that names what depends on it
    assert "root-return, payload-string" in lines[-1]


def test_the_page_shows_what_is_printed(in_project: Path) -> None:
    """The output on the page is that of the agent and the profile on the page, with the mistake that it names."""
    page = (Path(__file__).parent.parent / "docs/write-a-profile.md").read_text("utf-8")
    agent, profile = _block(page, "python", "import json\n"), _block(page, "toml", "[runtimes.my-python-agent]\n")
    shown = _block(page, "console", "$ agent-contract profile check my-python-agent\n").splitlines()[1:]
    (in_project / "my_agent.py").write_text(agent, "utf-8")
    (in_project / "agent-contract.toml").write_text(profile.replace('"/result"', '"/response"'), "utf-8")
    command = [sys.executable, "-m", "pytest_agentcontract", "profile", "check", "my-python-agent"]
    done = subprocess.run(command, cwd=in_project, capture_output=True, text=True, check=False)
    printed = done.stdout.splitlines()
    assert done.returncode == 1
    assert [_timeless(line) for line in printed] == [_timeless(line) for line in shown]


def _block(page: str, language: str, begins: str) -> str:
    return next(block for block in re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL) if block.startswith(begins))


def _timeless(line: str) -> str:
    return re.sub(r"[0-9.]+ s,", "T s,", line)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["mine", "--wire", "openai-chta"], "mine names no wire format 'openai-chta'\n  Did you mean openai-chat?"),
        (["mein"], "no runtime is called 'mein'\n  Did you mean mine?"),
    ],
)
def test_an_unknown_name_is_a_usage_error(in_project: Path, options: list[str], said: str) -> None:
    """Exit status 4, as of every usage error, and the name that was probably meant."""
    done = _check(in_project, *options)
    assert done.exit_code == 4
    assert said in done.output


def test_a_runtime_that_is_not_installed_is_told_how_to_be(in_project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line and its remedy, of a program as of a framework, whatever programs of that name there are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(in_project))
    for name in ("codex", "smolagents"):
        done = CliRunner().invoke(main, ["profile", "check", name])
        told = f"{'start':<17}FAIL  {name} is not installed\n{'':<23}Run: agent-contract install {name}\n"
        assert (done.output, done.exit_code) == (told, 1)
