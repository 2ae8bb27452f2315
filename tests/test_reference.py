"""The reference keeps both contracts: whatever applies to it passes, by every driver, on wire formats in turn."""

from __future__ import annotations

import pytest

from pytest_agentcontract.conformance.run import applicable, run_case
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.scenario import load_vectors
from pytest_agentcontract.scenario.load_case import shipped

IN_PROCESS = ("reference", "reference-tool-less")
AS_A_COMMAND = ("reference-command", "reference-tool-less-command")


def judged(name):
    """Return a wire format for each case that applies to a runtime: they take turns.

    That a case comes to the same on all of them is what `make contract` judges.
    """
    profile = find(name, {})
    spoken = [(case, [wire for wire in profile.wires if applicable(case, profile, wire) is None]) for case in shipped()]
    pairs = [(case, wires[turn % len(wires)]) for turn, (case, wires) in enumerate(spoken) if wires]
    return [pytest.param(name, case, wire, id=f"{case.id}[{name}-{wire}]") for case, wire in pairs]


def verdicts(name, case, wire, provider):
    """Run one case and return what is not a pass, in words."""
    report = run_case(case, find(name, {}), wire, provider)
    assert report.verdicts
    return [verdict for verdict in report.verdicts if verdict.status != "pass"]


@pytest.mark.parametrize(("name", "case", "wire"), [row for name in IN_PROCESS for row in judged(name)])
def test_the_reference_passes_in_process(name, case, wire, provider):
    """Called as a function, the reference passes every case that applies to it."""
    assert verdicts(name, case, wire, provider) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case", "wire"), [row for name in AS_A_COMMAND for row in judged(name)])
def test_the_reference_passes_as_a_command(name, case, wire, provider):
    """Started as a program, it passes them too."""
    assert verdicts(name, case, wire, provider) == []


HAND_OFFS = [row for row in judged("reference-stdio") if row.values[1].given.handoff]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case", "wire"), HAND_OFFS)
def test_the_reference_hands_off_behind_the_protocol(name, case, wire, provider):
    """One process that carries out every run after the other passes the hand-off cases as one process for each does."""
    assert verdicts(name, case, wire, provider) == []


def answered(name, provider):
    """Ask a runtime every vector and return what is not a pass, in words."""
    profile = find(name, {})
    reports = [run_case(row, profile, "", provider) for row in load_vectors.shipped()]
    assert all(report.verdicts for report in reports)
    return [(one.case.id, verdict) for one in reports for verdict in one.verdicts if verdict.status != "pass"]


def test_the_reference_answers_every_vector(provider):
    """Called as a function, it gives what each row asks for, at whatever level."""
    assert answered("reference", provider) == []


@pytest.mark.slow
def test_the_reference_answers_every_vector_behind_the_protocol(provider):
    """Asked line by line, it gives the same."""
    assert answered("reference-stdio", provider) == []


def test_every_case_applies_to_a_variant_of_the_reference():
    """A case that nothing runs would judge nothing. Hand-offs without an engine are for teams: tests/team.py is one."""
    ran = {row.values[1].id for name in IN_PROCESS for row in judged(name)}
    of_teams = {case.id for case in shipped() if case.expect.route and case.given.handoff is None}
    assert ran | of_teams == {case.id for case in shipped()}
