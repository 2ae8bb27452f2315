"""What a runtime is started with holds nothing that it must take from the model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_agentcontract.conformance.run import applicable, run_case
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.reference import nulls
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.load_case import shipped
from pytest_agentcontract.scenario.start import Result
from tests import team

PUBLIC, SECRET = "0f0f0f0f0f0f", "5ec2e75ec2e7"
CASES = [case for case in shipped() if case.script]
ONE_OF_EACH_GROUP = list({case.group: case for case in CASES}.values())
SHOW_ALL = """
import os, pathlib, sys
print(sys.argv, dict(os.environ))
for folder in (".", os.environ["HOME"]):
    for path in pathlib.Path(folder).rglob("*"):
        print(path, path.read_bytes() if path.is_file() else "")
"""


@pytest.fixture(scope="module")
def provider():
    """Play the model for all cases of this module."""
    with Provider() as opened:
        yield opened


@pytest.fixture(autouse=True)
def _known_nonces(monkeypatch):
    monkeypatch.setattr(Nonces, "fresh", lambda: Nonces(PUBLIC, SECRET))


def contents(*folders):
    """Return the names and contents of all files below some folders."""
    found = [path for folder in folders for path in Path(folder).rglob("*")]
    return [(str(path), path.read_bytes().decode() if path.is_file() else "") for path in found]


def fitting(case, kind=""):
    """Return the variant of the reference to which a case applies, if need be the one dressed as a team."""
    variants = [find(f"{name}{kind}", {}) for name in ("reference", "reference-tool-less")]
    profiles = (*variants, team.dressed(variants[1]))
    return next(profile for profile in profiles if applicable(case, profile) is None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_python_runtime_is_given_no_secret(case, provider, monkeypatch):
    """Neither its arguments, its environment, its first line nor any file holds the secret or the name of a mark."""
    told = []

    def spy(start):
        line = start.read_line() if start.mode == "interactive" else ""
        told.append(repr((start, dict(start.env), line, contents(start.workdir.parent))))
        return Result()

    monkeypatch.setattr(nulls, "run", spy)
    spied = {"entry": "pytest_agentcontract.reference.nulls:run", "settings": {}}
    run_case(case, replace(fitting(case), **spied), "anthropic-messages", provider)
    assert PUBLIC in told[0]
    assert not [one for one in told if SECRET in one or "mark-" in one]


@pytest.mark.parametrize("case", ONE_OF_EACH_GROUP, ids=lambda case: case.id)
def test_a_program_is_given_no_secret(case, provider):
    """Neither its command line, its environment nor any file holds the secret or the name of a mark."""
    command = fitting(case, "-command")
    modes = {
        mode: (sys.executable, "-ISc", SHOW_ALL, *[word for word in words if not isinstance(word, str) or "{" in word])
        for mode, words in command.modes.items()
    }
    shown = run_case(case, replace(command, modes=modes), "anthropic-messages", provider).observation
    first = shown.invocations[0].delivery if shown.invocations else shown.delivery
    assert PUBLIC in first.stdout
    assert SECRET not in first.stdout
    assert "mark-" not in first.stdout


def test_a_driver_is_handed_the_public_value_alone(provider, monkeypatch):
    """What a driver names a run by (its key, its variable, a profile's placeholder) is known to the runtime anyway."""
    launched = []
    monkeypatch.setattr(Launch, "environment", property(lambda launch: launched.append(launch.values()) or {}))
    run_case(ONE_OF_EACH_GROUP[0], fitting(ONE_OF_EACH_GROUP[0]), "anthropic-messages", provider)
    assert launched[0]["nonce"] == PUBLIC
    assert SECRET not in repr(launched)
