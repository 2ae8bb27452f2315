"""The harness's own share of a case: CPU of a whole in-process case less what the runtime's own thread used.

Beside it the CPU of a whole run of the suite on the reference, which is all of it: starting pytest and Python, hand-off
cases, vectors, the reference itself. No other plugin is loaded.
"""

from __future__ import annotations

import dataclasses
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
of_the_runtime: list[float] = []


def timed(start: Start) -> Result:
    """Run the reference and note the CPU that its thread used."""
    begin = time.thread_time()
    try:
        return reference(start)
    finally:
        of_the_runtime.append(time.thread_time() - begin)


def main() -> int:
    """Measure, print, and return 1 if the promise is broken."""
    profile = dataclasses.replace(load_profile.shipped()["reference"], entry="__main__:timed")
    cases = [
        case for case in load_case.shipped() if applicable(case, profile) is None and case.given.handoff is None
    ]  # a hand-off calls the runtime once for each of its invocations
    runs = [(case, wire) for case in cases for wire in profile.wires if applicable(case, profile, wire) is None]
    of_all: list[float] = []
    with Provider() as provider:
        for case, wire in [runs[0], *runs]:  # the first one imports what is imported late
            begin = time.process_time()
            run_case(case, profile, wire, provider)
            of_all.append(time.process_time() - begin)
    own = [whole - inside for whole, inside in zip(of_all[1:], of_the_runtime[1:], strict=True)]
    runtime = statistics.median(of_the_runtime[1:])
    print(f"{len(runs)} runs of {len(cases)} cases")
    report("the runtime itself (the reference), median", runtime * 1000, " ms")
    report("the harness, as a share of the runtime", statistics.median(own) / runtime, "x")
    holds = report("the harness's own share of a case, median", statistics.median(own) * 1000, " ms", LIMIT)
    with tempfile.TemporaryDirectory() as folder:
        suite = statistics.median(cpu_of(SUITE, folder) for _ in range(ROUNDS))
    return not (report("the whole suite on the reference, CPU", suite, " s", SUITE_LIMIT) and holds)


if __name__ == "__main__":
    sys.exit(main())
