"""The ledger: complete, in its own words' order, and every entry judged or excluded with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.checks import CHECKS
from pytest_agentcontract.conformance.invariants import INVARIANTS
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.scenario import load_case, load_vectors

LEDGER = requirements.load()
ASKED = {cover.requirement for case in load_vectors.shipped() for cover in case.covers}


def test_each_requirement_has_a_check_or_a_reason_for_having_none():
    """A sentence is checked in runs or by vectors, or excluded with a reason, and never both."""
    assert [row.id for row in LEDGER.values() if bool(row.excluded) == (row.id in {*CHECKS, *ASKED})] == []


def test_vectors_cover_nothing_unknown():
    """A misspelt id in a row would be judged by nothing."""
    assert sorted(ASKED - set(LEDGER)) == []


def test_each_check_is_of_a_requirement():
    """No check judges by a sentence that the ledger does not hold, and neither does an invariant."""
    assert set(CHECKS) <= set(LEDGER)
    assert set(INVARIANTS) <= set(CHECKS)


def test_each_checked_requirement_is_covered_by_a_shipped_case():
    """A requirement that no case covers would be a check that never speaks."""
    covered = {cover.requirement for case in load_case.shipped() for cover in case.covers}
    assert sorted(set(CHECKS) - covered) == []


def test_shipped_cases_cover_nothing_unknown():
    """A misspelt id in a case would be judged by nothing."""
    covered = {cover.requirement for case in load_case.shipped() for cover in case.covers}
    assert sorted(covered - set(LEDGER)) == []


def test_each_sentence_is_one_sentence_with_a_source():
    """A requirement can be printed beside a failure, and traced back."""
    for row in LEDGER.values():
        assert row.text.endswith("."), row.id
        assert row.source.startswith(("return contract", "hand-off contract")), row.id
        assert row.level in ("MUST", "SHOULD"), row.id


def test_where_the_source_is_silent_the_reading_is_marked():
    """Whatever the source does not say is called an interpretation."""
    assert [row.id for row in LEDGER.values() if "silent" in row.source and not row.interpretation] == []


def test_an_unknown_set_is_refused_with_the_known_ones():
    """A set is named, and a name that is none gets the list."""
    with pytest.raises(UsageError, match=r"2026\.1"):
        requirements.load("1999.1")


@pytest.mark.parametrize(
    ("id_", "with_tool", "without"), [("RET-301", True, False), ("INT-104", False, True), ("RET-702", True, True)]
)
def test_the_return_tool_decides_which_half_speaks(full, tool_less, id_, with_tool, without):
    """With a return tool the return contract judges, without one the integrity group, and some requirements always."""
    requirement = LEDGER[id_]
    assert (not requirement.inapplicable(full), not requirement.inapplicable(tool_less)) == (with_tool, without)


def test_a_requirement_is_an_immutable_value():
    """The ledger is shared by all cases of a process."""
    assert replace(LEDGER["RET-101"]) == LEDGER["RET-101"]
    with pytest.raises(TypeError):
        LEDGER["RET-101"] = LEDGER["RET-102"]
