"""A case file of the user's, held against the ledger too: what it covers has to be a requirement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.errors import CaseError
from pytest_agentcontract.jsonvalue import JSON, as_list, as_object, as_text
from pytest_agentcontract.plugin.selection import near
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scenario.case import Case


def load(path: Path) -> Case:
    """Read a case file; raise CaseError for the first thing that is wrong with it."""
    case = load_case.load_case(path)
    _check(case, path)
    return case


def load_folder(folder: Path) -> tuple[Case, ...]:
    """Read every case file below a folder, ids under `own/`; raise CaseError for the first thing that is wrong."""
    cases = load_case.load_folder(folder)
    for case in cases:
        _check(case, folder / f"{case.id.partition('/')[2]}.json")
    return cases


def faults(document: JSON) -> Iterator[tuple[str, str]]:
    """Yield everything that is wrong with a case file's document: a JSON pointer, and a complaint."""
    yield from load_case.faults(document)
    covers = as_list(as_object(document).get("covers"))
    yield from _unknown(as_text(cover) or as_text(as_object(cover).get("id")) for cover in covers)


def _check(case: Case, path: Path) -> None:
    for place, complaint in _unknown(cover.requirement for cover in case.covers):
        raise CaseError(complaint, where=f"{path}: {place}", remedy=load_case.REMEDY)


def _unknown(covered: Iterable[str]) -> Iterator[tuple[str, str]]:
    ledger = requirements.load()
    groups = {name.split("-")[0] for name in ledger}
    for at, name in enumerate(covered):
        # What has not the form of an id, the schema has told already.
        if name.split("-")[0] in groups and len(name) == len("RET-000") and name not in ledger:
            yield f"/covers/{at}", f"no requirement is called {name}. {near(name, ledger)}"
