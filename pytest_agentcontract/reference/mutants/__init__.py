"""The mutants by name: each the reference with exactly one decision replaced, the requirement it breaks, and how."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.reference.mutants.handoff import HANDOFF_MUTANTS
from pytest_agentcontract.reference.mutants.returning import RETURN_MUTANTS
from pytest_agentcontract.reference.rules import Rules

MUTANTS: Final = MappingProxyType({mutant.name: mutant for mutant in (*RETURN_MUTANTS, *HANDOFF_MUTANTS)})


def rules_of(name: str) -> Rules:
    """Return the rules of the mutant called `name`; raise UsageError with the known names for any other."""
    if name not in MUTANTS:
        raise UsageError(f"no mutant is called {name!r}", remedy=f"Known are {', '.join(MUTANTS)}.")
    return MUTANTS[name].rules
