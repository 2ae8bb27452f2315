"""Known failures of one runtime, with reasons: an entry that matches nothing, or that passes now, is an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_agentcontract.conformance.invariants import INVARIANTS
from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.conformance.verdict import RED, VerdictStatus
from pytest_agentcontract.errors import BaselineError, UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, dumps, loads
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.scenario.schemas import complaints

_REMEDY = "A baseline to start from is written by --agent-contract-write-baseline FILE."


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
    document = as_object(_read(path))
    runtime = as_text(document["runtime"])
    if runtime != profile.name:
        message = f"is the baseline of {runtime!r}, not of {profile.name!r}"
        raise BaselineError(message, where=str(path), remedy="Name that runtime, or another file.")
    known = tuple(map(_known, as_list(document["known"])))
    for number, entry in enumerate(known):
        for complaint, remedy in _unmatched(entry, profile, {case.id: case for case in cases}):
            raise BaselineError(complaint, where=f"{path}: $.known[{number}]", remedy=remedy)
    return Baseline(runtime, known, str(path))


def write_baseline(path: Path, profile: Profile, seen: Iterable[Seen], before: Baseline | None = None) -> int:
    """Write the failures of a run as a baseline, and return how many; reasons that were given before are kept."""
    red = {(one.case, one.requirement, one.wire) for one in seen if one.status in RED and one.status != "error"}
    entries: list[JSON] = [_entry(known, before) for known in _gathered(red, profile)]
    document: JSONObject = {"runtime": profile.name, "known": entries}
    try:
        path.write_text(dumps(document, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a file.") from error
    return len(entries)


def _gathered(red: set[tuple[str, str, str]], profile: Profile) -> Iterator[Known]:
    """Yield one entry for a failure on all of the runtime's wire formats, else one for each."""
    for case, requirement in sorted({(case, requirement) for case, requirement, _ in red}):
        wires = [wire for wire in profile.wires if (case, requirement, wire) in red]
        # A vector belongs to no wire format, so that its failure is on none of them.
        named = wires if 0 < len(wires) < len(profile.wires) else [""]
        yield from (Known(case, requirement, wire) for wire in named)


def _entry(known: Known, before: Baseline | None) -> JSONObject:
    old = before.known if before else ()
    kept = next((one for one in old if one.speaks_of(known.case, known.requirement, known.wire)), known)
    entry: JSONObject = {"case": known.case, "requirement": known.requirement}
    entry |= {"wire": known.wire} if known.wire else {}
    entry |= {"reason": kept.reason}
    return entry | ({"flaky": True} if kept.flaky else {})


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
    if reason := applicable(case, profile):
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
