"""The harness's own share of a case: CPU of a whole in-process case less what the runtime's own thread used.

It has two parts: the judge's side (binding, folders, checks) and the seat, where each request is read, matched and
answered. Beside them the CPU of whole runs of the suite on the reference, over one wire format and over all: starting
pytest and Python, hand-off cases, vectors, the reference itself. No other plugin is loaded.
"""

from __future__ import annotations

import dataclasses
import gc
import statistics
import sys
import tempfile
import time

from figures import cpu_of, report

from pytest_agentcontract.conformance.run import applicable, run_case
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.reference.cli import run as reference
from pytest_agentcontract.scenario import load_case, load_profile
from pytest_agentcontract.scenario.start import Result, Start

LIMIT = 5
SUITE_LIMIT = 15
ROUNDS = 3
PLUGINS = ["--disable-plugin-autoload", "-p", "pytest_agentcontract.plugin.options", "-p", "syrupy"]
SUITE = [sys.executable, "-m", "pytest", *PLUGINS, "--agent-contract", "--agent-contract-runtime=reference", "-q"]
WIRE = "anthropic-messages"
of_the_runtime: list[float] = []


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """What one case cost, in milliseconds of CPU, and how many requests it made."""

    runtime: float
    own: float
    judge: float
    requests: int


def timed(start: Start) -> Result:
    """Run the reference and note the CPU that its thread used."""
    begin = time.thread_time()
    try:
        return reference(start)
    finally:
        of_the_runtime.append(time.thread_time() - begin)


def shares() -> list[Share]:
    """Judge every case that is no hand-off, on every wire format; a hand-off calls the runtime several times."""
    profile = dataclasses.replace(load_profile.shipped()["reference"], entry="__main__:timed")
    cases = [case for case in load_case.shipped() if case.given.handoff is None]
    runs = [(case, wire) for case in cases for wire in profile.wires if applicable(case, profile, wire) is None]
    found = []
    with Provider() as provider:
        run_case(runs[0][0], profile, runs[0][1], provider)  # imports what is imported late
        gc.freeze()  # as the suite does before its items
        for case, wire in runs:
            of_all, of_the_judge = time.process_time(), time.thread_time()
            judged = run_case(case, profile, wire, provider)
            of_all, of_the_judge = time.process_time() - of_all, time.thread_time() - of_the_judge
            runtime, seen = of_the_runtime[-1], judged.observation
            requests = len(seen.exchanges) if seen else 0
            found.append(Share(runtime * 1000, (of_all - runtime) * 1000, of_the_judge * 1000, requests))
    return found


def suite(*options: str) -> float:
    """Return the CPU seconds of a whole run, the median of some."""
    with tempfile.TemporaryDirectory() as folder:
        return statistics.median(cpu_of([*SUITE, *options], folder) for _ in range(ROUNDS))


def main() -> int:
    """Measure, print, and return 1 if the promise is broken."""
    found = shares()
    runtime = statistics.median(share.runtime for share in found)
    own = statistics.median(share.own for share in found)
    seat = [(share.own - share.judge) / share.requests for share in found if share.requests]
    print(f"{len(found)} runs, {statistics.median(share.requests for share in found):g} requests each (median)")
    report("the runtime itself (the reference), median", runtime, " ms")
    report("the harness, as a share of the runtime", own / runtime, "x")
    report("the judge's side of a case, median", statistics.median(share.judge for share in found), " ms")
    report("the seat, for each request, median", statistics.median(seat), " ms")
    holds = report("the harness's own share of a case, median", own, " ms", LIMIT)
    report("the suite on the reference, all wire formats, CPU", suite(), " s")
    one = suite(f"--agent-contract-wire={WIRE}")
    return not (report("the suite on the reference, one wire format, CPU", one, " s", SUITE_LIMIT) and holds)


if __name__ == "__main__":
    sys.exit(main())
