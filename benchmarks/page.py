"""The report page of 30 runtimes by 200 cases on two wire formats: how large it is, and how long it takes to make.

How long a browser takes to open it is told where there is one: `make page`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from figures import report as told
from synthetic import WIRES, made

from pytest_agentcontract.report.page.making import page

RUNTIMES: Final = 30
CASES: Final = 200
LARGEST: Final = 5_000_000


def main() -> int:
    """Measure, print, and return 1 if the promise is broken; a path that is named gets the page."""
    report = made(RUNTIMES, CASES)
    begin = time.process_time()
    text = page(report)
    seconds = time.process_time() - begin
    for path in sys.argv[1:]:
        Path(path).write_text(text, "utf-8")
    print(f"{RUNTIMES} runtimes by {CASES} cases by {len(WIRES)} wire formats")
    told("making the page, CPU", seconds, " s")
    return not told("the page", len(text.encode()) / 1e6, " MB", LARGEST / 1e6)


if __name__ == "__main__":
    sys.exit(main())
