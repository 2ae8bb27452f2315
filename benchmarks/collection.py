"""What the plugin costs a run that does not use it: CPU of `pytest --co -q`, with and without, in alternating pairs."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from figures import cpu_of, paired, report

ROUNDS = 15
LIMIT = 1.05
PLAIN = [sys.executable, "-m", "pytest", "--co", "-q", "--disable-plugin-autoload", "-p", "no:cacheprovider"]
CANDIDATES = {"neither": [], "ours": ["-p", "pytest_agentcontract.plugin.options"], "syrupy": ["-p", "syrupy"]}


def main() -> int:
    """Measure, print, and return 1 if the promise is broken."""
    seconds: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_some.py").write_text("".join(f"def test_{n}(): pass\n" for n in range(50)))
        for _ in range(ROUNDS + 1):
            for name, plugins in CANDIDATES.items():
                seconds[name].append(cpu_of([*PLAIN, *plugins], folder))
    warm = {name: figures[1:] for name, figures in seconds.items()}  # the first round compiles
    print(f"pytest --co -q on 50 tests: {statistics.median(warm['neither']) * 1000:.0f} ms of CPU without any plugin")
    report("the same with syrupy, which we depend on", paired(warm["syrupy"], warm["neither"]), "x")
    return not report("the same with this plugin", paired(warm["ours"], warm["neither"]), "x", LIMIT)


if __name__ == "__main__":
    sys.exit(main())
