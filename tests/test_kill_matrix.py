"""Every check is shown to bite: a mutant is red on its target, and on nothing that its reviewed row does not hold."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.requirements import load
from pytest_agentcontract.reference.mutants import MUTANTS
from tests import kills

EACH_MUTANT = pytest.mark.parametrize("mutant", MUTANTS)


@EACH_MUTANT
def test_a_mutant_dies_by_the_check_of_its_target(mutant, provider):
    """On the cases that cover its target, a mutant fails the target and nothing beyond its reviewed row."""
    target, row = MUTANTS[mutant].target, kills.pinned()[mutant]
    covering = [case for case in kills.suite(mutant) if target in {cover.requirement for cover in case.covers}]
    found = kills.measure(mutant, covering, provider)
    assert target in found["fails"]
    assert set(found["fails"]) <= set(row["fails"])
    assert set(found["unverified"]) <= {*row["fails"], *row["unverified"]}


@pytest.mark.matrix
@EACH_MUTANT
def test_over_the_whole_suite_a_mutant_breaks_what_its_row_says(mutant, provider):
    """The reviewed row is what the suite finds, no more and no less."""
    assert kills.measure(mutant, kills.suite(mutant), provider) == kills.pinned()[mutant]


def test_every_must_has_a_mutant():
    """A MUST whose check was never seen to fail is not tested."""
    musts = {row.id for row in load().values() if row.level == "MUST" and not row.excluded}
    assert musts - {mutant.target for mutant in MUTANTS.values()} == set()
