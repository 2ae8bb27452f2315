"""Places that a run is to write to, tried before it runs: what an hour of judging found must not be lost at its end."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_agentcontract.errors import UsageError


def folder(path: Path) -> None:
    """Raise UsageError if `path` is no folder, and can't be made one."""
    existing = next(place for place in (path, *path.parents) if os.path.lexists(place))
    if not existing.is_dir():
        raise UsageError("is no folder", where=str(existing), remedy="Name a folder, or a place for a new one.")
    _writable(existing)


def file(path: Path) -> None:
    """Raise UsageError if no file can be written at `path`."""
    if path.is_dir():
        raise UsageError("is a folder", where=str(path), remedy="Name a file in it.")
    if not path.parent.is_dir():
        raise UsageError("is no folder", where=str(path.parent), remedy="Make it first, or name a file elsewhere.")
    _writable(path if path.exists() else path.parent)


def _writable(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise UsageError("can't be written", where=str(path), remedy="Name another place, or allow it.")
