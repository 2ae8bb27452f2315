"""The command around a Python framework: it is pinned, and hides nothing of its framework."""

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
AGENTS = """
from types import SimpleNamespace
class Agent:
    def __init__(self, name, instructions, tools, model):
        self.name, self.tools, self.model, self.handoffs = name, list(tools), model, []
    def as_tool(self, name, description): return name
class OpenAIChatCompletionsModel:
    def __init__(self, model, client): self.model = model
class RunResult: pass
class Runner:
    @staticmethod
    async def run(agent, prompt, max_turns=10):
        print("a log line")
        if prompt == "raise": raise ValueError("no")
        used = SimpleNamespace(input_tokens=1, output_tokens=2)
        team = [[other.name for other in agent.handoffs], agent.tools[1:], agent.model.model]
        context = SimpleNamespace(usage=used)
        return SimpleNamespace(
            final_output=[prompt, max_turns, *team], last_agent=agent.handoffs[0], context_wrapper=context
        )
def function_tool(function): return function
def set_tracing_disabled(disabled): assert disabled
"""
OPENAI = "class AsyncOpenAI:\n    def __init__(self, timeout=600): pass\n"
TEAM = [["helper", "third"], ["ask_root", "ask_helper", "ask_third"], "root"]


def test_what_it_needs_is_pinned_as_its_recipe_is() -> None:
    """The example is what the recipe for the bench is, as a command: with the same versions of the same packages."""
    project = tomllib.loads((EXAMPLES / "openai-agents" / "pyproject.toml").read_text("utf-8"))["project"]
    assert sorted(project["dependencies"]) == sorted(shipped()["openai-agents"].install.python)


@pytest.mark.parametrize(
    ("arguments", "result", "code"),
    [
        (["-p", "go", "--timeout", "3"], ["go", 10, *TEAM], 0),
        (["-p", "go", "--max-turns", "3"], ["go", 3, *TEAM], 0),
        (["-p", "raise"], None, 1),
    ],
)
def test_openai_agents_says_what_run_says(tmp_path: Path, arguments: list[str], result: object, code: int) -> None:
    """The root can hand over to both others and ask all three; what `run()` returns or raises is told as it is."""
    run = _run("openai-agents/openai_agents_agent.py", arguments, tmp_path, agents=AGENTS, openai=OPENAI)
    more = {"last_agent": "helper", "usage": {"input_tokens": 1, "output_tokens": 2}}
    document = {"is_error": bool(code), **({"error": "ValueError: no"} if code else more)}
    assert (json.loads(run.stdout), run.returncode) == ({"result": result, **document}, code)
    assert "a log line" in run.stderr


def _run(program: str, arguments: list[str], folder: Path, **modules: str) -> subprocess.CompletedProcess[str]:
    """Start a command beside stand-ins for what it wraps: the modules of these names, each a distribution too."""
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source)
    metadata = folder / "openai_agents-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: openai-agents\nVersion: 1.0\n")
    keys = {"OPENAI_BASE_URL": "http://provider/v1", "OPENAI_API_KEY": "k", "PYTHONPATH": str(folder)}
    command = [sys.executable, EXAMPLES / program, *arguments]
    return subprocess.run(command, env=os.environ | keys, capture_output=True, text=True, check=False)
