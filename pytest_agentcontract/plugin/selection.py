"""Which cases run on which runtimes and wire formats: decided before collection, so that a slip is told at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin import ROOT
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile


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
    """Return the items to be; raise UsageError for a wire format or a node id that names none."""
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
    return tuple(item for item in every if not selected or any(_matches(item.nodeid, one) for one in selected))


def near(name: str, known: Iterable[str]) -> str:
    """Return words that name what was probably meant, or all there is."""
    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"There is: {', '.join(names) or 'none'}."


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
    known = nodeids if "[" in pattern else list(_cases(nodeids))
    return UsageError(f"no case matches {pattern}", remedy=near(pattern, known))


def _cases(nodeids: Iterable[str]) -> Iterator[str]:
    yield from dict.fromkeys(nodeid.partition("[")[0] for nodeid in nodeids)
