"""Where a file that was made of reports is put: never over something that is not ours, nor unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pytest_agentcontract.cassette.file import whole
from pytest_agentcontract.errors import UsageError


def put(path: Path, text: str, is_ours: Callable[[str], bool], *, replace: bool) -> None:
    """Write `text` whole or not at all; raise UsageError where that can't be, or something stands there.

    With `replace`, a file is written over whose first line `is_ours`.
    """
    _free(path, is_ours, replace=replace)
    try:
        whole.write(path, text)
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(path), remedy="Name a file.") from error


def ours(path: Path, is_ours: Callable[[str], bool]) -> None:
    """Raise UsageError if a file stands at `path` whose first line is not ours; an empty one is nobody's loss."""
    if path.is_file() and path.stat().st_size:
        _ours(path, is_ours, replace=True)


def put_all(texts: Mapping[Path, str], is_ours: Callable[[str], bool], *, replace: bool) -> None:
    """Write several files and make their folders; none is written where one may not be (UsageError)."""
    for path in texts:
        _free(path, is_ours, replace=replace)
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"can't be made: {error.strerror}", where=str(path.parent), remedy="Name a folder."
            ) from error
        put(path, text, is_ours, replace=replace)


def _free(path: Path, is_ours: Callable[[str], bool], *, replace: bool) -> None:
    if path.exists() or path.is_symlink():
        _ours(path, is_ours, replace=replace)


def _ours(path: Path, is_ours: Callable[[str], bool], *, replace: bool) -> None:
    if not replace:
        raise UsageError("is there already", where=str(path), remedy="Name another file, or say --replace.")
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            first = file.readline()
    except OSError as error:
        raise UsageError(f"can't be read: {error.strerror}", where=str(path), remedy="Name a file.") from error
    if not is_ours(first.rstrip("\n")):
        raise UsageError(
            "is there already, and was not made by this command: it is left as it is",
            where=str(path),
            remedy="Name another file.",
        )
