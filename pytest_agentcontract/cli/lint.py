"""Every fault of a file that a user writes, at once: the kind of file is seen from what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from pytest_agentcontract.errors import AgentContractError, DataError, UsageError
from pytest_agentcontract.jsonvalue import JSON, as_object
from pytest_agentcontract.plugin import own_case, runtimes
from pytest_agentcontract.scenario import load_case, load_profile, schemas
from pytest_agentcontract.scripted import load
from pytest_agentcontract.scripted.strict_yaml import Document

_Found: TypeAlias = tuple[Iterable[tuple[str, str]], str]
"""Places and complaints, and what is of help with all of them."""

_KINDS: Mapping[str, tuple[frozenset[str], Callable[[JSON], Iterable[tuple[str, str]]], str]] = {
    "table of vectors": (
        frozenset({"rows"}),
        lambda document: schemas.faults("vector", document),
        "The shipped tables, fixtures/vectors, show the form.",
    ),
    "case": (frozenset({"given", "script", "covers", "expect"}), own_case.faults, load_case.REMEDY),
    "script": (frozenset({"turns", "agents", "attribution", "side_calls"}), load.faults, load.REMEDY),
}
"""The keys that tell a kind of JSON document from the others, who finds its faults, and where to read on."""


_WRITTEN = ("*.json", "*.yaml", "*.yml", runtimes.CONFIG)
"""The files of a folder that may be a user's scripts, cases, tables or profiles."""


def below(path: Path) -> tuple[Path, ...]:
    """Return the files that a path stands for: itself, or those of a folder and of the folders in it, in order.

    Raises UsageError for a folder that holds none.
    """
    if not path.is_dir():
        return (path,)
    found = sorted(file for pattern in _WRITTEN for file in path.rglob(pattern) if file.is_file())
    if not found:
        raise UsageError("the folder holds no such file", where=str(path), remedy=f"Looked for {', '.join(_WRITTEN)}.")
    return tuple(found)


def faults(path: Path) -> Iterator[AgentContractError]:
    """Yield every fault of one file as the error that a reader of it would raise for it alone."""
    try:
        if load.is_toml(path):
            document, (found, remedy) = Document(), _of_toml(path)
        else:
            document, broken = load.read(path)
            yield from broken
            found, remedy = _of_document(document.value) if document.parses else ((), "")
    except AgentContractError as error:
        yield error
        return
    for place, complaint in found:
        if not any(f"{place}/".startswith(f"{hole}/") for hole in document.unread):
            yield DataError(complaint, where=f"{path}: {place}" if place else str(path), remedy=remedy)


def _of_toml(path: Path) -> _Found:
    return load_profile.faults(load_profile.read(path)), load_profile.REMEDY


def _of_document(document: JSON) -> _Found:
    held = as_object(document).keys()
    for keys, find, remedy in _KINDS.values():
        if held & keys:
            return find(document), remedy
    known = "; ".join(f"a {kind} has {' or '.join(sorted(keys))}" for kind, (keys, _, _) in _KINDS.items())
    return [("", "the file is of no known kind")], f"{known[0].upper()}{known[1:]}."
