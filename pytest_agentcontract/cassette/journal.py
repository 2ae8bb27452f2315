"""The journal of a recording: what came so far, beside the cassette that it will become.

One line of JSON per exchange, only ever appended, and with the system before the next exchange comes: whoever kills the
recorder loses at most the exchange in flight. Each recording begins with a line of its own, so that a journal that was
left behind is carried on. Whoever writes a journal holds a lock on it.
"""

from __future__ import annotations

import fcntl
import os
from itertools import chain
from pathlib import Path
from typing import Any, Final, get_args

from pytest_agentcontract.cassette.exchange import Ending, Headers, Piece, Recorded
from pytest_agentcontract.errors import CassetteError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, dumps, loads

_FORMAT: Final = 1
_REMEDY: Final = "Move the file away to record anew."


def journal_of(cassette: Path) -> Path:
    """Return where the journal of a cassette lies."""
    return cassette.with_name(f".{cassette.name}.journal")


def recovered(path: Path) -> tuple[Recorded, ...]:
    """Return what a journal holds, a torn last line left out; raise CassetteError for another line that is unreadable.

    No journal holds nothing.
    """
    return tuple(chain.from_iterable(recordings(path)))


def recordings(path: Path) -> tuple[tuple[Recorded, ...], ...]:
    """Return the same, recording by recording."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _trouble("can't be read", path, error) from error
    found: list[list[Recorded]] = []
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            document = loads(line)
            if isinstance(document, dict) and "recording" in document:
                found.append([])
            else:
                found[-1].append(_exchange(document))
        except (ValueError, TypeError, AttributeError, IndexError) as error:
            what = "this line of a journal can't be read"
            raise CassetteError(what, where=f"{path}:{number}", remedy=_REMEDY) from error
    return tuple(map(tuple, found))


class Journal:
    """A journal that this process writes. Raises CassetteError if another one does, or it can't be written."""

    def __init__(self, path: Path) -> None:
        """Begin a recording, behind those that a journal left behind holds."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _locked(path)
        except OSError as error:
            raise _trouble("can't be written", path, error) from error
        try:
            self._start = self._end = _cut_torn_line(self._file)
            self._write({"recording": _FORMAT, "process": os.getpid()})
        except BaseException:
            self.close()
            raise

    def append(self, exchange: Recorded) -> None:
        """Write an exchange down; what this costs does not depend on what the journal holds."""
        self._write(_document(exchange))

    def recordings(self) -> tuple[tuple[Recorded, ...], ...]:
        """Return all that it holds: what earlier recordings left behind, and last this one's exchanges."""
        return recordings(self.path)

    def close(self) -> None:
        """Leave the journal behind, for the next recording to find."""
        os.close(self._file)

    def remove(self) -> None:
        """Take the journal away, as it is of no more use."""
        self.path.unlink(missing_ok=True)
        self.close()

    def abandon(self) -> None:
        """Take away what this recording wrote, and leave what it found."""
        os.ftruncate(self._file, self._start)
        if self._start:
            self.close()
        else:
            self.remove()

    def _write(self, document: JSONObject) -> None:
        line = dumps(document).encode() + b"\n"
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            os.ftruncate(self._file, self._end)  # so that no half line stands before the next one
            raise _trouble("can't be written", self.path, error) from error
        self._end += len(line)


def _trouble(what: str, path: Path, error: OSError) -> CassetteError:
    remedy = "What stands in it already stays there."
    return CassetteError(f"{what}: {error.strerror or error}", where=str(path), remedy=remedy)


def _locked(path: Path) -> int:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = _holder(file)
            os.close(file)
            remedy = "Wait for it, or record to another cassette; parallel workers need one each."
            raise CassetteError(f"{holder} is recording this cassette", where=str(path), remedy=remedy) from error
        if _is_at(file, path):
            return file
        os.close(file)  # its last holder took it away meanwhile


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _holder(file: int) -> str:
    heads = [line for line in _content(file).split(b"\n")[:-1] if line.startswith(b'{"recording"')]
    return f"process {as_object(loads(heads[-1])).get('process')}" if heads else "another process"


def _cut_torn_line(file: int) -> int:
    """Cut off what stands behind the last line end; return where the file then ends."""
    whole = _content(file).rfind(b"\n") + 1
    os.ftruncate(file, whole)
    return whole


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _document(exchange: Recorded) -> JSONObject:
    return {
        "method": exchange.method,
        "url": exchange.url,
        "request_headers": _lines(exchange.request_headers),
        "request_body": _text(exchange.request_body),
        "status": exchange.status,
        "reason": exchange.reason,
        "headers": _lines(exchange.headers),
        "pieces": [[piece.gap, _text(piece.data)] for piece in exchange.pieces],
        "ending": exchange.ending,
    }


def _exchange(document: Any) -> Recorded:  # noqa: ANN401 - it is what a line holds
    match document:
        case {
            "method": str(method),
            "url": str(url),
            "request_headers": [*request_headers],
            "request_body": str(request_body),
            "status": int(status),
            "reason": str(reason),
            "headers": [*headers],
            "pieces": [*pieces],
            "ending": ending,
        } if ending in get_args(Ending):
            return Recorded(
                method,
                url,
                tuple((name, value) for name, value in request_headers),
                _bytes(request_body),
                status,
                reason,
                tuple((name, value) for name, value in headers),
                tuple(Piece(gap, _bytes(data)) for gap, data in pieces),
                ending,
            )
    message = "no exchange"
    raise ValueError(message)


def _text(data: bytes) -> str:
    """Return bytes as a text from which they can be told again, whether they are UTF-8 or not."""
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _lines(headers: Headers) -> JSON:
    return [[name, value] for name, value in headers]
