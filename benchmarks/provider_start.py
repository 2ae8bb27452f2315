"""CPU time of importing and starting the scripted provider, beyond `import asyncio`, which costs what it costs."""

from __future__ import annotations

import statistics
import subprocess
import sys

from figures import environment, paired, report

ROUNDS = 15
LIMIT = 40
PROGRAM = """
from time import process_time
begin = process_time()
import asyncio
imported = process_time()
from pytest_agentcontract.provider.server import Provider
with Provider():
    started = process_time()
print(imported - begin, started - imported)
"""


def _once() -> list[float]:
    command = [sys.executable, "-c", PROGRAM]
    run = subprocess.run(command, env=environment(), check=True, capture_output=True, text=True)
    return [float(figure) for figure in run.stdout.split()]


def main() -> int:
    """Measure, print, and return 1 if the promise is broken."""
    figures = [_once() for _ in range(ROUNDS + 1)][1:]  # the first round compiles
    asyncio, provider = zip(*figures, strict=True)
    report("import asyncio", statistics.median(asyncio) * 1000, " ms")
    report("provider, as a share of import asyncio", paired(provider, asyncio), "x")
    return not report("provider: import and start", statistics.median(provider) * 1000, " ms", LIMIT)


if __name__ == "__main__":
    sys.exit(main())
