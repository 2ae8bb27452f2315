"""A thread on disk: a folder of comments, one JSON file each in the order of their numbers."""

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from pytest_agentcontract.contract.checker import Diagnostic, document
from pytest_agentcontract.contract.thread import Comment, Event, Kind
from pytest_agentcontract.contract.workflow import Workflow
from pytest_agentcontract.errors import HandoffError
from pytest_agentcontract.jsonvalue import JSON, dumps

ENGINE: Final = "engine"
_NUMBER = re.compile(r"[0-9]+")
_T = TypeVar("_T")


class Desk:
    """The comments of a thread as they stood when it was opened, and those posted since.

    Their order is that of the first number in their names; a name without one counts as 0.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        found = (path for path in folder.glob("*.json") if not path.name.startswith("."))
        self._files = sorted(found, key=lambda path: (_number(path), path.name))
        self.comments = [_checked(path, Comment.from_json) for path in self._files]
        self.posted: list[Comment] = []
        ids = [comment.id for comment in self.comments]
        if twice := next((name for name in ids if ids.count(name) > 1), None):
            raise HandoffError(f"two comments have the id {twice!r}", where=str(folder))

    @property
    def issue(self) -> Comment | None:
        """The first comment of a human."""
        return next((comment for comment in self.comments if comment.kind is Kind.HUMAN), None)

    def comment(self, name: str) -> Comment | None:
        """Return the comment with this id."""
        return next((comment for comment in self.comments if comment.id == name), None)

    def post(self, body: str, agent: str | None = None) -> Comment:
        """Post a comment of the engine's: whoever reads the folder sees all of it or nothing."""
        number = 1 + max((_number(path) for path in self._files), default=0)
        taken = {comment.id for comment in self.comments}
        name = next(name for name in (f"{ENGINE}-{serial}" for serial in count(number)) if name not in taken)
        comment = Comment(name, ENGINE, Kind.ENGINE, agent, body, datetime.now(UTC).isoformat(timespec="seconds"))
        path = self.folder / f"{number:04}.json"
        _write_whole(path, dumps(comment.to_json(), indent=2).encode() + b"\n")
        self._files.append(path)
        self.comments.append(comment)
        self.posted.append(comment)
        return comment


@contextmanager
def opened(folder: Path) -> Iterator[Desk]:
    """Open a thread for one invocation: another one on the same thread waits until it is done."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise HandoffError(error.strerror or str(error), where=str(folder)) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Desk(folder)
    finally:
        os.close(lock)


def workflow_in(path: Path) -> Workflow:
    """Read a workflow's file."""
    return _checked(path, Workflow.from_json)


def event_in(path: Path) -> Event:
    """Read an event's file."""
    return _checked(path, Event.from_json)


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise HandoffError(f"can't be posted: {error.strerror or error}", where=str(path)) from error


def _checked(path: Path, check: Callable[[JSON], _T | Diagnostic]) -> _T:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise HandoffError("not a regular file", where=str(path))
        value = document(path.read_text("utf-8"))
    except OSError as error:
        raise HandoffError(error.strerror or str(error), where=str(path)) from error
    except UnicodeDecodeError as error:
        raise HandoffError(f"not UTF-8 (byte {error.start})", where=str(path)) from error
    found = value if isinstance(value, Diagnostic) else check(value)
    if isinstance(found, Diagnostic):
        raise HandoffError(str(found), where=str(path))
    return found


def _number(path: Path) -> int:
    found = _NUMBER.search(path.name)
    return int(found[0]) if found else 0
