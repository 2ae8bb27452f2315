"""Which runtime is judged, and what is refused rather than judge another."""

from __future__ import annotations

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin.runtimes import resolve
from pytest_agentcontract.reference.nulls import NULLS

TOML = """
[runtimes.{name}]
driver = "python"
entry = "my_agent:run"
wires.openai-chat = {{env = {{OPENAI_BASE_URL = "{{base_url}}"}}}}
tools.work = {{name = "touch", arguments = {{path = "{{mark}}"}}}}
capabilities = ["headless"]
"""
TABLE = {
    "driver": "python",
    "entry": "my_agent:run",
    "wires": {"openai-chat": {"env": {"OPENAI_BASE_URL": "{base_url}"}}},
    "tools": {"work": {"name": "touch", "arguments": {"path": "{mark}"}}},
    "capabilities": ["headless"],
}


@pytest.fixture
def chosen(tmp_path):
    """Return a function that resolves names in a folder and returns the names of what is to be judged."""

    def names(*asked, offered=None, ci=False):
        found = resolve(asked, root=tmp_path, offered=lambda: offered, ci=ci)
        return [profile.name for profile in found.profiles]

    return names


@pytest.fixture
def configured(tmp_path):
    """Write an agent-contract.toml with two runtimes."""
    (tmp_path / "agent-contract.toml").write_text(TOML.format(name="mine") + TOML.format(name="other"), "utf-8")


def test_with_nothing_configured_it_is_the_reference(chosen):
    """The embedded reference is the default."""
    assert chosen() == ["reference"]


def test_ones_own_comes_before_a_shipped_one(tmp_path, configured):
    """Who configures a runtime under the name of a shipped profile gets their own, named or not."""
    (tmp_path / "agent-contract.toml").write_text(TOML.format(name="smolagents"), "utf-8")
    for names in ((), ("smolagents",)):
        [profile] = resolve(names, root=tmp_path, offered=lambda: None, ci=False).profiles
        assert profile.entry == "my_agent:run"


def test_in_ci_nothing_is_judged_by_default(chosen):
    """A pipeline whose configuration got lost must not turn green."""
    with pytest.raises(UsageError, match="no runtime is named"):
        chosen(ci=True)
    assert chosen("reference", ci=True) == ["reference"]


def test_all_configured_ones_are_judged(chosen, configured):
    """The file at the rootdir decides, in CI too."""
    assert chosen(ci=True) == ["mine", "other"]


def test_a_named_one_of_several(chosen, configured):
    """A name selects; the reference can be named beside."""
    assert chosen("other") == ["other"]
    assert chosen("mine", "reference") == ["mine", "reference"]


@pytest.mark.parametrize("name", ["reference", "mutant:no-nudge", "null:silent"])
def test_a_configured_runtime_can_not_be_passed_over(chosen, configured, name):
    """Where the user has a runtime, a run that judges only the suite's own is refused."""
    with pytest.raises(UsageError, match="mine, other is configured, but not named"):
        chosen(name)


def test_the_hook_offers_runtimes(chosen):
    """Without a file the hook's tables are read like those of a file."""
    assert chosen(offered={"mine": TABLE}) == ["mine"]


def test_file_and_hook_together_are_refused(chosen, configured):
    """Two configurations: one would be left unused."""
    with pytest.raises(UsageError, match="configured twice"):
        chosen(offered={"mine": TABLE})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("zzzz", "mutant:NAME, null:NAME, module:function"),
        ("refrence", "Did you mean reference"),
        ("mutant:no-nuge", "mutant:no-nudge"),
        ("null:silence", "null:silent"),
    ],
)
def test_an_unknown_name_is_told_with_near_ones(chosen, name, hint):
    """One clear error, with what was probably meant."""
    with pytest.raises(UsageError, match="no runtime is called") as caught:
        chosen(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", NULLS)
def test_every_null_runtime_has_a_profile(chosen, name):
    """Each can be judged by name."""
    assert chosen(f"null:{name}") == [f"null:{name}"]


def test_a_function_is_a_runtime(chosen, tmp_path, monkeypatch):
    """`module:function` needs no configuration; a module that isn't there is told."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "some_agent.py").write_text("def run(start): ...\n", "utf-8")
    assert chosen("some_agent:run") == ["some_agent:run"]
    for wrong in ("some_agent:walk", "no_such_module:run"):
        with pytest.raises(UsageError, match=f"no runtime '{wrong}'"):
            chosen(wrong)


def test_the_hook_of_a_root_conftest_is_called(judge, pytester):
    """A conftest at the rootdir configures runtimes, and the first and last line name them."""
    pytester.makeconftest(f"def pytest_agentcontract_runtimes(config): return {{'mine': {TABLE!r}}}")
    result = judge()
    result.stdout.fnmatch_lines(["agent contract: judging mine (openai-chat) by requirements *"])
    assert result.outlines[-1] == "agent contract: judged mine: 2 pass; a part of the suite: 2 of 285"


def test_an_unknown_wire_format_is_told(run, verdicts):
    """A misspelt wire format would select nothing."""
    result = run("--agent-contract", "--agent-contract-wire", "openai-chats")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: no wire format 'openai-chats'*", "*Did you mean openai-chat*?"])


def test_ci_is_read_from_the_environment(judge, monkeypatch):
    """CI=true with no runtime named is a usage error."""
    monkeypatch.setenv("CI", "true")
    result = judge()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: CI is set, and no runtime is named*"])


def test_a_program_that_is_missing_is_told_once(judge, pytester):
    """Before anything runs, with what to do; not once per case."""
    command = {**TABLE, "driver": "command", "modes": {"json": ["no-such-program", "{prompt}"]}}
    del command["entry"]
    pytester.makeconftest(f"def pytest_agentcontract_runtimes(config): return {{'mine': {command!r}}}")
    result = judge()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: runtime mine: the program 'no-such-program' was not found", "*Install it*"])
