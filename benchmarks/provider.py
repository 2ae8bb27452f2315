"""The scripted provider beside its peers: CPU and answers per second under load, start-up, memory.

All servers run at once, and each measurement goes round them all before the next one begins, so that a busy machine is
busy for everybody; ratios are taken inside a round. Nothing is judged here: it prints what it saw, and what it could
not see.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from contestants import BASELINE, CONTESTANTS, OURS, Contestant, install
from question import AGENTS, Shape, body
from running import Server
from standings import CONCURRENCY, IDLE, LAST, SHAPES, START_UP, WARM, Standings, cpu, rate
from validation import UnfitError

WARM_UP: dict[Shape, int] = {"json": 320, "stream": 32}
"""So many answers each server has given when its memory is looked at."""

_LONGEST = 60.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Plan:
    """How often everything is measured, and for how long each time."""

    rounds: int
    seconds: float


QUICK, FULL = Plan(2, 0.5), Plan(5, 2.0)


class Contest:
    """The servers that take part, and what is known of them so far."""

    def __init__(self, cache: Path, only: list[str]) -> None:
        self.standings = Standings()
        self._folders: dict[Contestant, Path] = {}
        self.standings.remarks += [f"{c.title}: {c.note}" for c in CONTESTANTS if c.note]
        for contestant in CONTESTANTS:
            if only and contestant.name not in only:
                self._leave_out(contestant, "not asked for")
                continue
            with self._excusing(contestant):
                self._folders[contestant] = install(contestant, cache)

    def round(self, turn: int, plan: Plan) -> None:
        """Start all servers, measure each in its turn, end them."""
        with ExitStack() as running:
            servers = [*self._started(running, turn)]
            for number, (shape, lines) in enumerate((shape, lines) for shape in SHAPES for lines in CONCURRENCY):
                for server in _rotated(self._fit(servers), turn + number):
                    with self._excusing(server.contestant):
                        self._measure(server, turn, shape, lines, plan.seconds)
            for server in self._fit(servers):
                self.standings.add(LAST, server.contestant.name, turn, server.memory())

    def _started(self, running: ExitStack, turn: int) -> Iterator[Server]:
        for contestant, folder in _rotated([*self._folders.items()], turn):
            with self._excusing(contestant):
                server = running.enter_context(Server(contestant, folder))
                for shape, most in WARM_UP.items():
                    server.load(shape, 16, _LONGEST, most)
                self.standings.add(START_UP, contestant.name, turn, server.start_up * 1000)
                self.standings.add(IDLE, contestant.name, turn, server.idle)
                self.standings.add(WARM, contestant.name, turn, server.memory())
                yield server

    def _fit(self, servers: list[Server]) -> list[Server]:
        return [server for server in servers if server.contestant in self._folders]

    def _measure(self, server: Server, turn: int, shape: Shape, lines: int, seconds: float) -> None:
        name, load = server.contestant.name, server.load(shape, lines, seconds)
        self.standings.add(cpu(shape, lines), name, turn, load.cpu / load.answers * 1000)
        self.standings.add(rate(shape, lines), name, turn, load.answers / load.seconds)

    @contextmanager
    def _excusing(self, contestant: Contestant) -> Iterator[None]:
        """Leave a server out that can't be measured, and say so."""
        try:
            yield
        except UnfitError as excuse:
            self._leave_out(contestant, str(excuse))

    def _leave_out(self, contestant: Contestant, why: str) -> None:
        self._folders.pop(contestant, None)
        self.standings.remarks.append(f"NOT RUN: {contestant.title}: {why}")


def _rotated(things: list[_T], by: int) -> list[_T]:
    at = by % max(1, len(things))
    return things[at:] + things[:at]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    options.add_argument("--cache", type=Path, help="keep the peers' packages here (else they go where they came from)")
    options.add_argument("--only", nargs="+", default=[], metavar="SERVER", help="leave the other servers out")
    asked = options.parse_args()
    plan = QUICK if asked.quick else FULL
    with tempfile.TemporaryDirectory() as passing:
        contest = Contest((asked.cache or Path(passing)).resolve(), asked.only)
        begun, busy = time.monotonic(), os.getloadavg()[0]
        for turn in range(plan.rounds):
            contest.round(turn, plan)
    seconds = time.monotonic() - begun
    print(
        f"{plan.rounds} rounds of {plan.seconds:g} s each in {seconds:.0f} s; requests of {len(body(0, 'json'))} bytes"
    )
    print(f"{os.cpu_count()} processors, load average {busy:.1f} before and {os.getloadavg()[0]:.1f} after")
    print(f"median (best) ratio to {BASELINE} within a round; * is the best median")
    print(f"{OURS}: matching is on, {AGENTS} agents are told apart")
    print(f"MB warm: after {WARM_UP['json']} JSON answers and {WARM_UP['stream']} streams")
    contest.standings.show()


if __name__ == "__main__":
    main()
