"""The caller's side of a scripted conversation: when the next line is due, and when all has been said."""

from __future__ import annotations

from pytest_agentcontract.drivers.launch import Launch

QUIET = 0.25
"""Seconds without any request after which an agent whose turns were delivered counts as waiting for its user."""

STALLED = 5.0
"""The same for an agent that was not delivered all of its turns, and moves no more."""


class Conversation:
    """Hands out a run's lines, each when the turns that answer the one before were delivered and all is quiet."""

    def __init__(self, launch: Launch) -> None:
        self._lines = [*zip(launch.lines, launch.case.given.conversation, strict=True)]
        self._seat = launch.seat
        self._said = 0
        self._awaited = 0

    @property
    def due(self) -> bool:
        """Whether the runtime waits for its user: the first line is due at once."""
        return not self.due_in()

    def due_in(self) -> float:
        """Return for how many seconds no line can be due yet, 0 if one is; what happens meanwhile only adds to them."""
        if not self._said:
            return 0.0
        delivered, quiet = self._seat.turns_delivered("root"), self._seat.quiet_for()
        if not delivered:
            return QUIET
        left = (QUIET if delivered >= self._awaited else STALLED) - quiet
        return min(max(left, 0.0), QUIET)

    def next(self) -> str | None:
        """Return the line that is due, or None where the conversation has ended."""
        if self._said == len(self._lines):
            return None
        line, say = self._lines[self._said]
        self._said += 1
        self._awaited += say.turns
        return line
