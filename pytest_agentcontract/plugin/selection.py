"""Which cases run on which runtimes and wire formats: decided before collection, so that a slip is told at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin import ROOT
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.load_vectors import GROUP as VECTORS
from pytest_agentcontract.scenario.profile import Profile

_SEPARATOR = re.compile("::|/")


@dataclass(frozen=True, slots=True)
class Planned:
    """One item to be: a case on a runtime over a wire format, or a vector on a runtime: that has no wire format."""

    case: Case
    profile: Profile
    wire: str

    @property
    def contract(self) -> str:
        """The first folder of the case's id: the group that it is collected in."""
        return self.case.contract

    @property
    def name(self) -> str:
        """The item's name: the rest of the case's id, with the runtime and the wire format in brackets."""
        where = f"{self.profile.name}-{self.wire}" if self.wire else self.profile.name
        return f"{self.case.id.partition('/')[2]}[{where}]"

    @property
    def nodeid(self) -> str:
        """The item's node id."""
        return f"{ROOT}::{self.contract}::{self.name}"


def plan(
    cases: Sequence[Case], profiles: Sequence[Profile], wires: Sequence[str], selected: Sequence[str]
) -> tuple[Planned, ...]:
    """Return the items to be; raise UsageError for a wire format or a node id that names none.

    Vectors are left out for a runtime that is no hand-off engine, unless they are asked for.
    """
    _known_wires(profiles, wires)
    every = [
        Planned(case, profile, wire)
        for case in cases
        for profile in profiles
        for wire in (profile.wires if case.vector is None else ("",))
        if not wires or not wire or wire in wires
    ]
    for pattern in selected:
        if not any(_matches(item.nodeid, pattern) for item in every):
            raise _unknown(pattern, [item.nodeid for item in every])
    chosen = (item for item in every if not selected or any(_matches(item.nodeid, one) for one in selected))
    return tuple(item for item in chosen if _speaks(item) or any(map(_asks_a_vector, selected)))


def near(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return words that name what was probably meant, else `otherwise`, or all there is."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else otherwise or f"There is: {', '.join(names) or 'none'}."


def _speaks(item: Planned) -> bool:
    """Tell whether an item is worth its line: a runtime that takes no part in hand-offs has a case to say so."""
    return item.case.vector is None or ("handoff" in item.profile.capabilities and bool(item.profile.adapter))


def _asks_a_vector(pattern: str) -> bool:
    return pattern.startswith(f"{ROOT}::{VECTORS.replace('/', '::', 1)}")


def _known_wires(profiles: Sequence[Profile], wires: Sequence[str]) -> None:
    spoken = {wire for profile in profiles for wire in profile.wires}
    for wire in wires:
        if wire not in spoken:
            names = ", ".join(profile.name for profile in profiles)
            raise UsageError(f"no wire format {wire!r} in the profile of {names}", remedy=near(wire, spoken))


def _matches(nodeid: str, pattern: str) -> bool:
    """Tell whether a node id is `pattern`, or lies below it: a folder, or a case on every runtime."""
    return pattern in (nodeid, ROOT) or nodeid.startswith((f"{pattern}::", f"{pattern}/", f"{pattern}["))


def _unknown(pattern: str, nodeids: Sequence[str]) -> UsageError:
    """Look for near names on the level of the pattern first: a group, a folder of cases, a case, an item."""
    known = set(nodeids) if "[" in pattern else set(_beginnings(nodeids))
    depth = len(_SEPARATOR.findall(pattern))
    level = {name for name in known if len(_SEPARATOR.findall(name)) == depth}
    head = f"{ROOT}::"
    close = difflib.get_close_matches(
        pattern.removeprefix(head), [name.removeprefix(head) for name in sorted(level or known)], n=3, cutoff=0.5
    )
    meant = f"Did you mean {' or '.join(head + name for name in close)}?"
    return UsageError(f"no case matches {pattern}", remedy=meant if close else "agent-contract list shows them all.")


def _beginnings(nodeids: Iterable[str]) -> Iterator[str]:
    """Yield everything that a node id can be cut to: its group, each folder, the case."""
    for case in {nodeid.partition("[")[0] for nodeid in nodeids}:
        yield case
        yield from (case[: found.start()] for found in _SEPARATOR.finditer(case) if found.start() > len(ROOT))
