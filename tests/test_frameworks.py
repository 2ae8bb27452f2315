"""The commands around Python frameworks: each is pinned, has its profile, and hides nothing of its framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pytest_agentcontract.scenario.load_profile import shipped

EXAMPLES = Path(__file__).parent.parent / "examples"
FRAMEWORKS = [path.parent.name for path in EXAMPLES.glob("*/pyproject.toml")]
STAND_IN = """
class RunResult:
    def __init__(self, output): self.output, self.state, self.token_usage = output, "success", None
class OpenAIServerModel:
    def __init__(self, model_id, **kwargs): assert kwargs["api_base"] == "http://provider/v1"
class ToolCallingAgent:
    def __init__(self, **kwargs): pass
    def run(self, prompt, max_steps, return_full_result):
        print("a log line")
        if prompt == "raise": raise ValueError("no")
        return RunResult([prompt, max_steps])
def tool(function): return function
"""


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_each_is_pinned_and_has_its_profile(name: str) -> None:
    """The command that the profile starts is the one that the example installs, with exact versions of all it names."""
    project = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text("utf-8"))["project"]
    assert list(project["scripts"]) == [shipped()[name].modes["json"][0]]
    assert all("==" in dependency for dependency in project["dependencies"])


@pytest.mark.parametrize(
    ("arguments", "document", "code"),
    [
        (["-p", "go"], {"result": ["go", None], "is_error": False, "state": "success", "usage": None}, 0),
        (
            ["-p", "go", "--max-steps", "3"],
            {"result": ["go", 3], "is_error": False, "state": "success", "usage": None},
            0,
        ),
        (["-p", "raise"], {"result": None, "is_error": True, "error": "ValueError: no"}, 1),
    ],
)
def test_smolagents_says_what_run_says(tmp_path: Path, arguments: list[str], document: object, code: int) -> None:
    """What `run()` returns is the result, what it raises is the failure, and the log stays off standard output."""
    (tmp_path / "smolagents.py").write_text(STAND_IN)
    (tmp_path / "smolagents-1.0.dist-info").mkdir()
    (tmp_path / "smolagents-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: smolagents\nVersion: 1.0\n"
    )
    keys = {"OPENAI_BASE_URL": "http://provider/v1", "OPENAI_API_KEY": "k", "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, EXAMPLES / "smolagents" / "smolagents_agent.py", *arguments]
    run = subprocess.run(command, env=os.environ | keys, capture_output=True, text=True, check=False)
    assert (json.loads(run.stdout), run.returncode) == (document, code)
    assert "a log line" in run.stderr
