"""The command line: run, list, explain, serve."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.scenario import load_case, load_profile

CASE = "return/no-reply/nudged-then-replies"


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Return a function that calls the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli.main, arguments)


@pytest.mark.parametrize(
    ("what", "key", "expected"),
    [
        ("cases", "case", [case.id for case in load_case.shipped()]),
        ("requirements", "requirement", list(requirements.load())),
        ("mutants", "runtime", [f"mutant:{name}" for name in MUTANTS]),
    ],
)
def test_list_shows_everything_there_is(invoke, what, key, expected):
    """As JSON for programs, as aligned lines for people: one row each."""
    rows = json.loads(invoke("list", what, "--json").output)
    assert [row[key] for row in rows] == expected
    assert [line.split()[0] for line in invoke("list", what).output.splitlines()] == expected


def test_coverage_leaves_no_requirement_out(invoke):
    """Each has a check and a case or is excluded with a reason, and a mutant is made to break each MUST."""
    rows = json.loads(invoke("list", "--coverage", "--json").output)
    assert [row["requirement"] for row in rows] == list(requirements.load())
    assert [row["requirement"] for row in rows if not (row["excluded"] or (row["checks"] and _judged(row)))] == []
    assert [row["requirement"] for row in rows if row["level"] == "MUST" and not row["mutants"]] == []


def test_coverage_is_summed_up(invoke):
    """People get a head over the columns and the sums below them."""
    head, *_, last = invoke("list", "--coverage").output.splitlines()
    assert head.split() == ["requirement", "level", "cases", "vectors", "checks", "mutants", "excluded"]
    count = len(requirements.load())
    assert last.startswith(f"{count} requirements: {count} with a check and a case, 0 excluded with a reason; ")
    assert invoke("list", "coverage").output == invoke("list", "--coverage").output


def _judged(row):
    return row["cases"] + row["vectors"] > 0


MINE = (
    '[runtimes.mine]\ndriver = "python"\nentry = "a:b"\n'
    'wires.openai-chat = {env = {OPENAI_BASE_URL = "{base_url}"}}\n'
    'tools.work = {name = "t", arguments = {p = "{mark}"}}\ncapabilities = ["headless"]\n'
)


def test_profiles_shows_what_each_says_of_its_runtime(invoke, tmp_path):
    """As JSON: driver, origin, wires, tools by their part, capabilities; the user's come first, and each once."""
    (tmp_path / "agent-contract.toml").write_text(MINE, "utf-8")
    first, *shipped = json.loads(invoke("profiles", "--json").output)
    said = {"driver": "python", "wires": ["openai-chat"], "tools": {"work": "t"}, "capabilities": ["headless"]}
    assert first == {"profile": "mine", "from": "agent-contract.toml", "installed": "-", **said}
    assert [row["profile"] for row in shipped] == list(load_profile.shipped())
    assert {row["from"] for row in shipped} == {"shipped"}


def test_profiles_are_columns_that_stay_narrow(invoke, tmp_path):
    """A long list goes on below itself, in its own column."""
    (tmp_path / "agent-contract.toml").write_text(MINE, "utf-8")
    head, mine, *rest = invoke("profiles").output.splitlines()
    assert head.split() == ["profile", "driver", "from", "installed", "wires", "tools", "capabilities"]
    assert mine.split() == ["mine", "python", "agent-contract.toml", "-", "openai-chat", "work=t", "headless"]
    at = head.index("wires")
    below = [line for line in rest if "gemini-generate" in line and not line.startswith(("gemini-cli ", "google-adk"))]
    assert below
    assert {line[: at - 1].strip() for line in below} == {""}
    assert max(map(len, rest)) < 190


def test_list_shows_the_users_runtimes_first(invoke, tmp_path):
    """What agent-contract.toml configures is told from what ships."""
    (tmp_path / "agent-contract.toml").write_text(MINE, "utf-8")
    rows = json.loads(invoke("list", "runtimes", "--json").output)
    assert rows[0] == {"runtime": "mine", "driver": "python", "wires": ["openai-chat"], "yours": True}
    assert {"reference", "reference-command", "reference-tool-less"} <= {row["runtime"] for row in rows[1:]}


def test_list_shows_the_null_runtimes(invoke):
    """They can be named like any other."""
    rows = json.loads(invoke("list", "runtimes", "--json").output)
    assert {"null:silent", "null:hang"} <= {row["runtime"] for row in rows}


def test_explain_takes_an_id_in_lower_case(invoke):
    """An id is found however it is typed."""
    assert invoke("explain", "ret-301").output == invoke("explain", "RET-301").output


def test_explain_tells_everything_about_a_requirement(invoke):
    """Level, text, source, check and cases of one requirement."""
    output = invoke("explain", "RET-301").output
    requirement = requirements.load()["RET-301"]
    for part in (
        "RET-301 (MUST, no-reply)",
        requirement.text,
        requirement.source,
        "check: pytest_agentcontract.",
        CASE,
    ):
        assert part in output


@pytest.mark.parametrize(
    ("arguments", "complaint", "hint"),
    [
        (("explain", "RET-3O1"), "no requirement is called 'RET-3O1'", "RET-301"),
        (("serve", "--case", "return/no-reply/nudged-then-reply"), "no case is called", CASE),
        (("serve", "--case", CASE, "--runtime", "refrence"), "no runtime is called 'refrence'", "reference"),
        (("serve", "--case", CASE, "--wire", "openai"), "doesn't speak 'openai'", "openai-chat"),
        (("serve", "--case", "missing.json"), "missing.json: No such file", "Name an existing case file"),
    ],
)
def test_a_name_that_is_none_is_told_with_near_ones(invoke, arguments, complaint, hint):
    """One clear error on standard error, with pytest's exit status for a usage error."""
    result = invoke(*arguments)
    assert result.exit_code == 4
    assert result.stdout == ""
    assert complaint in result.stderr
    assert hint in result.stderr


def test_run_is_pytest_with_the_flag(invoke, monkeypatch):
    """Runtimes, cases and wire formats become pytest's options and node ids; all else is handed on."""
    seen = []
    monkeypatch.setattr(pytest, "main", lambda arguments: seen.extend(arguments) or 3)
    result = invoke(
        "run", "-r", "mine", "-w", "openai-chat", "-c", CASE, "-c", "return", "-x", "--agent-contract-strict"
    )
    assert result.exit_code == 3
    assert seen == [
        "--agent-contract",
        "--agent-contract-runtime=mine",
        "--agent-contract-wire=openai-chat",
        "-x",
        "--agent-contract-strict",
        "agent-contract::return::no-reply/nudged-then-replies",
        "agent-contract::return",
    ]


def test_run_warns_of_nothing(tmp_path):
    """Started from our own command, pytest finds nothing to warn of, also where warnings are errors."""
    command = [sys.executable, "-m", "pytest_agentcontract", "run", "-r", "reference", "-w", "openai-chat", "-c", CASE]
    ran = subprocess.run([*command, "-W", "error"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "warning" not in ran.stdout


@pytest.fixture
def served(tmp_path):
    """Return a served case, the environment that it asks for, and the prompt that it says to give."""
    command = [sys.executable, "-u", "-m", "pytest_agentcontract", "serve", "--case", CASE, "--wire", "openai-chat"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    head = ""
    while "Ctrl-C ends" not in head:
        line = process.stdout.readline()
        assert line, head
        head += line
    environment = dict(re.findall(r"export (\w+)=(\S+)", head))
    prompt = head.split("give it as the prompt:\n")[1].splitlines()[0].strip()
    folder = re.search(r"cd (\S+)", head)[1]
    yield process, environment, prompt, folder
    process.kill()
    process.communicate()


def test_serve_plays_a_case_for_a_process_of_the_users(served):
    """It says what to set and to ask, shows every exchange, and ends when the script is used up."""
    process, environment, prompt, folder = served
    command = [sys.executable, "-m", "pytest_agentcontract.reference.cli", "-p", prompt, "--output-format", "json"]
    subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True)
    output, _ = process.communicate(timeout=30)
    assert "#3" in output
    assert "-> turn 3: reply(" in output
    assert "3 requests, 0 refused; work done: mark-w1-" in output
    assert output.endswith("the whole script was asked for\n")
    assert process.returncode == 0


def test_serve_tells_what_was_asked_beside_its_url(served):
    """A client with the wrong base URL asked for something, and here is what."""
    process, environment, _, _ = served
    url = urlsplit(environment["OPENAI_BASE_URL"])
    line = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    line.request("POST", "/v1/chat/completions")
    assert line.getresponse().status == 404
    line.close()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert "\n  POST /v1/chat/completions: nothing is served here\n" in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_ends_on_an_interrupt_with_what_is_missing(served, number):
    """Ctrl-C before the end sums up what was never asked for; the exit status says so, and no folder is left."""
    process, _, _, folder = served
    process.send_signal(number)
    output, _ = process.communicate(timeout=30)
    assert "0 requests, 0 refused; work done: none" in output
    assert "root never asked for the last 3 of its turns" in output
    assert "Traceback" not in output
    assert process.returncode == 1
    assert not Path(folder).exists()


@pytest.mark.parametrize("asked", [("--coverage", "--mutants"), ("requirements", "--coverage")])
def test_one_list_at_a_time(invoke, asked):
    """Two wishes are one error, and not the last of them."""
    result = invoke("list", *asked)
    assert result.exit_code == 4
    assert result.stderr.startswith(f"ERROR: {' and '.join(word.strip('-') for word in asked)} at once\n")
