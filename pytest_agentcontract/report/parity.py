"""The same case on several wire formats: what the caller gets must not depend on how the model was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.report.records import Record


@dataclass(frozen=True, slots=True)
class Parity:
    """What was compared: `cases` came to an outcome on two wires or more; `disagreements` are worded, one a case."""

    cases: int
    disagreements: tuple[str, ...]


def parity(records: Sequence[Record]) -> Parity:
    """Compare the outcomes of every case and runtime over its wires; a case without an outcome says nothing."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record["outcome"] is not None:
            found.setdefault((record["case"], record["runtime"]), []).append(record)
    several = [same for same in found.values() if len(same) > 1]
    return Parity(len(several), tuple(words for same in several if (words := _disagreement(same))))


def _disagreement(same: Sequence[Record]) -> str:
    """Say which wires agree on what; empty where all do."""
    wires: dict[str, list[str]] = {}
    for record in same:
        wires.setdefault(dumps(record["outcome"]), []).append(record["wire"])
    if len(wires) == 1:
        return ""
    first = same[0]
    sides = "; ".join(f"{', '.join(names)}: {outcome}" for outcome, names in wires.items())
    return f"{first['case']} on {first['runtime']} comes out differently by wire format: {sides}"
