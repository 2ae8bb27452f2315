"""What there is to judge by and to be judged: cases, requirements, runtimes and mutants, as rows."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from pytest_agentcontract.conformance import kill_matrix, requirements
from pytest_agentcontract.conformance.checks import CHECKS
from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.drivers import installed
from pytest_agentcontract.jsonvalue import JSON, as_list
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.report.header import measured_on
from pytest_agentcontract.report.text import indented
from pytest_agentcontract.scenario import load_case, load_profile, load_vectors
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile

Row: TypeAlias = Mapping[str, JSON]
Profiles: TypeAlias = Mapping[str, Profile]


def cases(*_: Profiles) -> list[Row]:
    """Return a row per shipped case."""
    return [
        {"case": case.id, "covers": [cover.requirement for cover in case.covers], "title": case.title}
        for case in load_case.shipped()
    ]


def ledger(*_: Profiles) -> list[Row]:
    """Return a row per requirement of the current set."""
    return [
        {"requirement": row.id, "level": row.level, "group": row.group, "text": row.text}
        for row in requirements.load().values()
    ]


def runtimes(configured: Profiles, nulls: Profiles) -> list[Row]:
    """Return a row per runtime: the user's, then the shipped ones, the null ones last."""
    return [
        {"runtime": name, "driver": profile.driver, "wires": list(profile.wires), "yours": name in configured}
        for name, profile in {**configured, **load_profile.shipped(), **nulls}.items()
    ]


def profiles(configured: Profiles, origin: str) -> list[Row]:
    """Return a row per profile, and what it says of its runtime: first the user's, which come from `origin`."""
    return [
        {
            "profile": name,
            "driver": profile.driver,
            "from": origin if name in configured else "shipped",
            "installed": _installed(profile),
            "wires": list(profile.wires),
            "tools": {part: binding.name for part, binding in profile.tools.items()},
            "capabilities": [*sorted(profile.capabilities)],
        }
        for name, profile in {**configured, **load_profile.shipped(), **configured}.items()
    ]


def _installed(profile: Profile) -> str:
    """Say whether a runtime that we can install is; of others it is not ours to know."""
    if not profile.install:
        return "-"
    return "yes" if installed.is_ready(profile) else "no"


def mutants(*_: Profiles) -> list[Row]:
    """Return a row per mutant of the reference."""
    return [
        {"runtime": f"mutant:{name}", "breaks": mutant.target, "of": mutant.base, "how": mutant.breaks}
        for name, mutant in MUTANTS.items()
    ]


def coverage(*_: Profiles) -> list[Row]:
    """Return a row per requirement: how many cases and vectors judge it, and how many mutants are made to break it.

    Vectors are compared field by field, which is a check of its own.
    """
    by_case, by_vector = _counted(load_case.shipped()), _counted(load_vectors.shipped())
    broken = Counter(mutant.target for mutant in MUTANTS.values())
    return [
        {
            "requirement": row.id,
            "level": row.level,
            "cases": by_case[row.id],
            "vectors": by_vector[row.id],
            "checks": (row.id in CHECKS) + (by_vector[row.id] > 0),
            "mutants": broken[row.id],
            "excluded": row.excluded,
        }
        for row in requirements.load().values()
    ]


def totals(rows: Sequence[Row]) -> str:
    """Sum coverage up: what is judged at all, and what has been shown to bite."""
    judged = [row for row in rows if row["checks"] and (row["cases"] or row["vectors"])]
    excluded = [row for row in rows if row["excluded"]]
    musts = [row for row in rows if row["level"] == "MUST"]
    matrix = kill_matrix.load()
    killed = matrix.killed({name: mutant.target for name, mutant in MUTANTS.items()})
    changed = [name for name, digest in measured_on().items() if matrix.inputs.get(name) != digest]
    stale = f"\n{', '.join(changed)}: changed since the mutants were measured: `make kill-matrix`" if changed else ""
    bitten = [row for row in musts if row["requirement"] in killed]
    return (
        f"{len(rows)} requirements: {len(judged)} with a check and a case, {len(excluded)} excluded with a reason; "
        f"{len(musts)} MUSTs: {len(bitten)} with a killed mutant; null floor {matrix.null_floor}{stale}"
    )


LISTS: Mapping[str, Callable[[Profiles, Profiles], list[Row]]] = {
    "cases": cases,
    "coverage": coverage,
    "requirements": ledger,
    "runtimes": runtimes,
    "mutants": mutants,
}
"""What can be listed, each from the user's runtimes and the null ones."""


def table(rows: Sequence[Row], *, headed: bool = False, widest: int = 0) -> Iterator[str]:
    """Render rows as aligned columns, if need be below their names; the last one runs on.

    A cell longer than `widest` goes on in the next lines, broken between words; 0 breaks none.
    """
    texts = [[*map(str, rows[0])]] if headed else []
    texts += [[_cell(value) for value in row.values()] for row in rows]
    cells = [[_lines(text, widest) for text in row] for row in texts]
    widths = [max(len(line) for cell in column for line in cell) for column in zip(*cells, strict=True)]
    for row in cells:
        for line in zip_longest(*row, fillvalue=""):
            yield "  ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()


def explanation(requirement: Requirement) -> Iterator[str]:
    """Yield everything there is to say of one requirement."""
    yield f"{requirement.id} ({requirement.level}, {requirement.group})"
    yield indented(requirement.text)
    yield f"source: {requirement.source}"
    if requirement.interpretation:
        yield f"an interpretation: {requirement.interpretation}"
    if requirement.excluded:
        yield f"not judged: {requirement.excluded}"
    if check := CHECKS.get(requirement.id):
        yield f"check: {check.look.__module__}.{getattr(check.look, '__name__', '')}"
        yield indented((check.look.__doc__ or "").strip())
    found = [case for case in load_case.shipped() if any(cover.requirement == requirement.id for cover in case.covers)]
    yield f"cases: {'none' if not found else ''}".rstrip()
    yield from (f"    {case.id}: {case.title}" for case in found)
    rows = [case for case in load_vectors.shipped() if requirement.id in {cover.requirement for cover in case.covers}]
    if rows:
        yield f"vectors: {', '.join(f'{group} ({count})' for group, count in Counter(map(_table, rows)).items())}"


def _counted(found: Iterable[Case]) -> Counter[str]:
    """Count the cases by the requirements that they judge."""
    return Counter(requirement for case in found for requirement in {cover.requirement for cover in case.covers})


def _table(row: Case) -> str:
    return "/".join(row.id.split("/")[:3])


def _lines(text: str, widest: int) -> list[str]:
    return textwrap.wrap(text, widest, break_long_words=False, break_on_hyphens=False) if widest and text else [text]


def _cell(value: JSON) -> str:
    if isinstance(value, bool):
        return "yours" if value else "shipped"
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    return ", ".join(map(str, as_list(value))) if isinstance(value, list) else str(value)
