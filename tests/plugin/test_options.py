"""The plugin merely installed, and the options on their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "asyncio",
    "jsonschema",
    "deepdiff",
    "click",
    "rich",
    "syrupy",
    "httptools",
    "tomllib",
    "pytest_agentcontract.scenario",
)


def test_installed_it_imports_nothing_heavy():
    """What the entry point brings into every pytest run is itself and nothing that takes time."""
    code = (
        "import sys, pytest; before = set(sys.modules); import pytest_agentcontract.plugin.options\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if name.startswith(HEAVY)] == []
    assert len(loaded) <= 5


def test_without_the_flag_nothing_is_added(pytester):
    """A run without the flag collects the user's tests only, and loads nothing of the suite."""
    pytester.makepyfile("import sys\ndef test_mine(): assert 'pytest_agentcontract.plugin.suite' not in sys.modules")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*agent contract*")


@pytest.mark.parametrize(
    "option",
    [
        ["--agent-contract-runtime", "mine"],
        ["--agent-contract-strict"],
        ["--agent-contract-report", "r.jsonl"],
        ["--agent-contract-baseline", "b.json"],
    ],
)
def test_a_refinement_without_the_flag_is_refused(run, option):
    """A runtime that is named, or a report that is asked for, and then nothing judged, must not look like a pass."""
    result = run(*option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option[0]} without --agent-contract: nothing would be judged"])


def test_a_conftest_with_the_hook_is_harmless_without_the_flag(run, pytester):
    """The hook is known in every run, and called in none without the flag."""
    pytester.makeconftest("def pytest_agentcontract_runtimes(config): raise RuntimeError")
    pytester.makepyfile("def test_mine(): pass")
    run().assert_outcomes(passed=1)


@pytest.mark.parametrize("value", ["0", "-1", "soon", "inf", "nan"])
def test_a_time_limit_is_a_number_of_seconds(judge, value):
    """Anything but a positive, finite number is one clear error."""
    result = judge(f"--agent-contract-timeout={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --agent-contract-timeout*no positive number of seconds"])


def test_help_names_the_options(run):
    """`pytest --help` shows every option under a heading of its own."""
    run("--help").stdout.fnmatch_lines(["*judging an agent runtime*", "*--agent-contract-runtime=NAME*"])
