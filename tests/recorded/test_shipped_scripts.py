"""The shipped recordings of real clients are scripts, too."""

from __future__ import annotations

import pytest

from pytest_agentcontract import resources
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.recorded.reading import read_all
from pytest_agentcontract.recorded.script_of import imported
from pytest_agentcontract.recorded.turns import content
from tests.recorded.taking import again


@pytest.mark.parametrize("path", sorted(resources.cassettes().rglob("*.yaml")), ids=lambda path: path.stem)
def test_a_shipped_recording_is_a_script(path):
    """What real clients were told comes back whole, turn by turn; nothing is left out."""
    tape = store.load(path)
    made = imported(tape)
    assert (made.notes, len(made.kept)) == ((), len(tape.exchanges))
    assert [_heard(one) for one in again(made.script, tape)] == [_heard(one) for one in read_all(tape)]


def _heard(reading):
    """Return what a client makes of an answer; ids are new in each attempt."""
    return reading.turn if reading.fault is None else content(reading.turn), reading.fault, reading.recorded.ending
