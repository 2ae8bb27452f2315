"""Cases of the suite, played to the reference, recorded, and made a script again: the same turns."""

from __future__ import annotations

from zlib import crc32

import pytest

from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.turns import content
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scripted.load import faults
from pytest_agentcontract.wire.formats import FORMATS
from tests.recorded.taking import again

CASES = {case.id: case for case in load_case.shipped() if case.vector is None}
SAMPLE = [name for name in CASES if crc32(name.encode()) % 5 == 0]
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in CASES if name not in SAMPLE]


def wire_of(case_id):
    """Let the wire formats take turns."""
    return list(FORMATS)[crc32(case_id.encode()) % len(FORMATS)]


@pytest.mark.parametrize("case_id", [*SAMPLE, *OTHERS])
def test_a_case_comes_back(run_recorded, case_id):
    """Each exchange is kept, and what a client makes of the script's turns is what it made of the recorded answers."""
    tape = run_recorded(CASES[case_id], wire_of(case_id))
    made = imported(tape)
    if not tape.exchanges:
        assert (made.script, made.kept, made.notes) == ({}, (), ())
        return
    assert list(faults(made.script)) == []
    assert made.dropped == ()
    named = {note.number for note in made.notes}
    back = again(made.script, tape)
    for played, reading in zip(back, read_all(tape), strict=True):
        if reading.number not in named:
            assert _heard(played) == _heard(reading), reading.number


def _heard(reading):
    """Return what a client makes of an answer; ids are new in each attempt."""
    whole = reading.fault is None
    return reading.turn if whole else content(reading.turn), reading.fault, reading.recorded.ending
