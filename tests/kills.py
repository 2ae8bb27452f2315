"""The kill matrix: what each mutant breaks, and what null runtimes earn, measured over the suite and reviewed by hand.

    python tests/kills.py [MUTANT ...]      measure these, or everything, and write fixtures/kill-matrix.json

A mutant's row holds the requirements that it fails and those that can no longer be verified because of it. A row must
hold the mutant's target among `fails`, and nothing that a reader of the mutant's one sentence can't explain: the
difference that a new measurement makes is read before it is committed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache

from pytest_agentcontract import resources
from pytest_agentcontract.conformance import kill_matrix
from pytest_agentcontract.conformance.kill_matrix import KillMatrix, Row
from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.plugin.runtimes import find
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.reference.nulls import NULLS
from pytest_agentcontract.report.header import measured_on
from pytest_agentcontract.scenario import load_case, load_vectors
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile

PINNED = resources.fixtures() / "kill-matrix.json"
WIRE = "anthropic-messages"
TIME_LIMIT = 10.0
_WORKERS = 3 * (os.cpu_count() or 1)  # gates and silences make a mutant wait for most of its time


def suite(mutant: str) -> tuple[Case, ...]:
    """Return what a mutant is measured on: its own contract's cases, and the vectors where they ask for its rules.

    The rules of a hand-off have no part elsewhere; a broken return breaks hand-offs too, but says nothing new there.
    """
    handoff = MUTANTS[mutant].field.startswith("handoff.")
    cases = tuple(case for case in load_case.shipped() if (case.contract == "handoff") == handoff)
    return (*cases, *load_vectors.shipped()) if handoff else cases


def measure(mutant: str, cases: Iterable[Case], provider: Provider) -> Row:
    """Run a mutant over cases; return the requirements it fails and those left unverified. A crash is no kill."""
    profile = find(f"mutant:{mutant}", {})
    found: dict[str, set[str]] = {"fail": set(), "not-verified": set()}
    for case in cases:
        report = run_case(case, profile, WIRE, provider, timeout=TIME_LIMIT)
        assert report.observation is None or report.observation.delivery.ended != "crashed", (mutant, case.id)
        for verdict in report.verdicts:
            assert verdict.status != "error", (mutant, case.id, verdict)
            found.setdefault(verdict.status, set()).add(verdict.requirement)
    return Row(frozenset(found["fail"]), frozenset(found["not-verified"] - found["fail"]))


def earned(null: str, cases: Iterable[Case], provider: Provider) -> list[tuple[str, str]]:
    """Run a null runtime over cases, and return every MUST that it is credited with, as (case, requirement).

    It is told which case is played: a forger need not guess.
    """
    profile = find(f"null:{null}", {})
    return [
        (case.id, verdict.requirement)
        for case in cases
        for verdict in run_case(case, _knowing(profile, case), WIRE, provider).verdicts
        if verdict.status == "pass" and verdict.level == "MUST"
    ]


def _knowing(profile: Profile, case: Case) -> Profile:
    return replace(profile, settings={**profile.settings, "case": case.id})


def floor_cases(null: str) -> tuple[Case, ...]:
    """Return what a null runtime is run over: one case of each group for a program that uses its time limit up."""
    cases = load_case.shipped()
    return tuple({case.group: case for case in cases}.values()) if null == "hang" else cases


@cache
def _provider() -> Provider:
    return Provider().__enter__()  # one a process, as long as the process lives


def _mutant_row(name: str) -> Row:
    return measure(name, suite(name), _provider())


def _null_count(name: str) -> int:
    return len(earned(name, floor_cases(name), _provider()))


def main(names: list[str]) -> None:
    """Measure the named mutants, or all of them and the null runtimes; write the matrix, and say what has changed."""
    known, chosen = kill_matrix.load(), names or [*MUTANTS]
    with ProcessPoolExecutor(_WORKERS) as pool:
        measured = zip(chosen, pool.map(_mutant_row, chosen), strict=True)
        rows = {**known.mutants, **{name: _told(name, row, known.mutants.get(name)) for name, row in measured}}
        nulls = dict(known.nulls) if names else dict(zip(NULLS, pool.map(_null_count, NULLS), strict=True))
    # Digests vouch for a whole measurement: one of a few rows leaves them as they were.
    write(KillMatrix(known.inputs if names else measured_on(), rows, nulls))
    sys.stdout.write(f"null runtimes earned: {nulls}\n")


def _told(name: str, row: Row, before: Row | None) -> Row:
    """Say how a row has changed, and whether its mutant survives."""
    old = before or Row(frozenset(), frozenset())
    changes = [
        f"{sign}{requirement}{mark}"
        for mark, now, then in (("", row.fails, old.fails), ("?", row.unverified, old.unverified))
        for sign, gone in (("+", now - then), ("-", then - now))
        for requirement in sorted(gone)
    ]
    survives = "" if MUTANTS[name].target in row.fails else "  SURVIVES"
    sys.stdout.write(f"{name:40} {' '.join(changes) or 'as before'}{survives}\n")
    sys.stdout.flush()
    return row


def write(matrix: KillMatrix) -> None:
    """Write the matrix, a mutant a line, in the order of the mutants."""
    rows = [
        f"    {json.dumps(name)}: {json.dumps({'fails': sorted(row.fails), 'unverified': sorted(row.unverified)})}"
        for name, row in ((name, matrix.mutants[name]) for name in MUTANTS if name in matrix.mutants)
    ]
    head = {"inputs": matrix.inputs, "nulls": matrix.nulls}
    parts = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    PINNED.write_text("{\n" + ",\n".join(parts) + ',\n  "mutants": {\n' + ",\n".join(rows) + "\n  }\n}\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
