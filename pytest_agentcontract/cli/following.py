"""What `serve` does while somebody else's process asks: show each exchange, and end in an orderly way."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_agentcontract.provider.seat import Seat
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.report.wirelog import entry

_PAUSE = 0.1
_QUIET = 2.0
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Say = Callable[[str], None]


@dataclass(slots=True)
class Interruption:
    """Whether somebody has asked for the end."""

    heard: bool = False


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Take note of Ctrl-C, SIGTERM and SIGHUP in place of dying of them, from here to the end of the process.

    After the block nothing is left but to sum up and to exit: they stay without effect for this thread, since who
    ends a process group often sends two. A SIGHUP that was ignored before, as by nohup, says nothing.
    """
    interruption = Interruption()

    def hear(_number: int, _frame: object) -> None:
        interruption.heard = True

    for number in _ENDING:
        # SIGINT is ignored in whatever a script starts in the background; there, too, it is meant.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, hear)
    try:
        yield interruption
    finally:
        # Blocked and not ignored: on its way out Python gives each handler back to the system, which kills.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def follow(seat: Seat, say: Say, ended: Callable[[], bool], over: Callable[[], bool]) -> None:
    """Show every exchange once it is answered, until it is `ended`, or nothing has happened for a while and `over`."""
    shown = 0
    while not ended():
        seen, quiet = seat.exchanges(), seat.quiet_for()
        answered = len(seen) if quiet else max(shown, len(seen) - 1)
        for exchange in seen[shown:answered]:
            say(harmless("\n".join(entry(exchange))))
        shown = answered
        if quiet >= _QUIET and seen and over():
            return
        time.sleep(_PAUSE)
    say("")
