"""What the bench adds to a third-party runtime's case: whole cases beside the runtime alone, in pairs.

The runtime alone is the time from its start (a framework's: from its fork) to its end, against the same provider; the
rest of the case is the bench's. One worker beside two is measured by the smoke tier.

    python benchmarks/profiles.py codex pydantic-ai ...     installed profiles (agent-contract install NAME)
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from figures import report

from pytest_agentcontract.conformance.run import applicable, run_case
from pytest_agentcontract.drivers import attending, command, framework, installed
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.outcome import Run
from pytest_agentcontract.drivers.pump import Process
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario import load_case, load_profile
from pytest_agentcontract.scenario.profile import Profile

LIMIT = 0.2
ROUNDS = 7
CASES = ("integrity/thin-sign-off", "return/payload/string-is-exact")
SMOKE = ("-m", "agent_contract_smoke", "-q", "-p", "no:cacheprovider")
alone: list[float] = []


def timed(launch: Launch, process: Process) -> Run:
    """Attend to a run, and note how long the runtime itself was there."""
    run = attending.attended(launch, process)
    alone.append(run.returned_at)
    return run


def main(names: list[str]) -> int:
    """Measure each profile, print, and return 1 if a promise is broken."""
    for module in (command, framework):
        vars(module)["attended"] = timed
    holds = True
    with Provider() as provider:
        for name in names:
            profile = load_profile.shipped()[name]
            if not installed.is_ready(profile):
                print(f"{name}: NOT RUN, it is not installed: agent-contract install {name}")
                continue
            holds = _added(profile, provider) and holds
            _parallel(name)
    return not holds


def _added(profile: Profile, provider: Provider) -> bool:
    wire = next(iter(profile.wires))
    case = next(case for case in load_case.shipped() if case.id in CASES and applicable(case, profile, wire) is None)
    run_case(case, profile, wire, provider)  # imports, and what a runtime does at its first start
    alone.clear()
    whole = [_seconds(partial(run_case, case, profile, wire, provider)) for _ in range(ROUNDS)]
    added = [all_of_it - own for all_of_it, own in zip(whole, alone, strict=True)]
    report(f"{profile.name}: its own run, median", statistics.median(alone), " s")
    return report(f"{profile.name}: added by the bench, median", statistics.median(added), " s", LIMIT)


def _parallel(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two = (_seconds(partial(_judge, name, workers, Path(folder))) for workers in ("0", "2"))
    report(f"{name}: the smoke tier by one worker, as a multiple of two", one / two, "x")


def _judge(name: str, workers: str, folder: Path) -> None:
    program = (sys.executable, "-m", "pytest", "--agent-contract", f"--agent-contract-runtime={name}", "-n", workers)
    subprocess.run((*program, *SMOKE), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
