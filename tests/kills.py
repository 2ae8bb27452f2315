"""What each mutant breaks: measured over the suite, reviewed by hand, pinned in kills.json.

    python tests/kills.py [MUTANT ...]      measure, and write what changed

A mutant's row holds the requirements that it fails and those that can no longer be verified because of it. A row must
hold the mutant's target among `fails`, and nothing that a reader of the mutant's one sentence can't explain.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.scenario import load_case, load_vectors
from pytest_agentcontract.scenario.case import Case

PINNED = Path(__file__).with_name("kills.json")
WIRE = "anthropic-messages"
TIME_LIMIT = 10.0


def suite(mutant: str) -> tuple[Case, ...]:
    """Return what a mutant is measured on: its own contract's cases, and the vectors where they ask for its rules.

    The rules of a hand-off have no part elsewhere; a broken return breaks hand-offs too, but says nothing new there.
    """
    handoff = MUTANTS[mutant].field.startswith("handoff.")
    cases = tuple(case for case in load_case.shipped() if (case.contract == "handoff") == handoff)
    return (*cases, *load_vectors.shipped()) if handoff else cases


def measure(mutant: str, cases: Iterable[Case], provider: Provider) -> dict[str, list[str]]:
    """Run a mutant over cases; return the requirements it fails and those left unverified. A crash is no kill."""
    profile = find(f"mutant:{mutant}", {})
    row: dict[str, set[str]] = {"fail": set(), "not-verified": set()}
    for case in cases:
        report = run_case(case, profile, WIRE, provider, timeout=TIME_LIMIT)
        assert report.observation is None or report.observation.delivery.ended != "crashed", (mutant, case.id)
        for verdict in report.verdicts:
            assert verdict.status != "error", (mutant, case.id, verdict)
            row.setdefault(verdict.status, set()).add(verdict.requirement)
    return {"fails": sorted(row["fail"]), "unverified": sorted(row["not-verified"] - row["fail"])}


def pinned() -> dict[str, dict[str, list[str]]]:
    """Return the reviewed rows by mutant."""
    rows: dict[str, dict[str, list[str]]] = json.loads(PINNED.read_text("utf-8"))
    return rows


def main(names: list[str]) -> None:
    """Measure the named mutants, or all of them, and write their rows."""
    rows = pinned() if PINNED.exists() else {}
    with Provider() as provider:
        for name in names or MUTANTS:
            rows[name] = measure(name, suite(name), provider)
            sys.stdout.write(f"{name:40} {' '.join(rows[name]['fails'])}\n")
    lines = [f'  "{name}": {json.dumps(rows[name])}' for name in MUTANTS if name in rows]
    PINNED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
