"""A user's own case files are judged beside the shipped ones."""

from __future__ import annotations

import json

import pytest

CONFIG = """
cases = "cases"
[runtimes.mine]
driver = "python"
entry = "pytest_agentcontract.reference.cli:run"
wires.openai-chat = {env = {OPENAI_BASE_URL = "{base_url}", OPENAI_API_KEY = "{api_key}"}, suffix = "/v1"}
result = {value = "/result", failed = "/is_error"}
capabilities = ["headless", "root-return", "payload-string"]
[runtimes.mine.tools]
return = {name = "reply", payload = "/value"}
work = {name = "touch", arguments = {path = "{mark}"}}
"""
CASE = {
    "title": "A reply of mine",
    "why": "Mine.",
    "covers": ["RET-401"],
    "given": {"prompt": "Go."},
    "script": {"root": [{"calls": [{"tool": "$work"}]}, {"calls": [{"tool": "$return", "value": "x {nonce}"}]}]},
    "expect": {"result": {"status": "success", "value": "x {nonce}"}},
}


@pytest.fixture
def own(pytester, run):
    """Return a function that judges a runtime of the user's on one case of the user's."""

    def start(case):
        pytester.makefile(".toml", **{"agent-contract": CONFIG})
        (pytester.mkdir("cases") / "mine.json").write_text(json.dumps(case), "utf-8")
        return run("agent-contract::own")

    return start


def test_an_own_case_is_judged(own):
    """It is an item like any other, under a contract of its own, and has no shipped outcome to be held against."""
    result = own(CASE)
    result.assert_outcomes(passed=1)
    assert "snapshot" not in str(result.stdout)


def test_an_own_case_that_fails_is_red(own):
    """What it expects is what it is held to."""
    result = own({**CASE, "expect": {"result": {"status": "success", "value": "y"}}})
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*RET-401*"])


def test_a_wrong_own_case_is_a_usage_error(own):
    """A misspelt key stops the run before it starts: file, place, what was meant."""
    result = own({**CASE, "expct": {}})
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *mine.json: unknown key 'expct'; did you mean 'expect'?"])


def test_an_own_case_of_an_unknown_requirement_is_refused(own):
    """Before anything runs, with its place and what was probably meant."""
    result = own(CASE | {"covers": ["RET-401", "RET-999"]})
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*mine.json: /covers/1: no requirement is called RET-999. Did you mean RET-*"])
