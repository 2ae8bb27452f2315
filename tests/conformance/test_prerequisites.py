"""What an unverified verdict says first: the cause, and not what follows from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.load_case import shipped
from pytest_agentcontract.scenario.profile import Binding

WIRE = "anthropic-messages"
CASE = {case.id: case for case in shipped()}["return/termination/reply-ends-the-run"]


@pytest.fixture(scope="module")
def provider():
    """Play the model for all cases of this module."""
    with Provider() as opened:
        yield opened


def reasons(profile, provider):
    """Return why the covered requirements of a case were not verified."""
    verdicts = run_case(CASE, profile, WIRE, provider).verdicts
    found = {verdict.why for verdict in verdicts if verdict.status == "not-verified"}
    assert found
    return found


def test_a_runtime_that_broke_down_at_once_is_quoted(provider):
    """Exit code and last words are said first, instead of the work that it did not do."""
    command = find("reference-command", {})
    code = "import sys; print('first', file=sys.stderr); sys.exit('can\\'t open the file')"
    argv = tuple(word for word in command.modes["json"] if not isinstance(word, str) or "{" in word)
    broken = replace(command, modes={**command.modes, "json": ("python3", "-c", code, *argv)})
    assert reasons(broken, provider) == {
        "asked: the runtime exited with 1 before it asked the model: can't open the file"
    }


def test_a_path_that_nothing_serves_is_named(provider):
    """A doubled suffix asks a place where nobody is; the reader is led to it."""
    profile = find("reference", {})
    doubled = replace(profile, wires={WIRE: replace(profile.wires[WIRE], suffix="/v1/v1")})
    report = run_case(CASE, doubled, WIRE, provider)
    (missed,) = report.observation.missed
    assert missed.startswith("POST /v1/v1/")
    assert reasons(doubled, provider) == {
        f"asked: it asked {missed}, where nothing is served: look at the wire's suffix in the profile"
    }


def test_a_withheld_turn_leads(provider):
    """A tool that is bound to a name nobody advertises is the cause of all that did not happen."""
    profile = find("reference", {})
    (reason,) = reasons(replace(profile, tools={**profile.tools, "work": Binding("Bash")}), provider)
    assert reason.startswith("clean: the next turn calls 'Bash', which this request does not advertise: ")


def test_nothing_is_said_of_a_run_that_lacks_nothing(provider):
    """A cause is named only where something is unmet."""
    profile = find("reference", {})
    report = run_case(CASE, profile, WIRE, provider)
    assert {verdict.status for verdict in report.verdicts} == {"pass"}
    assert report.observation.missed == ()
