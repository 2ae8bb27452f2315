"""What it takes to import and start the scripted provider, beyond `import asyncio`, which costs what it costs."""

from __future__ import annotations

import statistics
import subprocess
import sys

from figures import paired, report

ROUNDS = 15
LIMIT = 40
PROGRAM = """
from time import perf_counter
begin = perf_counter()
import asyncio
imported = perf_counter()
from pytest_agentcontract.provider.server import Provider
with Provider():
    started = perf_counter()
print(imported - begin, started - imported)
"""


def main() -> int:
    """Measure, print, and return 1 if the promise is broken."""
    command = [sys.executable, "-c", PROGRAM]
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(ROUNDS + 1)
    ]
    asyncio, provider = zip(*(map(float, run) for run in runs[1:]), strict=True)  # the first round compiles
    report("import asyncio", statistics.median(asyncio) * 1000, " ms")
    report("provider, as a share of import asyncio", paired(provider, asyncio), "x")
    return not report("provider: import and start", statistics.median(provider) * 1000, " ms", LIMIT)


if __name__ == "__main__":
    sys.exit(main())
