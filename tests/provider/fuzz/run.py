"""Let hostile clients loose on one live seat after the other, and look at what they got and what they left behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from pytest_agentcontract.provider.http import Connection
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, ScriptedTurn
from pytest_agentcontract.scenario.profile import Profile, ResultRule
from pytest_agentcontract.scenario.script import Script
from pytest_agentcontract.wire.formats import FORMATS
from tests.provider.fuzz import attempts, documents, judge
from tests.provider.fuzz.clients import GOOD, Attempt, Good

AT_A_SEAT = 200
WORKERS = 4
PATIENCE = 60.0
TO_END = 10.0
"""How long a connection may take to end at our side once the client's is closed."""

MOST_GROWN = 16 * 1024
AT_ONCE = 5.0
"""How soon a good client is served, whatever else goes on: its request takes a millisecond on a quiet machine."""

_RST = struct.pack("ii", 1, 0)
_PROFILE = Profile("p", "command", {}, ResultRule(), frozenset())


@dataclass
class Tally:
    """What came of a run: attempts by kind, answers by status, and all that went wrong."""

    kinds: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    turns: int = 0
    wrong: list[str] = field(default_factory=list)
    grown: int = 0

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.kinds.items()))
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(self.statuses.items()))
        return f"{kinds}\nanswers by status: {statuses}\nturns served: {self.turns}\nmemory: {self.grown:+} KiB"


def run(seed: int, numbers: range, told: Callable[[str], object] = id) -> Tally:
    """Make the attempts of these numbers, and return what came of them; `told` hears now and then how far it is."""
    tally = Tally()
    with Provider() as provider, _complaints(tally):
        _sit(provider, seed, range(numbers.start, numbers.start), tally)
        before = _left_behind(provider)
        settled, grown = 0, 0
        for start in range(numbers.start, numbers.stop, AT_A_SEAT):
            _sit(provider, seed, range(start, min(start + AT_A_SEAT, numbers.stop)), tally)
            tally.wrong += [f"left behind: {line}" for line in _differences(before, provider)]
            if (start - numbers.start) % 10_000 == 0:
                told(f"{sum(tally.kinds.values())} made, {len(tally.wrong)} complaints {tally.wrong[:3]}")
            grown = _resident()
            settled = settled or (grown if start - numbers.start >= len(numbers) // 4 else 0)
        tally.grown = grown - settled
    if tally.grown > MOST_GROWN:
        tally.wrong.append(f"memory grew by {tally.grown} KiB after a quarter of the attempts")
    return tally


def _sit(provider: Provider, seed: int, numbers: range, tally: Tally) -> None:
    """Make some attempts at one seat, each of an agent of its own: every cursor that moves is accounted for."""
    agents = {number: f"a{number}" for number in numbers}
    turns = {agent: tuple(ScriptedTurn(text, deltas=1) for text in judge.texts(agent)) for agent in agents.values()}
    script_of = {"root": (ScriptedTurn("at once", repeat=True),), **turns}
    case = Case("", "", "", (), Given("json"), script_of, Expect())
    script = Script(case, _PROFILE, Nonces(f"n{numbers.start}", "s"), Path("runs"), strict=True)
    seat = provider.open(script, *FORMATS)
    prefix = seat.base_url.partition(str(provider.port))[2]
    made = [
        attempts.attempt(seed, number, prefix, f"[[{agent}-{script.places.nonces.public}]]")
        for number, agent in agents.items()
    ]
    with _silences(provider.port, made), ThreadPoolExecutor(WORKERS) as pool:
        talks = [one for one in made if one.ending != "silence"]
        got = dict(
            zip((one.number for one in talks), pool.map(lambda one: _talk(provider.port, one), talks), strict=True)
        )
        wrong = list(_still_serves(provider.port, prefix, script))
    wrong += _not_let_go(provider)
    try:
        exchanges = seat.close()
    except Exception as failure:  # noqa: BLE001 - whatever it is, it is what we look for
        wrong.append(f"the seat failed: {failure!r}")
        exchanges = ()
    served = Counter(exchange.agent for exchange in exchanges if exchange.kind == "turn")
    for one in made:
        data, end = got.get(one.number, (b"", "silence"))
        found = judge.Found(data, end, served[agents[one.number]])
        complaints, statuses = judge.judged(one, agents[one.number], found)
        tally.kinds[one.shape.partition(":")[0]] += 1
        tally.statuses.update(statuses)
        tally.turns += found.turns
        wrong += [f"{one.number} ({one.wire}, {one.shape}): {complaint}" for complaint in complaints]
    tally.wrong += wrong


def _talk(port: int, one: Attempt) -> tuple[bytes, str]:
    """Do what a client does; return what it got, and how the connection ended."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
        try:
            for piece in one.pieces:
                line.sendall(piece)
            if one.ending == "reset":
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST)
            if one.ending in ("reset", "hang-up"):
                return b"", one.ending
            if one.ending == "half-close":
                line.shutdown(socket.SHUT_WR)
        except TimeoutError as error:
            return got, repr(error)
        except OSError:
            pass  # refused before all was sent: there may be an answer yet
        try:
            while piece := line.recv(1 << 18):
                got += piece
                if one.ending == "wait" and judge.complete(got, one.method):
                    return got, "wait"
        except OSError as error:
            return got, repr(error) if isinstance(error, TimeoutError) else "rst"
    return got, "fin"


@contextmanager
def _silences(port: int, made: list[Attempt]) -> Iterator[None]:
    """Keep those connected who begin a request and say no more."""
    lines = []
    for one in made:
        if one.ending == "silence":
            lines.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            for piece in one.pieces:
                lines[-1].sendall(piece)
    try:
        yield
    finally:
        for line in lines:
            line.close()


def _still_serves(port: int, prefix: str, script: Script) -> Iterator[str]:
    for wire in FORMATS:
        rng = Random(wire)  # noqa: S311 - any request will do
        mark = f"[[root-{script.places.nonces.public}]]"
        document = documents.document(wire, mark, rng, stream=False)
        good = Good(wire, prefix + documents.target(wire, stream=False), document)
        begun = time.monotonic()
        got, end = _talk(port, Attempt(0, "", wire, "POST", (good.bytes(),), GOOD, "wait"))
        if b"at once" not in got or time.monotonic() - begun > AT_ONCE:
            yield f"a good request afterwards ({wire}) got {got!r} ({end}) after {time.monotonic() - begun:.1f} s"


# ---- what is left behind


def _left_behind(provider: Provider) -> dict[str, int]:
    async def tasks() -> int:
        return len(asyncio.all_tasks()) - 1

    return {
        "open files": sum(1 for _ in Path("/dev/fd").iterdir()),
        "connections": len(provider._connections),
        "tasks": asyncio.run_coroutine_threadsafe(tasks(), provider._loop).result(),
        "seats": len(provider._seats),
    }


def _differences(before: dict[str, int], provider: Provider) -> list[str]:
    """Tell what there is more of than before, once the last connections had time to end."""
    end = time.monotonic() + TO_END
    while (now := _left_behind(provider)) != before and time.monotonic() < end:
        time.sleep(0.01)
    return [f"{name}: {before[name]} before, {now[name]} now" for name in now if now[name] != before[name]]


def _not_let_go(provider: Provider) -> list[str]:
    """Tell of connections of this provider that are closed and still known to somebody, while their seat is open.

    The loop itself knows the last one for a moment after it has ended.
    """
    end = time.monotonic() + TO_END
    while provider._connections and time.monotonic() < end:
        time.sleep(0.01)
    while (count := _known(provider)) and time.monotonic() < end:
        time.sleep(0.01)
    return [f"{count} connections are never let go"] if count else []


def _known(provider: Provider) -> int:
    gc.collect()
    found = (thing for thing in gc.get_objects() if isinstance(thing, Connection))
    return sum(connection._alive is provider._connections for connection in found)


def _resident() -> int:
    """Return how much memory this process holds, in KiB; 0 where the system doesn't tell."""
    gc.collect()
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    return 0


class _Complaints(logging.Handler):
    def __init__(self, tally: Tally) -> None:
        super().__init__(logging.WARNING)
        self._tally = tally

    def emit(self, record: logging.LogRecord) -> None:
        self._tally.wrong.append(f"asyncio complained: {self.format(record)}")


@contextmanager
def _complaints(tally: Tally) -> Iterator[None]:
    """Take down what asyncio logs: exceptions that nobody caught, callbacks that failed."""
    handler, logger = _Complaints(tally), logging.getLogger("asyncio")
    logger.addHandler(handler)
    try:
        yield
        gc.collect()  # a task that nobody asked for its exception complains as it goes
    finally:
        logger.removeHandler(handler)


def main(count: int, seed: int, start: int = 0) -> int:
    """Run from the command line: how many attempts, of which seed, from which number on."""
    print(f"seed {seed}: {count} attempts from {start} on", flush=True)  # noqa: T201 - a program's output
    begun = time.monotonic()
    tally = run(seed, range(start, start + count), partial(print, flush=True))
    print(tally, f"{time.monotonic() - begun:.0f} s", *tally.wrong[:50], sep="\n")  # noqa: T201 - a program's output
    if tally.wrong:
        print(f"{len(tally.wrong)} complaints; again with: make fuzz SEED={seed} START=NUMBER COUNT=1")  # noqa: T201 - the same
    return bool(tally.wrong)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
