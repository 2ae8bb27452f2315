"""Every check is shown to bite: a mutant is red on its target, and on nothing that its reviewed row does not hold."""

from __future__ import annotations

import random

import pytest

from pytest_agentcontract.conformance import kill_matrix
from pytest_agentcontract.conformance.requirements import load
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.reference.nulls import NULLS
from pytest_agentcontract.report.header import measured_on
from tests import kills

EACH_MUTANT = pytest.mark.parametrize("mutant", MUTANTS)
SAMPLE = 3


@EACH_MUTANT
def test_a_mutant_dies_by_the_check_of_its_target(mutant, provider):
    """On the cases that cover its target and a few others, it fails the target and nothing beyond its reviewed row."""
    target, row = MUTANTS[mutant].target, kill_matrix.load().mutants[mutant]
    cases = kills.suite(mutant)
    covering = [case for case in cases if target in {cover.requirement for cover in case.covers}]
    sample = random.Random(mutant).sample(cases, SAMPLE)  # noqa: S311 - the same for a mutant each time
    found = kills.measure(mutant, {case.id: case for case in (*covering, *sample)}.values(), provider)
    assert target in found.fails
    assert found.fails <= row.fails
    assert found.unverified <= row.fails | row.unverified


def test_every_must_has_a_mutant_that_dies():
    """A MUST whose check was never seen to fail is not tested."""
    musts = {row.id for row in load().values() if row.level == "MUST" and not row.excluded}
    targets = {name: mutant.target for name, mutant in MUTANTS.items()}
    assert musts - kill_matrix.load().killed(targets) == set()


def test_no_null_runtime_has_earned_a_must():
    """The floor that every report states, and each null runtime has stood on it."""
    assert kill_matrix.load().nulls == dict.fromkeys(NULLS, 0)


def test_the_matrix_was_measured_on_what_is_shipped():
    """Cases, requirements or mutants that have changed since make it stale: make kill-matrix measures it anew."""
    assert kill_matrix.load().inputs == measured_on()
    assert [*kill_matrix.load().mutants] == [*MUTANTS]
