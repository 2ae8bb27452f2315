"""What `serve` does while somebody else's process asks: show each exchange, and end in an orderly way."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from pytest_agentcontract.provider.seat import Seat
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.report.wirelog import entry

_PAUSE = 0.1
_QUIET = 2.0
_ENDING = (signal.SIGINT, signal.SIGTERM)  # the first may be inherited as ignored, the other clears nothing up

Say = Callable[[str], None]


@contextmanager
def until_interrupted(say: Say) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM end the block, and nothing else; afterwards both do what they did before."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in _ENDING}
    try:
        with suppress(KeyboardInterrupt):
            try:
                yield
            except KeyboardInterrupt:
                say("")
                raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def follow(seat: Seat, say: Say, over: Callable[[], bool]) -> None:
    """Show every exchange once it is answered, until nothing has happened for a while and it is `over`."""
    shown = 0
    while True:
        seen, quiet = seat.exchanges(), seat.quiet_for()
        answered = len(seen) if quiet else max(shown, len(seen) - 1)
        for exchange in seen[shown:answered]:
            say(harmless("\n".join(entry(exchange))))
        shown = answered
        if quiet >= _QUIET and seen and over():
            return
        time.sleep(_PAUSE)
