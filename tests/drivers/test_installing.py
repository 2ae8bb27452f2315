"""A runtime's own environment: made whole or not at all, from exact versions, without touching anything else."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from pytest_agentcontract import cli
from pytest_agentcontract.drivers import installed, installing, preparation
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.scenario.load_profile import load_tables, shipped

TABLE = {
    "driver": "command",
    "modes": {"json": ["agent-of-ours", "{prompt}"]},
    "wires": {"openai-chat": {"env": {"OPENAI_BASE_URL": "{base_url}"}}},
    "tools": {"work": {"name": "touch", "arguments": {"path": "{mark}"}}},
    "capabilities": ["headless"],
}
NPM = """#!{python}
import json, os, pathlib, sys
place = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1])
with open(os.environ["NPM_CONFIG_SEEN"], "a") as seen:
    print(json.dumps([sys.argv[1:], dict(os.environ)]), file=seen)
if "broken@1.0.0" in sys.argv:
    place.joinpath("half").touch()
    print("npm warn something", "", "npm error no such package", sep="\\n", file=sys.stderr)
    sys.exit(3)
program = place / "node_modules" / ".bin" / "agent-of-ours"
program.parent.mkdir(parents=True)
program.write_text("#!/bin/sh\\n")
program.chmod(0o700)
"""


@pytest.fixture
def profile():
    """Return a maker of profiles with an install table."""
    return lambda name="ours", **install: load_tables({name: {**TABLE, "install": install}}, "a test")[name]


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Put a stand-in for npm on PATH, an empty cache and a home; return what the stand-in was called with."""
    (tmp_path / "bin").mkdir()
    npm = tmp_path / "bin" / "npm"
    npm.write_text(NPM.format(python=sys.executable), "utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NPM_CONFIG_SEEN", str(tmp_path / "seen"))
    (tmp_path / "home").mkdir()
    return lambda: [json.loads(line) for line in (tmp_path / "seen").read_text("utf-8").splitlines()]


def test_packages_of_npm_have_a_prefix_of_their_own(profile, seen, tmp_path, monkeypatch):
    """Exact versions, in the user's cache; the installer has another home, and the user's settings of registries."""
    (tmp_path / "home" / ".npmrc").write_text("registry=http://127.0.0.1:9/", "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "a key of the user's")
    ours, told = profile(npm=["node@22.23.3", "@scope/agent@1.2.3"]), []
    assert preparation.missing_program(ours) == ("runtime ours: is not installed\n  Run: agent-contract install ours")
    assert installing.install(ours, told.append)
    [[argv, env]] = seen()
    home = env["HOME"]
    assert argv[-2:] == ["node@22.23.3", "@scope/agent@1.2.3"]
    assert home != str(tmp_path / "home")
    assert not Path(home).exists()
    assert env["NPM_CONFIG_USERCONFIG"] == str(tmp_path / "home" / ".npmrc")
    assert "OPENAI_API_KEY" not in env
    assert installed.folder(ours).parent == tmp_path / "cache" / "agent-contract" / "runtimes"
    assert installed.folder(ours).name.startswith("scope-agent-")
    assert told == ["installing node@22.23.3, @scope/agent@1.2.3"]
    assert preparation.missing_program(ours) is None


def test_what_is_there_is_left_alone(profile, seen):
    """It is made once, also for another profile of the same runtime; another version is another environment."""
    assert installing.install(profile(npm=["agent@1.2.3"]), str)
    assert not installing.install(profile(npm=["agent@1.2.3"]), str)
    assert not installing.install(profile(name="ours-best", npm=["agent@1.2.3"]), str)
    assert installing.install(profile(npm=["agent@1.2.4"]), str)
    assert len(seen()) == 2


def test_a_failed_installation_is_none(profile, seen):
    """The error repeats the installer's last words; half an environment is not used, and made anew the next time."""
    broken = profile(npm=["broken@1.0.0"])
    with pytest.raises(DriverError, match=r"failed: npm warn something / npm error no such package") as caught:
        installing.install(broken, str)
    assert "npm install --prefix" in caught.value.remedy
    assert (installed.folder(broken) / "half").exists()
    assert installed.programs(broken) == ()
    assert "is not installed" in str(preparation.missing_program(broken))
    with pytest.raises(DriverError):
        installing.install(broken, str)
    assert len(seen()) == 2


def test_a_missing_installer_is_told(profile, seen, monkeypatch):
    """With what to install."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DriverError, match="npm can't be started: No such file") as caught:
        installing.install(profile(npm=["agent@1.2.3"]), str)
    assert "Node.js" in caught.value.remedy


def test_two_at_once_make_it_once(profile, seen):
    """The second one says that it waits, and finds the work done."""
    ours, waiting, results = profile(npm=["agent@1.2.3"]), threading.Event(), []
    place = installed.folder(ours)
    place.parent.mkdir(parents=True)
    second = threading.Thread(target=lambda: results.append(installing.install(ours, lambda _: waiting.set())))
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second.start()
        assert waiting.wait(10)
        place.mkdir()
        (place / installed.READY).touch()
    second.join(10)
    assert results == [False]
    assert not Path(os.environ["NPM_CONFIG_SEEN"]).exists()


def test_an_installer_that_outlives_us_holds_the_lock(profile, seen):
    """Nobody begins anew in a folder that somebody still writes to."""
    ours = profile(npm=["agent@1.2.3"])
    with installing._alone(installed.folder(ours), "ours", str) as lock:
        other = subprocess.Popen([sys.executable, "-ISc", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,))
    waiting, done = threading.Event(), threading.Event()
    second = threading.Thread(target=lambda: (installing.install(ours, lambda _: waiting.set()), done.set()))
    second.start()
    assert waiting.wait(10)
    assert not done.is_set()
    other.communicate(b"\n")
    assert done.wait(10)


def test_a_cache_that_cannot_be_is_told(profile, seen, monkeypatch, tmp_path):
    """One error, with the way out."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(DriverError, match="can't be made: Not a directory") as caught:
        installing.install(profile(npm=["agent@1.2.3"]), str)
    assert "XDG_CACHE_HOME" in caught.value.remedy


@pytest.mark.slow
def test_packages_of_pypi_have_a_virtual_environment(profile, seen, monkeypatch, tmp_path):
    """A wheel of ours, from a folder: its program is found before others of its name."""
    wheel = tmp_path / "agent_of_ours-1.2.3-py3-none-any.whl"
    info = "agent_of_ours-1.2.3.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("agent_of_ours.py", "def main(): print('ours')\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: agent-of-ours\nVersion: 1.2.3\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: ours\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\nagent-of-ours = agent_of_ours:main\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    ours = profile(python=["agent-of-ours==1.2.3"])
    assert installing.install(ours, str)
    assert preparation.missing_program(ours) is None
    assert installed.interpreter(ours) == str(installed.folder(ours) / "bin" / "python")
    with pytest.raises(DriverError, match=r"installing agent-of-ours==1\.2\.4 failed: .*No matching distribution"):
        installing.install(profile(python=["agent-of-ours==1.2.4"]), str)


def test_a_version_that_is_not_exact_is_refused():
    """What is installed has to be the same tomorrow."""
    for wrong in ({"python": ["agent"]}, {"python": ["agent>=1"]}, {"npm": ["agent"]}, {"npm": ["agent@latest"]}, {}):
        with pytest.raises(Exception, match="install"):
            load_tables({"ours": {**TABLE, "install": wrong}}, "a test")


def test_the_command_says_what_to_do_next(seen, monkeypatch, tmp_path):
    """Where it is, and how to judge it; without a table, what to do in place of it."""
    (tmp_path / "agent-contract.toml").write_text(
        "[runtimes.ours]\ndriver = 'command'\nmodes.json = ['agent-of-ours', '{prompt}']\n"
        "wires.openai-chat = {env = {OPENAI_BASE_URL = '{base_url}'}}\n"
        "tools.work = {name = 'touch', arguments = {path = '{mark}'}}\n"
        "capabilities = ['headless']\ninstall = {npm = ['agent@1.2.3']}\n",
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    first, again = (CliRunner().invoke(cli.main, ["install", "ours"]) for _ in range(2))
    place = installed.folder(load_tables({"ours": {**TABLE, "install": {"npm": ["agent@1.2.3"]}}}, "a test")["ours"])
    assert first.stderr == "ours: installing agent@1.2.3\n"
    assert first.stdout.splitlines() == [
        f"ours is installed in {place}",
        "  judge it: pytest --agent-contract --agent-contract-runtime=ours",
    ]
    assert again.stdout.splitlines()[0] == f"ours was installed in {place}"
    refused = CliRunner().invoke(cli.main, ["install", "reference"])
    assert (refused.exit_code, "says nothing of an installation" in refused.stderr) == (4, True)
    rows = json.loads(CliRunner().invoke(cli.main, ["profiles", "--json"]).stdout)
    assert {row["profile"]: row["installed"] for row in rows if row["profile"] in ("ours", "reference")} == {
        "ours": "yes",
        "reference": "-",
    }


def test_every_framework_of_ours_can_be_installed():
    """A shipped profile that is started from an environment says what stands in it."""
    for profile in shipped().values():
        assert profile.install or profile.driver != "framework"
