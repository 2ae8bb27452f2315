"""The ledger: every requirement with its level, its sentence and where it comes from, in frozen named sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import as_list, as_object, loads
from pytest_agentcontract.resources import fixtures
from pytest_agentcontract.scenario.case import Level
from pytest_agentcontract.scenario.profile import Profile

CURRENT = "2026.1"
"""The newest set. A set never changes once it was released: new requirements join the next one."""

Judges: TypeAlias = Literal["return-tool", "no-return-tool", "handoff", "any-handoff", "every-runtime"]

_HANDING_ON = frozenset({"handoff", "transfer", "agents-as-tools"})
"""By any of these one agent hands control to another: through an engine's sentinels, or the runtime's own tools."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One numbered sentence. `interpretation` says that the source is silent there and why it was read this way.

    `judges` names the runtimes it speaks of; `excluded` says why no check exists for it. `wires`, if
    any, are the wire formats that it speaks of.
    """

    id: str
    group: str
    level: Level
    text: str
    source: str
    judges: Judges = "return-tool"
    interpretation: str = ""
    excluded: str = ""
    wires: tuple[str, ...] = ()

    def inapplicable(self, profile: Profile, wire: str = "") -> str:
        """Say why this requirement does not speak of that runtime, on that wire format; an empty text: it does."""
        if wire and self.wires and wire not in self.wires:
            return f"{wire} has nothing of the kind"
        if self.judges == "return-tool" and not profile.returns:
            return "the profile declares no return tool"
        if self.judges == "no-return-tool" and profile.returns:
            return "the profile declares a return tool, so the return contract judges"
        if self.judges == "handoff" and "handoff" not in profile.capabilities:
            return "the profile does not declare handoff"
        if self.judges == "any-handoff" and not profile.capabilities & _HANDING_ON:
            return f"the profile declares none of {', '.join(sorted(_HANDING_ON))}"
        return ""


@cache
def load(name: str = CURRENT) -> Mapping[str, Requirement]:
    """Read a requirement set by its name; the ids are in the ledger's order."""
    path = fixtures() / "requirements" / f"{name}.json"
    if name not in names():
        message = f"no requirement set is called {name!r}"
        raise UsageError(message, remedy=f"Known sets: {', '.join(names())}.")
    document = as_object(loads(path.read_bytes()))
    rows: list[dict[str, Any]] = [dict(as_object(row)) for row in as_list(document["requirements"])]
    found = [Requirement(**{**row, "wires": tuple(row.get("wires", ()))}) for row in rows]
    return MappingProxyType({requirement.id: requirement for requirement in found})


def names() -> tuple[str, ...]:
    """Return the names of all shipped sets, oldest first."""
    return tuple(sorted(path.stem for path in (fixtures() / "requirements").glob("*.json")))
