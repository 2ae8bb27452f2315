"""Cassettes in a user's tests: recorded once, played for ever after, and never a silent difference."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
import vcr.filters
import vcr.request
import vcr.serialize

from pytest_agentcontract.plugin import cassettes
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scripted import call, status, turn
from pytest_agentcontract.scripted.playbook import ONLY, Playbook, script
from pytest_agentcontract.wire.formats import FORMATS

LOADED_LATE = (vcr.filters, vcr.request, vcr.serialize, cassettes)
"""A run inside a test would take them away again at its end, and load others in their place."""

PAGE = Path(__file__).parents[2] / "docs" / "record-and-replay.md"
ASKS = """
import json, os, urllib.error, urllib.request

def ask(text, **more):
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()
    key = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, key)) as answer:
            return json.load(answer)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        error.close()
        raise
"""
TEST = """
from asks import ask

def test_it(agent_contract_cassette):
    assert ask("Hi") == "Hello."
"""
KEY = "sk-proj-0123456789abcdefghijklmnop"
CASSETTE = "cassettes/test_one/test_it.yaml"


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs the tests of this module text, with a provider behind them or with none."""
    pytester.makepyfile(asks=ASKS)
    pytester.makeini("[pytest]\naddopts = -p no:randomly -p no:cacheprovider")
    pytester.syspathinsert()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)

    with Provider() as provider:
        port = provider.port  # the same each time, as a provider's address is

    def start(text, *arguments, said=(), apart=False):
        pytester.makepyfile(test_one=text)
        go = pytester.runpytest_subprocess if apart else partial(pytester.runpytest_inprocess, no_reraise_ctrlc=True)
        if not said:
            return go("-q", *arguments)
        with Provider(port) as provider, monkeypatch.context() as patched:
            provider.open(script(Playbook({ONLY: tuple(said)})), *FORMATS, at="")
            patched.setenv("OPENAI_BASE_URL", provider.url("/v1"))
            patched.setenv("OPENAI_API_KEY", KEY)
            return go("-q", *arguments)

    return start


@pytest.fixture
def recorded(run, pytester):
    """Return where a cassette lies that a test has recorded."""
    run(TEST, "--agent-contract-record=once", said=[turn("Hello.")]).assert_outcomes(passed=1)
    return pytester.path / CASSETTE


def test_it_is_recorded_once_and_then_played(recorded, run):
    """A cassette stands beside the tests, holds no key, and is played without a provider, a key or an option."""
    stored = recorded.read_text("utf-8")
    assert KEY not in stored
    assert "Hello." in stored
    run(TEST).assert_outcomes(passed=1)
    run(TEST, "--agent-contract-record=once").assert_outcomes(passed=1)
    assert recorded.read_text("utf-8") == stored


def test_without_a_cassette_nothing_is_recorded_unasked(run, pytester):
    """The mode `none` is the one that holds where nothing is said; the failure says how to record."""
    result = run(TEST, said=[turn("Hello.", repeat="forever")])
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*cassettes/test_one/test_it.yaml: there is no such cassette", "*--agent-contract-record once*"]
    )
    assert not (pytester.path / "cassettes").exists()


def test_a_request_that_is_not_in_it_fails_the_test_that_swallowed_it(recorded, run):
    """The failure names the nearest entry and the place of the first difference."""
    result = run(
        TEST.replace('    assert ask("Hi") == "Hello."', '    try:\n        ask("Ho")\n    except OSError: pass')
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*is not in the cassette: entry 0 is nearest, and differs in its body at /messages/0/content",
            '*recorded: "Hi"',
            '*asked:    "Ho"',
        ]
    )


def test_what_is_not_asked_for_fails_unless_it_may_be_left(recorded, run):
    """Two answers are recorded, one is asked for; if none is, the failure says where to look."""
    two = TEST.replace('"Hello."', '"Hello."\n    assert ask("Ho") == "Bye."')
    run(two, "--agent-contract-record=rewrite", said=[turn("Hello."), turn("Bye.")]).assert_outcomes(passed=1)
    result = run(TEST)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*entry 1 was never asked for: POST http*/v1/chat/completions"])
    left = (
        "import pytest\n@pytest.mark.agent_contract_cassette('test_one/test_it', allow_unplayed=True)"
        + TEST.partition("ask\n")[2]
    )
    run(f"from asks import ask\n{left}").assert_outcomes(passed=1)
    result = run("def test_it(agent_contract_cassette): pass")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*nothing was asked*ignore_localhost=True*"])


def test_a_failed_test_keeps_its_recording_apart(recorded, run):
    """A good cassette is not overwritten by what a broken test did."""
    good = recorded.read_text("utf-8")
    result = run(TEST.replace('== "Hello."', '== "Other"'), "--agent-contract-record=rewrite", said=[turn("Worse.")])
    result.assert_outcomes(failed=1)
    assert recorded.read_text("utf-8") == good
    assert "Worse." in recorded.with_name("test_it.failed.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    "ending",
    [
        "raise KeyboardInterrupt",
        "pytest.exit('bye')",
        "pytest.skip('no')",
        "pytest.xfail('no')",
        "assert 0",
    ],
)
def test_only_what_a_passing_test_recorded_is_put_in_place(recorded, run, ending):
    """However a test ends before its end, the good cassette stays."""
    good = recorded.read_text("utf-8")
    text = "import pytest\n" + TEST.replace('assert ask("Hi") == "Hello."', f'ask("Hi")\n    {ending}')
    run(text, "--agent-contract-record=rewrite", said=[turn("Worse.")])
    assert recorded.read_text("utf-8") == good
    assert "Worse." in recorded.with_name("test_it.failed.yaml").read_text("utf-8")


def test_a_test_that_was_to_fail_and_passed_is_no_good(recorded, run):
    """A strict xfail that passes has failed."""
    good = recorded.read_text("utf-8")
    text = TEST.replace("def test", "@pytest.mark.xfail(strict=True)\ndef test")
    run(f"import pytest\n{text}", "--agent-contract-record=rewrite", said=[turn("Hello.")]).assert_outcomes(failed=1)
    assert recorded.read_text("utf-8") == good


def test_a_recording_of_nothing_is_told(run, pytester):
    """A test whose client goes elsewhere would pass, and its cassette never be there."""
    result = run("def test_it(agent_contract_cassette): pass", "--agent-contract-record=once", said=[turn("Hello.")])
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the recording is not whole: 1 fault", "*nothing was asked: is the client pointed*"])


def test_what_proves_nothing_is_told_although_entries_may_be_left(recorded, run):
    """Where nothing was asked, nothing was replayed."""
    mark = "@pytest.mark.agent_contract_cassette('test_one/test_it', allow_unplayed=True)"
    result = run(f"import pytest\n{mark}\ndef test_it(): pass")
    result.assert_outcomes(passed=1, errors=1)
    recorded.write_text("interactions: []\nversion: 1\n", "utf-8")
    result = run(f"import pytest\n{mark}\ndef test_it(): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this cassette holds nothing", "*Record it anew*"])
    result.stdout.no_fnmatch_line("*During handling*")


def test_a_secret_that_leaks_fails_the_test(run, pytester, monkeypatch):
    """What the scrubber can't take out is not written; the failure names kind and place, and shows no traceback."""
    text = TEST.replace('ask("Hi")', 'ask("c2stcHJvai1FbnZTZWNyZXRWYWwtMDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3A=")')
    result = run(text, "--agent-contract-record=once", said=[turn("Hello.")])
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*exchange 1 leaks: key in the request's body*base64*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert not (pytester.path / CASSETTE).exists()


def test_a_cassette_is_recorded_by_one_test(run, pytester):
    """Two tests may play one, but one would drop what the other has recorded; names of tests never meet by chance."""
    text = """
import pytest
from asks import ask
pytestmark = pytest.mark.agent_contract_cassette("both")
def test_it():
    assert ask("Hi") == "Hello."
def test_too():
    assert ask("Hi") == "Hello."
"""
    result = run(text, "--agent-contract-record=rewrite", said=[turn("Hello."), turn("Hello.")])
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*several tests would record this cassette", "*Give each its own*test_it, *test_too*"])
    run(text, "--agent-contract-record=rewrite", "-k", "test_it", said=[turn("Hello.")]).assert_outcomes(passed=1)
    run(text).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("mode", "said", "kept"),
    [
        ("new_episodes", [turn("New.")], ["Hello.", "New."]),
        ("all", [turn("Hello again."), turn("New.")], ["Hello again.", "New."]),
        ("rewrite", [turn("Hello again."), turn("New.")], ["Hello again.", "New."]),
    ],
)
def test_record_modes(recorded, run, mode, said, kept):
    """What a mode plays it does not ask for; what it records takes the place of what asked the same."""
    text = TEST.replace('ask("Hi") == "Hello."', '[ask("Hi"), ask("Ho")]')
    run(text, f"--agent-contract-record={mode}", said=said).assert_outcomes(passed=1)
    stored = recorded.read_text("utf-8")
    assert [word for word in ("Hello.", "Hello again.", "New.") if word in stored] == kept
    run(text).assert_outcomes(passed=1)


def test_an_error_of_the_provider_is_recorded_as_it_is(run):
    """The status that a client saw is played to it again."""
    text = TEST.replace(
        '    assert ask("Hi") == "Hello."',
        '    try:\n        ask("Hi")\n    except OSError as error:\n        assert error.code == 429',
    )
    said = [turn(fault=status(429), final=True)]
    run(text, "--agent-contract-record=once", said=said).assert_outcomes(passed=1)
    run(text).assert_outcomes(passed=1)


def test_the_mark_alone_will_do(recorded, run):
    """A marked test needs no argument; its name is a path below `cassettes`."""
    text = "import pytest\nfrom asks import ask\npytestmark = pytest.mark.agent_contract_cassette('test_one/test_it')\n"
    run(text + 'def test_it():\n    assert ask("Hi") == "Hello."').assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("'../up'", "*names no cassette*"),
        ("'/up'", "*names no cassette*"),
        ("3", "*names no cassette*"),
        ("'a', 'b'", "*names no cassette*"),
        ("'a', pace='slow'", "*pace='slow' can't be meant*"),
        ("'a', unplayed=True", "*unplayed=True can't be meant*"),
        ("'a', elide='/system'", "*elide='/system' can't be meant*"),
    ],
)
def test_a_mark_that_cannot_be_meant_is_an_error(run, mark, said):
    """It says what is wrong, and fails its own test alone."""
    text = f"import pytest\n@pytest.mark.agent_contract_cassette({mark})\ndef test_it(): pass\ndef test_other(): pass"
    result = run(text)
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines([said])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


def test_cassettes_that_no_test_plays_are_told(recorded, run, pytester):
    """An orphan is told where all tests of its module were collected; other people's cassettes are none of ours."""
    orphan = recorded.with_name("gone.yaml")
    orphan.write_bytes(recorded.read_bytes())
    recorded.with_name("stock.yaml").write_text("interactions: []\nversion: 1\n", "utf-8")
    result = run(TEST)
    result.stdout.fnmatch_lines(["*cassettes that no test plays*", str(orphan)])
    result.stdout.no_fnmatch_line("*stock.yaml*")
    run(TEST, "-k", "nothing").stdout.fnmatch_lines([str(orphan)])
    for chosen in ("test_one.py", "test_one.py::test_it"):
        run(TEST, chosen).stdout.no_fnmatch_line("*gone.yaml*")


def test_orphans_are_told_once_by_several_workers(recorded, run, pytester):
    """With pytest-xdist the workers collect, and the main process tells."""
    recorded.with_name("gone.yaml").write_bytes(recorded.read_bytes())
    pytester.makepyfile(test_one=TEST)
    result = pytester.runpytest_subprocess("-q", "-n", "2", "-p", "xdist")
    assert result.outlines.count(str(recorded.with_name("gone.yaml"))) == 1


def test_parameters_and_classes_have_cassettes_of_their_own(run, pytester):
    """A name is made of all that tells a test from the others."""
    text = """
import pytest
from asks import ask

class TestIt:
    @pytest.mark.parametrize("text", ["a/b", "c"])
    def test_each(self, agent_contract_cassette, text):
        assert ask(text)
"""
    run(text, "--agent-contract-record=once", said=[turn("One."), turn("Two.")]).assert_outcomes(passed=2)
    names = sorted(path.name for path in (pytester.path / "cassettes" / "test_one").iterdir())
    assert names == ["TestIt.test_each-a-b-c49e339d.yaml", "TestIt.test_each-c.yaml"]
    run(text).assert_outcomes(passed=2)


def _blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_example_of_the_page(run, pytester):
    """Program and test as they stand on the page: recorded, played, and told what differs in the words of the page."""
    blocks = {block.split(".py")[0][2:]: block for block in _blocks("python")}
    pytester.makepyfile(assistant=blocks["assistant"])
    said = [turn("Let me see.", call("forecast", city="Oslo")), turn("Sunny in Oslo.")]
    test = blocks["test_assistant"]
    run(test, "--agent-contract-record=once", said=said, apart=True).assert_outcomes(passed=1)
    run(test, apart=True).assert_outcomes(passed=1)
    result = run(test.replace("Oslo?", "Bergen?"), apart=True)
    result.assert_outcomes(failed=1, errors=1)
    [shown] = [block for block in _blocks("text") if "Bergen" in block]
    result.stdout.fnmatch_lines([f"*{line.partition(' is not in ')[2] or line}" for line in shown.splitlines()[1:]])
