"""An invocation of a hand-off engine: what a program and a function are told of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_agentcontract.scenario.start import HandoffPaths, Result

ARGUMENTS = ("{workflow}", "{thread}", ("--event", "{event}"))
PATHS = HandoffPaths(Path("/w.json"), Path("/thread"), Path("/e.json"))


@pytest.mark.parametrize(
    ("paths", "said"),
    [(PATHS, "/w.json /thread --event /e.json"), (replace(PATHS, event=None), "/w.json /thread")],
)
def test_a_program_is_told_by_placeholders(program, drive, paths, said):
    """Without an event its group is dropped; such a run has no result document."""
    launch = program("import sys; print(*sys.argv[1:])", *ARGUMENTS, mode="handoff")
    delivery = drive(replace(launch, handoff=paths))
    assert (delivery.stdout.strip(), delivery.exit_ok, delivery.problem) == (said, True, "")


def test_a_function_is_told_in_its_start(launcher, drive, monkeypatch):
    """By the same three paths."""
    starts = []
    engine = SimpleNamespace(run=lambda start: starts.append(start) or Result())
    monkeypatch.setitem(sys.modules, "the_engine", engine)
    launch = launcher(mode="handoff", driver="python", entry="the_engine:run")
    assert drive(replace(launch, handoff=PATHS)).exit_ok
    assert [(start.mode, start.handoff) for start in starts] == [("handoff", PATHS)]
