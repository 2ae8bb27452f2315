"""What the plugin costs a run that does not use it: CPU of `pytest --co -q`, with and without, in alternating pairs."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from figures import cpu_of, paired, report

ROUNDS = 15
LIMIT = 1.05
PLAIN = [sys.executable, "-m", "pytest", "--co", "-q", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider"]
OURS, SYRUPY = ["-p", "no:agent_contract"], ["-p", "no:syrupy"]
CANDIDATES = {"neither": [*OURS, *SYRUPY], "ours": SYRUPY, "syrupy": OURS}


def main() -> int:
    """Measure, print, and return 1 if the promise is broken."""
    seconds: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_some.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(50)))
        for _ in range(ROUNDS + 1):
            for name, without in CANDIDATES.items():
                seconds[name].append(cpu_of([*PLAIN, *without], folder))
    warm = {name: figures[1:] for name, figures in seconds.items()}  # the first round compiles
    print(f"pytest --co -q on 50 tests: {statistics.median(warm['neither']) * 1000:.0f} ms of CPU without any of them")
    report("the same with syrupy, which we depend on", paired(warm["syrupy"], warm["neither"]), "x")
    return not report("the same with this plugin", paired(warm["ours"], warm["neither"]), "x", LIMIT)


if __name__ == "__main__":
    sys.exit(main())
