"""How well the suite bites, as measured for this release: which mutant fails what, and what null runtimes earn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import as_object, as_text, loads
from pytest_agentcontract.scenario.load_handoff import words


@dataclass(frozen=True, slots=True)
class Row:
    """What a mutant breaks over its suite: the requirements it fails, and those left unverified because of it."""

    fails: frozenset[str]
    unverified: frozenset[str]


@dataclass(frozen=True, slots=True)
class KillMatrix:
    """The measured matrix.

    `inputs` are digests of what it was measured on, `nulls` counts the MUSTs that each null runtime earned.
    """

    inputs: Mapping[str, str]
    mutants: Mapping[str, Row]
    nulls: Mapping[str, int]

    def killed(self, targets: Mapping[str, str]) -> frozenset[str]:
        """Return the requirements that have failed a mutant made to break them; `targets` says which one each was."""
        rows = ((target, self.mutants.get(name)) for name, target in targets.items())
        return frozenset(target for target, row in rows if row and target in row.fails)

    @property
    def null_floor(self) -> int:
        """The most MUSTs that a runtime earned which keeps no contract."""
        return max(self.nulls.values(), default=0)


@cache
def load() -> KillMatrix:
    """Read the shipped matrix."""
    data = as_object(loads((resources.fixtures() / "kill-matrix.json").read_bytes()))
    rows = {name: as_object(row) for name, row in as_object(data["mutants"]).items()}
    return KillMatrix(
        {name: as_text(digest) for name, digest in as_object(data["inputs"]).items()},
        {name: Row(words(row["fails"]), words(row["unverified"])) for name, row in rows.items()},
        {name: count for name, count in as_object(data["nulls"]).items() if isinstance(count, int)},
    )
