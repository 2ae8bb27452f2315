"""`record` and `replay`: somebody's program on a cassette, its output, its signals and its exit status its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.cassette.journal import Journal, journal_of
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scripted import turn
from pytest_agentcontract.scripted.playbook import ONLY, Playbook, script
from pytest_agentcontract.wire.formats import FORMATS

PROGRAM = """
import json, os, sys, urllib.request
for text in sys.argv[2:]:
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        print(json.load(answer)["choices"][0]["message"]["content"], flush=True)
sys.exit(int(sys.argv[1]))
"""
WAITS = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("on", flush=True)
time.sleep(60)
"""
KEY = "sk-proj-0123456789abcdefghijklmnop"


@pytest.fixture
def provider(monkeypatch):
    """Play three turns at the base URL of the environment."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Provider() as listener:
        turns = (turn("One."), turn("Two."), turn("Three."))
        listener.open(script(Playbook({ONLY: turns})), *FORMATS, at="")
        monkeypatch.setenv("OPENAI_BASE_URL", listener.url("/v1"))
        yield listener


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """Return a function that calls the command line in an empty folder, on our program or another one."""
    monkeypatch.chdir(tmp_path)
    program = (sys.executable, "-c", PROGRAM)

    def call(*arguments, command=program, status=0, asks=("Hi",)):
        own = (str(status), *asks) if command is program else ()
        return CliRunner().invoke(cli.main, [*arguments, "--", *command, *own])

    return call


@pytest.fixture
def recorded(provider, invoke, tmp_path):
    """Record a cassette of one exchange, and return its path."""
    assert invoke("record", "-o", "tape.yaml").exit_code == 0
    return tmp_path / "tape.yaml"


def test_what_is_recorded_is_replayed(recorded, invoke, capfd, monkeypatch):
    """The program prints what it printed; it finds a key and needs no provider."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    capfd.readouterr()
    result = invoke("replay", "tape.yaml")
    assert (result.exit_code, capfd.readouterr().out) == (0, "One.\n")
    assert result.stderr == "agent-contract: tape.yaml: played as it was recorded\n"
    assert KEY not in recorded.read_text("utf-8")


def test_record_says_what_it_did(provider, invoke):
    """On stderr, for stdout is the program's."""
    result = invoke("record", asks=("Hi", "Ho"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "agent-contract: cassette.yaml: 2 exchanges recorded\n"


@pytest.mark.parametrize("asks", [(), ("Hi", "Ho"), ("Ho",)])
def test_a_replay_that_is_another_one_fails(recorded, invoke, asks):
    """Who asks for something else, for more or for nothing is told, and the exit status says so."""
    result = invoke("replay", "tape.yaml", asks=asks)
    assert result.exit_code == 1
    assert "tape.yaml: the cassette was not played as it was recorded" in result.stderr
    assert invoke("replay", "--allow-unplayed", "tape.yaml", asks=asks).exit_code == 1


def test_entries_may_be_left(provider, invoke):
    """Where that is allowed; but not all of them, which would prove nothing."""
    invoke("record", "-o", "tape.yaml", asks=("Hi", "Ho"))
    assert invoke("replay", "tape.yaml", asks=("Ho",)).exit_code == 1
    assert invoke("replay", "--allow-unplayed", "tape.yaml", asks=("Ho",)).exit_code == 0


def test_the_exit_status_is_the_programs(recorded, invoke, tmp_path):
    """A program that fails leaves its recording apart, and the good one as it was."""
    good = recorded.read_bytes()
    assert invoke("replay", "tape.yaml", status=3).exit_code == 3
    result = invoke("record", "-o", "tape.yaml", "--mode", "rewrite", status=3)
    assert result.exit_code == 3
    assert result.stderr == (
        "agent-contract: tape.failed.yaml: 1 exchange recorded; kept apart, for the program ended with 3\n"
    )
    assert recorded.read_bytes() == good
    assert "Two." in (tmp_path / "tape.failed.yaml").read_text("utf-8")


def test_a_program_that_asks_nothing_leaves_nothing(provider, invoke, tmp_path):
    """There is no cassette then, and it is said."""
    result = invoke("record", asks=())
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "agent-contract: cassette.yaml: the recording is not whole: 1 fault\n  nothing was asked"
    )
    assert result.stderr.endswith("agent-contract: cassette.yaml: nothing was written\n")
    assert not list(tmp_path.iterdir())


def test_what_an_interrupted_recording_left_is_told(provider, invoke, tmp_path):
    """It is in the cassette then, beside what was recorded now."""
    invoke("record", "-o", "first.yaml", status=0, asks=("Hi",))
    left = Journal(journal_of(tmp_path / "tape.yaml"))
    left.append(store.load(tmp_path / "first.yaml").exchanges[0])
    left.close()
    result = invoke("record", "-o", "tape.yaml", asks=("Ho",))
    assert result.stderr == (
        "agent-contract: tape.yaml: 1 exchange recorded, 1 recovered of a recording that was interrupted\n"
    )
    assert len(store.load(tmp_path / "tape.yaml").exchanges) == 2


def test_nothing_is_recorded_over_a_cassette_unasked(recorded, invoke):
    """Another file or a mode has to be named."""
    good = recorded.read_bytes()
    result = invoke("record", "-o", "tape.yaml")
    assert result.exit_code == 4
    assert result.stderr.startswith(
        "ERROR: tape.yaml: there is a cassette already\n  Name another file, or say by --mode"
    )
    assert recorded.read_bytes() == good


@pytest.mark.parametrize(
    ("arguments", "command", "said"),
    [
        (["record"], ["no-such-program"], "no-such-program can't be run: No such file or directory"),
        (["record", "--upstream", "openai"], ["true"], "--upstream openai names no provider"),
        (["record", "--upstream", "openai=ftp://host"], ["true"], "'ftp://host' is no base URL"),
        (["record", "--upstream", "opnai=http://host"], ["true"], "--upstream opnai=http://host names no provider"),
        (["record", "--mode", "rewrite", "-o", "/"], ["true"], "/: this is no file"),
        (["replay", "none.yaml"], ["true"], "none.yaml: there is no such cassette"),
    ],
)
def test_what_cannot_be_run_is_one_error(invoke, tmp_path, arguments, command, said):
    """It says what is wrong, and leaves nothing behind."""
    result = invoke(*arguments, command=command)
    assert result.exit_code == 4
    assert result.stderr.startswith("ERROR: ")
    assert said in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_signal_is_the_programs(provider, tmp_path):
    """SIGTERM to us reaches the program, and what it makes of it is our exit status."""
    command = [sys.executable, "-m", "pytest_agentcontract", "record", "--", sys.executable, "-c", WAITS]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ)
    assert running.stdout is not None
    assert running.stdout.readline() == b"on\n"
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=30)
    assert running.returncode == 7


def test_a_program_that_a_signal_ends_is_told_as_a_shell_tells_it(invoke, provider):
    """128 and the signal's number."""
    dies = (sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert invoke("record", command=dies).exit_code == 128 + signal.SIGKILL
