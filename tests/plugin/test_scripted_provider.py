"""The fixture `scripted_provider` in a user's own tests: what it fails, what it leaves alone, what it costs."""

from __future__ import annotations

import sys

import pytest

ASK = """
import http.client, json, pytest
from urllib.parse import urlsplit
from pytest_agentcontract.scripted import turn

def ask(provider, path="/v1/chat/completions"):
    url = urlsplit(provider.url)
    line = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    line.request("POST", url.path + path, json.dumps(body))
    answer = line.getresponse()
    content = answer.read()
    line.close()
    return json.loads(content)["choices"][0]["message"]["content"] if answer.status == 200 else ""

"""


@pytest.fixture
def mine(pytester, run):
    """Return a function that runs a user's tests, which can `ask` the provider."""

    def start(tests, *arguments):
        pytester.makepyfile(test_mine=ASK + tests)
        return run("-p", "no:cacheprovider", *arguments)

    return start


def test_it_is_there_without_the_suite(mine):
    """No flag, no configuration: a test asks for it, plays, and is green."""
    result = mine("""
def test_it(scripted_provider):
    scripted_provider.play(turn("one"), turn("two"))
    assert [ask(scripted_provider), ask(scripted_provider)] == ["one", "two"]
""")
    result.assert_outcomes(passed=1)


def test_what_the_runtime_swallowed_fails_the_test(mine):
    """All violations in one message, without a traceback through our code."""
    result = mine("""
def test_it(scripted_provider):
    scripted_provider.play(turn("one"), turn("two"), turn("three"))
    ask(scripted_provider)
    ask(scripted_provider, "/v1/embeddings")
""")
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_it*",
            "the script was not played as written: 3 violations",
            "  nobody: POST /v1/embeddings was asked, and nothing is served there",
            "  root, turn 2 of 3 (/agents/root/1): never asked for",
            "  root, turn 3 of 3 (/agents/root/2): never asked for",
        ]
    )
    result.stdout.no_fnmatch_line("*options.py*")


def test_a_failure_of_the_tests_own_stands_beside_it(mine):
    """Neither hides the other."""
    result = mine("""
def test_it(scripted_provider):
    scripted_provider.play(turn("one"))
    assert "mine" == "yours"
""")
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*assert 'mine' == 'yours'*"])
    result.stdout.fnmatch_lines(["  root, turn 1 of 1 (/agents/root/0): never asked for"])


def test_what_verify_has_told_is_not_told_twice(mine):
    """It fails the test where it stands, as an assertion does."""
    result = mine("""
def test_it(scripted_provider):
    scripted_provider.play(turn("one"))
    scripted_provider.verify()
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*ScriptViolation: the script was not played as written: 1 violation"])


def test_tests_do_not_see_each_others_scripts(mine):
    """One listener, a URL for each: what one test leaves behind is not the next one's."""
    result = mine("""
urls = []

@pytest.mark.parametrize("text", ["one", "two"])
def test_it(scripted_provider, text):
    urls.append(scripted_provider.url)
    scripted_provider.play(turn(text))
    assert ask(scripted_provider) == text
    assert len(set(urls)) == len(urls)
    assert len({url.split("/case/")[0] for url in urls}) == 1
""")
    result.assert_outcomes(passed=2)


def test_workers_have_listeners_of_their_own(mine):
    """With pytest-xdist, each process plays for itself."""
    result = mine(
        """
@pytest.mark.parametrize("text", list("abcdefgh"))
def test_it(scripted_provider, text):
    scripted_provider.play(turn(text))
    assert ask(scripted_provider) == text
""",
        "-n",
        "2",
    )
    result.assert_outcomes(passed=8)


LATE = """
kept = []

def test_one(scripted_provider):
    scripted_provider.play(turn("one"))
    kept.append(scripted_provider)
    assert ask(scripted_provider) == "one"

def test_two(scripted_provider):
    scripted_provider.play(turn("two"))
    assert ask(scripted_provider) == "two"
    assert ask(kept[0]) == ""
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "xdist"])
def test_what_comes_after_its_test_is_told_at_the_end_and_charged_to_no_other(mine, workers):
    """A test that leaks a thread is over when its request comes; the one that runs by then is not to blame."""
    result = mine(LATE, "-p", "no:randomly", *workers)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ScriptViolation: the script was not played as written: 1 violation",
            "*POST /v1/chat/completions was asked after its test was over: test_mine.py::test_one",
        ]
    )
    result.stdout.no_fnmatch_line("*nothing is served there*")


def test_who_comes_late_is_told_so(mine):
    """For good: the official SDKs ask no second time."""
    result = mine(
        """
kept = []

def test_one(scripted_provider):
    kept.append(scripted_provider)

def test_two():
    url = urlsplit(kept[0].url)
    line = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    line.request("POST", url.path + "/v1/messages", "{}")
    answer = line.getresponse()
    assert (answer.status, answer.headers["x-should-retry"]) == (400, "false")
    assert json.load(answer)["error"]["message"] == (
        "POST /v1/messages was asked after its test was over: test_mine.py::test_one"
    )
    line.close()
""",
        "-p",
        "no:randomly",
    )
    result.assert_outcomes(passed=2, errors=1)


def test_an_async_test_is_not_in_its_way(mine):
    """The server's loop runs in a thread of its own."""
    result = mine("""
import anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
async def test_it(scripted_provider):
    scripted_provider.play(turn("one"))
    assert await anyio.to_thread.run_sync(ask, scripted_provider) == "one"
""")
    result.assert_outcomes(passed=1)


def test_merely_installed_it_loads_nothing(pytester):
    """The server, the wire formats and asyncio are for the tests that ask for the fixture."""
    pytester.makepyfile("def test_it(): pass")
    code = (
        "import sys, pytest; before = set(sys.modules);"
        "pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'pytest_agentcontract.plugin.options']);"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('pytest_agentcontract')))"
    )
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        told = pytester.run(sys.executable, "-c", code)
    loaded = told.outlines[-1]
    for part in ("provider", "scripted", "wire", "scenario", "conformance"):
        assert f"pytest_agentcontract.{part}" not in loaded
