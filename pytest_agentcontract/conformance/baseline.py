"""Known failures of one runtime, with reasons: an entry that matches nothing, or that passes now, is an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_agentcontract.conformance.invariants import INVARIANTS
from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.conformance.verdict import RED, VerdictStatus
from pytest_agentcontract.errors import BaselineError, UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps, loads
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.load_vectors import GROUP as VECTORS
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.scenario.schemas import complaints

_REMEDY = "A baseline to start from is written by --agent-contract-write-baseline=FILE."


@dataclass(frozen=True, slots=True)
class Known:
    """One known failure: on every wire format where `wire` is empty. A flaky one may pass, too."""

    case: str
    requirement: str
    wire: str = ""
    reason: str = ""
    flaky: bool = False

    def speaks_of(self, case: str, requirement: str, wire: str) -> bool:
        """Tell whether this entry is about a verdict."""
        return (self.case, self.requirement) == (case, requirement) and self.wire in ("", wire)


@dataclass(frozen=True, slots=True)
class Seen:
    """One verdict of a run, as the baseline needs it."""

    case: str
    requirement: str
    wire: str
    status: VerdictStatus


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline that was read: `where` is its file."""

    runtime: str
    known: tuple[Known, ...]
    where: str = ""

    def reason(self, case: str, requirement: str, wire: str) -> str:
        """Return why a failure was to be expected; empty where it was not."""
        return next((known.reason for known in self.known if known.speaks_of(case, requirement, wire)), "")

    def stale(self, seen: Iterable[Seen], whole: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Name the entries that no longer fail; `whole` lists the (case, wire format) that were judged to the end.

        An entry whose case was left out of the run is not stale, and neither is a flaky one.
        """
        red = [one for one in seen if one.status in RED]
        judged = tuple(whole)
        firm = (known for known in self.known if not known.flaky)
        return tuple(self._words(known) for known in firm if _ran(known, judged) and not _failed(known, red))

    def _words(self, known: Known) -> str:
        wire = f" on {known.wire}" if known.wire else ""
        return f"{self.where}: {known.requirement} no longer fails in {known.case}{wire}: take the entry out"


def load_baseline(path: Path, profile: Profile, cases: Sequence[Case]) -> Baseline:
    """Read a runtime's baseline; raise BaselineError for one that is wrong, another's, or speaks of what is not."""
    document = _document(path, profile, "Name that runtime, or another file.")
    known = tuple(map(_known, as_list(document["known"])))
    for number, entry in enumerate(known):
        for complaint, remedy in _unmatched(entry, profile, {case.id: case for case in cases}):
            raise BaselineError(complaint, where=f"{path}: $.known[{number}]", remedy=remedy)
    return Baseline(profile.name, known, str(path))


def kept(path: Path, profile: Profile) -> tuple[Known, ...]:
    """Return the entries of the file that a baseline is to be written to, reasons or not; raise where it can't be."""
    if not path.exists():
        return ()
    document = _document(path, profile, "It would be overwritten: name another file.")
    return tuple(map(_known, as_list(document["known"])))


def write_baseline(
    path: Path, profile: Profile, seen: Iterable[Seen], whole: Iterable[tuple[str, str]], before: Iterable[Known] = ()
) -> int:
    """Write the failures of a run as a baseline, and return how many entries there are.

    Of the entries `before`, reasons are kept, and whatever is flaky or was not judged: `whole` lists the (case, wire
    format) that were judged to the end.
    """
    old, judged = tuple(before), frozenset(whole)
    red = {(one.case, one.requirement, one.wire) for one in seen if one.status in RED and one.status != "error"}
    red |= {place for known in old for place in _places(known, profile) if known.flaky or _unseen(place, judged)}
    entries: list[JSON] = [_entry(known) for known in _gathered(red, profile, old)]
    document: JSONObject = {"runtime": profile.name, "known": entries}
    try:
        path.write_text(dumps(document, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a file.") from error
    return len(entries)


def _places(known: Known, profile: Profile) -> Iterator[tuple[str, str, str]]:
    """Yield where an entry expects a failure: a vector belongs to no wire format."""
    wires = (known.wire,) if known.wire or known.case.startswith(f"{VECTORS}/") else tuple(profile.wires)
    yield from ((known.case, known.requirement, wire) for wire in wires)


def _unseen(place: tuple[str, str, str], judged: frozenset[tuple[str, str]]) -> bool:
    case, _, wire = place
    return (case, wire) not in judged


def _gathered(red: set[tuple[str, str, str]], profile: Profile, old: Sequence[Known]) -> Iterator[Known]:
    """Yield one entry for a failure on all of the runtime's wire formats for the same reason, else one for each."""
    for case, requirement in sorted({(case, requirement) for case, requirement, _ in red}):
        wires = sorted(wire for one, name, wire in red if (one, name) == (case, requirement))
        known = [_reasoned(Known(case, requirement, wire), old) for wire in wires]
        same = len({(one.reason, one.flaky) for one in known}) == 1
        yield from [replace(known[0], wire="")] if same and set(wires) >= set(profile.wires) else known


def _reasoned(known: Known, old: Sequence[Known]) -> Known:
    """Return an entry with what was said of the failure before."""
    said = next((one for one in old if one.speaks_of(known.case, known.requirement, known.wire)), known)
    return replace(known, reason=said.reason, flaky=said.flaky)


def _entry(known: Known) -> JSONObject:
    entry: JSONObject = {"case": known.case, "requirement": known.requirement}
    entry |= {"wire": known.wire} if known.wire else {}
    entry |= {"reason": known.reason}
    return entry | ({"flaky": True} if known.flaky else {})


def _ran(known: Known, judged: Sequence[tuple[str, str]]) -> bool:
    return any(case == known.case and known.wire in ("", wire) for case, wire in judged)


def _failed(known: Known, red: Sequence[Seen]) -> bool:
    return any(known.speaks_of(one.case, one.requirement, one.wire) for one in red)


def _unmatched(known: Known, profile: Profile, cases: Mapping[str, Case]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an entry before anything has run, with the next step."""
    case = cases.get(known.case)
    if case is None:
        yield f"there is no case {known.case!r}", "agent-contract list shows them all."
        return
    if reason := applicable(case, profile, known.wire):
        yield f"{known.case} does not apply to {profile.name}: {reason}", "Take the entry out."
    covered = {cover.requirement for cover in case.covers} | set(INVARIANTS)
    if known.requirement not in covered:
        yield f"{known.case} does not judge {known.requirement}", f"It judges {', '.join(sorted(covered))}."
    if known.wire and known.wire not in profile.wires:
        yield f"{profile.name} speaks no {known.wire!r}", f"It speaks {', '.join(profile.wires)}."
    if not known.reason.strip():
        yield f"{known.requirement} in {known.case} has no reason", "Say why this failure is known."


def _known(value: JSON) -> Known:
    data = as_object(value)
    texts = {key: as_text(data.get(key)) for key in ("case", "requirement", "wire", "reason")}
    return Known(**texts, flaky=data.get("flaky") is True)


def _document(path: Path, profile: Profile, remedy: str) -> JSONObject:
    document = as_object(_read(path))
    runtime = as_text(document["runtime"])
    if runtime != profile.name:
        raise BaselineError(f"is the baseline of {runtime!r}, not of {profile.name!r}", where=str(path), remedy=remedy)
    return document


def _read(path: Path) -> JSON:
    try:
        document = loads(path.read_bytes())
    except OSError as error:
        raise BaselineError(f"can't be read: {error.strerror}", where=str(path), remedy=_REMEDY) from error
    except ValueError as error:
        raise BaselineError(f"not JSON: {error}", where=str(path), remedy=_REMEDY) from error
    for place, complaint in complaints("baseline", document):
        raise BaselineError(complaint, where=f"{path}: {place}", remedy=_REMEDY)
    return document
