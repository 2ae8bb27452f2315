"""What the benchmarks share: commands timed by the CPU they use, medians, one line per figure."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
from collections.abc import Sequence


def environment() -> dict[str, str]:
    """Return this environment without the switch that makes Python compile everything anew at each start."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def cpu_of(command: Sequence[str], cwd: str) -> float:
    """Run a command to its end and return the CPU seconds that it used, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, env=environment(), check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def paired(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Return the median of the ratios, each taken inside one round."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def report(name: str, figure: float, unit: str, limit: float | None = None) -> bool:
    """Print one figure beside its limit and return whether it holds."""
    holds = limit is None or figure <= limit
    verdict = "" if limit is None else f"  limit {limit:g}{unit}: {'holds' if holds else 'EXCEEDED'}"
    print(f"{name:<58} {figure:8.2f}{unit}{verdict}")
    return holds
