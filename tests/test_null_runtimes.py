"""The floor of the suite: a runtime that keeps no contract is credited with nothing."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import pytest

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.reference.nulls import NULLS
from pytest_agentcontract.scenario.load_case import shipped
from tests import team

WITHOUT_AN_ENGINE = [case for case in shipped() if case.expect.route and case.given.handoff is None]
IN_PROCESS = sorted(set(NULLS) - {"hang"})
ONE_OF_EACH_GROUP = list({case.group: case for case in shipped()}.values())


def credited(case, profile, provider):
    """Run one case on one wire format, each in turn, and return the MUSTs that the runtime was credited with."""
    wires = [*profile.wires]
    verdicts = run_case(case, profile, wires[crc32(case.id.encode()) % len(wires)], provider).verdicts
    assert verdicts
    return [verdict for verdict in verdicts if verdict.status == "pass" and verdict.level == "MUST"]


def knowing(case, profile):
    """Return the profile with the case's id among its settings: a forger need not guess which case is played."""
    return replace(profile, settings={**profile.settings, "case": case.id})


@pytest.mark.parametrize("null", IN_PROCESS)
def test_a_null_runtime_passes_no_must(null, provider):
    """Silence, a crash, an echo, a canned envelope and replies to everything earn nothing in any case."""
    profile = find(f"null:{null}", {})
    earned = {case.id: credited(case, knowing(case, profile), provider) for case in shipped()}
    assert {case: musts for case, musts in earned.items() if musts} == {}


@pytest.mark.parametrize("null", IN_PROCESS)
def test_a_null_runtime_passes_no_must_as_a_team(null, provider):
    """Nor does it where it claims that its agents hand control to one another by themselves."""
    profile = find(f"null:{null}", {})
    claiming = team.dressed(profile)
    claiming = replace(claiming, entry=profile.entry, settings=profile.settings)
    assert WITHOUT_AN_ENGINE
    assert [case.id for case in WITHOUT_AN_ENGINE if credited(case, knowing(case, claiming), provider)] == []


@pytest.mark.parametrize("case", ONE_OF_EACH_GROUP, ids=lambda case: case.id)
def test_a_hanging_program_passes_no_must(case, provider):
    """A command that never ends is ended after its second, and earns nothing."""
    assert credited(case, find("null:hang", {}), provider) == []
