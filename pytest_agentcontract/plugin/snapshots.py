"""Outcomes as syrupy snapshots: one JSON file per case, the shipped ones read-only outside the project."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from syrupy.data import SnapshotCollection, SnapshotCollections
from syrupy.extensions.json import JSONSnapshotExtension

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import JSON, dumps, equal, loads

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion
    from syrupy.location import PyTestLocation

DEVELOPMENT = "AGENT_CONTRACT_DEV"


class Outcome(JSONSnapshotExtension):
    """One file per case below `folder`; whoever makes a snapshot derives a class with its own folder."""

    folder: ClassVar[Path]
    writable: ClassVar[bool] = True

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: object) -> str:
        """Return the file of a case: its id below the folder."""
        del index
        return str(cls.folder / f"{_case_id(test_location)}.json")

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of that file."""
        return str(Path(cls.get_location(test_location=test_location, index=0)).parent)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: object = 0) -> str:
        """Return the only name there is in the file."""
        del index
        return test_location.snapshot_name

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Tell whether a file is that of a case."""
        return snapshot_location == cls.get_location(test_location=test_location, index=0)

    def serialize(self, data: JSON, **_: object) -> str:
        """Render an outcome so that a person can review it; nothing is filtered and nothing is too deep."""
        return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=dumps(data).isascii()) + "\n"

    def matches(self, *, serialized_data: str, snapshot_data: str) -> bool:
        """Compare as JSON, strictly: how a file is laid out says nothing."""
        return equal(loads(serialized_data), loads(snapshot_data))

    def discover_snapshots(self, **_: object) -> SnapshotCollections:
        """Report nothing as unused: a case that doesn't apply to a runtime leaves its file unread, not stale."""
        return SnapshotCollections()

    def delete_snapshots(self, **_: object) -> None:
        """Delete nothing: a file goes when its case goes."""

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection: SnapshotCollection, **options: Any) -> None:  # noqa: ANN401 - syrupy's own
        """Write the file; refuse where it is a shipped one and this is not the project's own checkout."""
        if not cls.writable:
            message = f"{snapshot_collection.location} ships with the suite and is read-only here"
            raise PermissionError(message)
        super().write_snapshot_collection(snapshot_collection=snapshot_collection, **options)


def shipped(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Return the snapshot of the reference's outcome, which every variant of it and every wire format share."""
    return _in(snapshot, resources.outcomes(), writable=os.environ.get(DEVELOPMENT) == "1")


def pinned(snapshot: SnapshotAssertion, folder: Path, runtime: str, wire: str) -> SnapshotAssertion:
    """Return the snapshot of an outcome in a folder of the user's."""
    return _in(snapshot, folder / runtime.replace(":", "-") / wire, writable=True)


def shipped_outcome(case_id: str) -> JSON:
    """Return the reference's outcome of a case, None where there is none."""
    path = resources.outcomes() / f"{case_id}.json"
    return loads(path.read_bytes()) if path.is_file() else None


def _in(snapshot: SnapshotAssertion, folder: Path, *, writable: bool) -> SnapshotAssertion:
    return snapshot.with_defaults(extension_class=_extension(folder, writable=writable))


@cache
def _extension(folder: Path, *, writable: bool) -> type[Outcome]:
    return type("Outcome", (Outcome,), {"folder": folder, "writable": writable})


def _case_id(location: PyTestLocation) -> str:
    return str(getattr(location.item, "case_id", ""))  # at its end syrupy asks about the user's own tests too
