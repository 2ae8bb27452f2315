"""A request log: one JSON line per exchange, on disk before the client has its whole answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSONObject, as_object, dumps, loads
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.turn import Call, Turn

_MARK = "agent-contract serve"
_REMEDY = "Name a file in a folder that can be written to, on a disk with room."


class Journal:
    """An open log; without a file it takes everything and keeps nothing."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self._failure: OSError | None = None

    @property
    def broken(self) -> bool:
        """Whether something could not be written: nothing is written after it."""
        return self._failure is not None

    def check(self) -> None:
        """Raise UsageError if something could not be written."""
        if self._file is not None and self._failure is not None:
            raise _unwritable(self._failure, self._file.name) from self._failure

    def note(self, seen: Exchange | str) -> None:
        """Write down an exchange, or the method and path of what nobody serves."""
        self._line(record(seen) if isinstance(seen, Exchange) else {"kind": "missed", "path": seen})

    def header(self, script: str, url: str) -> None:
        """Begin a run; a log that is there already goes on below what it holds. Raise UsageError if that fails."""
        self._line({"log": _MARK, "version": 1, "script": script, "url": url})
        self.check()

    def _line(self, data: JSONObject) -> None:
        if self._file is None or self._failure is not None:
            return
        try:
            self._file.write(dumps(data) + "\n")
            self._file.flush()
        except OSError as error:
            self._failure = error


@contextmanager
def opened(path: Path | None) -> Iterator[Journal]:
    """Open a log to write on; raise UsageError for a file that is no log of ours, which stays as it is."""
    if path is None:
        yield Journal(None)
        return
    try:
        _check(path)
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise _unwritable(error, str(path)) from error
    try:
        yield Journal(file)
    finally:
        with suppress(OSError):  # what could not be written is tried again here; `check` has told of it
            file.close()


def record(seen: Exchange) -> JSONObject:
    """Return an exchange as it stands in the log."""
    request = seen.request
    return {
        "serial": seen.serial,
        "seconds": round(seen.received_at, 3),
        "agent": seen.agent or None,
        "kind": seen.kind,
        "turn": seen.turn or None,
        "wire": request.wire,
        "model": request.model,
        "stream": request.stream,
        "request": request.body,
        "answer": _turn(seen.answer) if seen.answer else None,
        "delivered": seen.delivered,
        "retry": seen.retry,
        "note": seen.note,
    }


def _turn(turn: Turn) -> JSONObject:
    said = {"text": turn.text, "thinking": turn.thinking, "refusal": turn.refusal}
    return {**{key: text for key, text in said.items() if text is not None}, "calls": [*map(_call, turn.calls)]}


def _call(call: Call) -> JSONObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments_text}


def _unwritable(error: OSError, path: str) -> UsageError:
    return UsageError(f"can't write the log: {error.strerror or error}", where=path, remedy=_REMEDY)


def _check(path: Path) -> None:
    if not path.exists() or not path.stat().st_size:
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline()
    try:
        ours = as_object(loads(first)).get("log") == _MARK
    except ValueError:
        ours = False
    if not ours:
        raise UsageError("the file holds something else than a log", where=str(path), remedy="Name another file.")
