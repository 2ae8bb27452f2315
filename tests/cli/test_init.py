"""What a project begins with: three files, never over others, and a workflow whose commands pass."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.conformance.baseline import load_baseline
from pytest_agentcontract.conformance.requirements import CURRENT
from pytest_agentcontract.scenario import config_lines, load_profile

CONFIG, BASELINE = "agent-contract.toml", "agent-contract-baseline.json"
WORKFLOW = ".github/workflows/agent-contract.yml"
TOY = Path(__file__).with_name("toy_agent.py")
OTHER = """\
[runtimes.other]
driver = "command"
modes.json = ["other", "{prompt}"]
wires.openai-chat = {env = {A = "{base_url}"}}
tools.work = {name = "bash", arguments = {command = "touch '{mark}'"}}
capabilities = ["headless"]
"""


@pytest.fixture
def init(tmp_path, monkeypatch):
    """Return a function that calls `init` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli.main, ["init", *arguments])


def _files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _steps(folder):
    return yaml.safe_load((folder / WORKFLOW).read_text("utf-8"))["jobs"]["agent-contract"]["steps"]


def test_an_empty_folder_gets_all_three(init, tmp_path):
    """A profile that the schema takes, an empty baseline that the loader takes, and a workflow."""
    done = init()
    assert done.exit_code == 0, done.output
    assert _files(tmp_path) == {CONFIG, BASELINE, WORKFLOW}
    config = load_profile.load_config(tmp_path / CONFIG)
    assert config.requirements == CURRENT
    [profile] = config.profiles.values()
    assert load_baseline(tmp_path / BASELINE, profile, ()).known == ()
    assert [step["uses"].partition("@")[0] for step in _steps(tmp_path) if "uses" in step] == [
        "actions/checkout",
        "actions/setup-python",
        "actions/upload-artifact",
    ]
    for name in (CONFIG, BASELINE, WORKFLOW):
        assert f"{name}: written" in done.output


def test_who_has_said_nothing_is_led_to_the_line(init, tmp_path):
    """The program is to be filled in: `init` names the line, and so does the first run, before any case."""
    said = init().output
    line = config_lines.of_command((tmp_path / CONFIG).read_text("utf-8"), "my-agent")
    assert "your-agent" in (tmp_path / CONFIG).read_text("utf-8").splitlines()[line - 1]
    assert f"{CONFIG}, line {line}: say how your agent is started" in said
    run = _shell("pytest --agent-contract", tmp_path)
    assert run.returncode == 4
    assert f"{CONFIG}:{line}: runtime my-agent: the program 'your-agent' was not found" in run.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python3 agent.py -p", ["python3", "./agent.py", "-p", "{prompt}"]),
        ("agent.py --ask={prompt} --json", ["./agent.py", "--ask={prompt}", "--json"]),
        (r"""agent 'two words' "a\"b" ../agent.py é""", ["agent", "two words", 'a"b', "../agent.py", "é", "{prompt}"]),
    ],
)
def test_a_command_line_stands_in_the_profile(init, tmp_path, line, words):
    """Split as by a shell, the project's own files named from its folder, the task where it was said or last."""
    (tmp_path / "agent.py").touch()
    done = init("--command", line)
    assert done.exit_code == 0, done.output
    assert load_profile.read(tmp_path / CONFIG)["runtimes"]["my-agent"]["modes"]["json"] == words
    assert "say how your agent is started" not in done.output


@pytest.mark.parametrize("there", [(CONFIG,), (BASELINE, WORKFLOW), (CONFIG, BASELINE, WORKFLOW)])
def test_a_file_that_is_there_is_left(init, tmp_path, there):
    """Whatever it holds: it is said, and the others are written."""
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(OTHER, "utf-8")
    done = init()
    assert done.exit_code == 0, done.output
    assert _files(tmp_path) == {CONFIG, BASELINE, WORKFLOW}
    assert [(tmp_path / name).read_text("utf-8") for name in there] == [OTHER] * len(there)
    for name in there:
        assert f"{name}: is there already, and left as it is" in done.output


def test_what_is_configured_is_judged(init, tmp_path):
    """The only runtime of a project that has its profile is the one of baseline and workflow."""
    (tmp_path / CONFIG).write_text(OTHER, "utf-8")
    assert init().exit_code == 0
    assert json.loads((tmp_path / BASELINE).read_text("utf-8"))["runtime"] == "other"
    assert "--agent-contract-runtime=other" in (tmp_path / WORKFLOW).read_text("utf-8")


def test_a_shipped_runtime_needs_no_profile(init, tmp_path):
    """It is installed by the workflow where its profile names packages."""
    assert init("--runtime", "qwen-code").exit_code == 0
    assert _files(tmp_path) == {BASELINE, WORKFLOW}
    runs = [step["run"] for step in _steps(tmp_path) if "run" in step]
    assert "agent-contract install qwen-code" in runs
    assert runs.index("agent-contract install qwen-code") == 1


@pytest.mark.parametrize(
    ("arguments", "config", "complaint"),
    [
        (("--runtime", "qwen-cod"), "", "Did you mean qwen-code"),
        (("--runtime", "qwen-code", "--command", "mine"), "", "qwen-code is the name of a shipped profile"),
        (("--runtime", "my agent", "--command", "mine"), "", "my agent"),
        (("--runtime", "reference-mine", "--command", "mine"), "", "reserved"),
        (("--command", "mine"), OTHER, "is there already: the command would not stand in it"),
        (("--command", "'mine"), "", "--command can't be read: No closing quotation"),
        (("--command", " "), "", "--command is empty"),
        (("--command", "mine {promt}"), "", "promt"),
        (("--runtime", "reference"), OTHER, "nothing of yours would be judged"),
        ((), OTHER + OTHER.replace("other", "another"), "configures other, another"),
        ((), "runtimes = 1", "runtimes"),
        (("--folder", "nowhere"), "", "is no folder"),
    ],
)
def test_nothing_is_written_where_something_is_wrong(init, tmp_path, arguments, config, complaint):
    """Each with what is wrong, and pytest's exit status for usage errors."""
    if config:
        (tmp_path / CONFIG).write_text(config, "utf-8")
    refused = init(*arguments)
    assert refused.exit_code == 4, refused.output
    assert complaint in refused.output
    assert _files(tmp_path) == ({CONFIG} if config else set())


def test_a_place_that_can_not_be_made_is_told_first(init, tmp_path):
    """A file where the workflow's folder should be: the profile is not written either."""
    (tmp_path / ".github").write_text("", "utf-8")
    refused = init()
    assert (refused.exit_code, _files(tmp_path)) == (4, {".github"})
    assert ".github: is no folder" in refused.output


def test_the_commands_of_the_workflow_pass_by_hand(tmp_path):
    """In a project that is new but for a tiny agent: every `run` of the workflow, apart from pip's, in its order."""
    shutil.copy(TOY, tmp_path / "agent.py")
    begun = _shell(f"agent-contract init --command '{sys.executable} agent.py'", tmp_path)
    assert begun.returncode == 0, begun.stderr
    runs = [step["run"] for step in _steps(tmp_path) if "run" in step]
    assert "pip install" in runs[0]
    summary = tmp_path / "summary.md"
    for run in runs[1:]:
        done = _shell(run, tmp_path, GITHUB_STEP_SUMMARY=str(summary), CI="true")
        assert done.returncode == 0, f"{run}\n{done.stdout}{done.stderr}"
    assert "| requirement | level | my-agent" in summary.read_text("utf-8")
    kept = _steps(tmp_path)[-1]["with"]["path"].split()
    assert [name for name in kept if not (tmp_path / name).is_file()] == []


def _shell(line, folder, **variables):
    """Run a line as a step of a workflow is run, on the few cases that a first look takes."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # noqa: PTH120 - the link, not its end
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "CI"))}
    env = {**inherited, "PATH": path, "PYTEST_ADDOPTS": "-m agent_contract_smoke -p no:randomly", **variables}
    return subprocess.run(["bash", "-e", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False)  # noqa: S607 - found on PATH
