"""Cases of the suite, played to the reference, recorded, and made a script again: the same turns."""

from __future__ import annotations

from zlib import crc32

import pytest

from pytest_agentcontract.cassette.exchange import Recorded
from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.provider import seat
from pytest_agentcontract.provider.rendering import Renderings
from pytest_agentcontract.provider.response import steps
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.turns import content
from pytest_agentcontract.scenario import load_case, load_profile
from pytest_agentcontract.scripted.load import faults
from pytest_agentcontract.wire.formats import FORMATS
from tests.recorded.taking import again, cassette, exchange, url

WHOLE = ("faults/answer", "requests", "return/sub-agent", "return/children", "return/conversation")
"""Groups of which every case is played, of others each third one: all kinds of faults, and agents side by side."""

CASES = {
    case.id: case
    for case in load_case.shipped()
    if case.vector is None and (case.id.startswith(WHOLE) or crc32(case.id.encode()) % 3 == 0)
}


@pytest.fixture(scope="module")
def provider():
    """Play the model for all cases of this module."""
    with Provider() as opened:
        yield opened


def wire_of(case_id):
    """Let the wire formats take turns."""
    return list(FORMATS)[crc32(case_id.encode()) % len(FORMATS)]


@pytest.fixture
def recorded(provider, monkeypatch):
    """Return a function that runs a case and returns what went over the wire."""
    kept: list[Recorded] = []

    def kept_steps(answer, wire, renderings, *, chunked=True):
        asked = answer.exchange.request
        where = url(wire.NAME, asked.model, stream=asked.stream)
        request = Recorded("POST", where, (), dumps(asked.body).encode(), 0, "", (), ())
        kept.append(exchange(request, steps(answer, wire, Renderings(), chunked=False)))
        return steps(answer, wire, renderings, chunked=chunked)

    def run(case_id):
        monkeypatch.setattr(seat, "steps", kept_steps)
        run_case(CASES[case_id], load_profile.shipped()["reference"], wire_of(case_id), provider)
        return cassette(*kept)

    return run


@pytest.mark.parametrize("case_id", CASES)
def test_a_case_comes_back(recorded, case_id):
    """Each exchange is kept, and what a client makes of the script's turns is what it made of the recorded answers."""
    tape = recorded(case_id)
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
