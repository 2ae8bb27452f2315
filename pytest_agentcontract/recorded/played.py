"""What the scripted provider would answer in the place of a recorded answer: played without a connection, and read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_agentcontract.cassette.exchange import Ending, Piece
from pytest_agentcontract.provider.body import rendered
from pytest_agentcontract.provider.faulted import struck
from pytest_agentcontract.provider.plan import Cut, Step, document
from pytest_agentcontract.recorded.reading import Reading, answered
from pytest_agentcontract.scenario.binding import Nonces, Places, bind_turn
from pytest_agentcontract.scenario.case import Hold, ScriptedTurn
from pytest_agentcontract.scenario.profile import Profile, ResultRule
from pytest_agentcontract.wire.faults import UNPACED, StatusFault

_NOBODY: Final = Profile("script", "command", {}, ResultRule(), frozenset())
_NOWHERE: Final = Places(Nonces("", ""), Path(), {})
_ENDINGS: Final[dict[str, Ending]] = {"fin": "closed", "rst": "reset", "clean": "whole"}


def played(entry: ScriptedTurn, reading: Reading) -> Reading:
    """Read what a script's turn would answer to the recorded request, struck by its fault if it has one."""
    steps = tuple(_steps(entry, reading))
    head, _, body = b"".join(step for step in steps if isinstance(step, bytes)).partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    answer = replace(
        reading.recorded,
        status=int(first.split()[1]) if first else 0,
        headers=tuple((name, value) for name, _, value in (line.partition(": ") for line in lines)),
        pieces=(Piece(0.0, body),) if body else (),
        ending=_ending(steps),
    )
    return answered(replace(reading, recorded=answer, turn=None, fault=None, problem=""))


def _steps(entry: ScriptedTurn, reading: Reading) -> Iterator[Step]:
    wire, fault = reading.format, entry.fault
    if isinstance(fault, StatusFault):
        yield document(fault.status, wire.encode_error(fault.status, fault.message), fault.headers)
        return
    turn = bind_turn(entry, _NOBODY, _NOWHERE, "imported")
    body = rendered(turn, reading.asked, wire, 1, chunked=False)
    if fault is None:
        yield body.whole
    else:
        yield from struck(fault, body, wire, UNPACED)


def deltas(entry: ScriptedTurn, reading: Reading) -> int:
    """Count the pieces of content in which a turn would be sent."""
    turn = bind_turn(entry, _NOBODY, _NOWHERE, "imported")
    return sum(part.delta for part in rendered(turn, reading.asked, reading.format, 1, chunked=False).parts)


def _ending(steps: tuple[Step, ...]) -> Ending:
    if any(isinstance(step, Hold) for step in steps):
        return "hung-up"
    return next((_ENDINGS[step.ending] for step in steps if isinstance(step, Cut)), "whole")
