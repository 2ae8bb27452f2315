"""The framework's side of the framework driver: started by path in the framework's own interpreter (3.10 and newer).

It needs nothing but the standard library. It loads the recipe once, says so, and then forks for each run that it is
told of; a recipe with `FORK = False` is run in this process, which ends with it. What a run returns goes into a file
of its own, how it ended to the status pipe: standard output and standard error are the framework's.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
import types
from contextlib import suppress
from typing import Any

HEADER = 8
FDS = 5
"""With each run: its standard input, output and error, the file for its document, and the pipe for its status."""

_HIGH = 64
_TICK = 1.0


def main(control: socket.socket, way: str, path: str, function: str, folders: list[str]) -> int:
    """Load the recipe, then carry out what comes over the control socket, until it is closed."""
    sys.argv = [path]
    sys.path[:0] = folders
    try:
        module = _loaded(path)
        entry = getattr(module, function)
    except BaseException as error:  # noqa: BLE001 - importing a framework can raise anything
        traceback.print_exc()
        _say(control, {"error": _told(error), "missing": isinstance(error, ModuleNotFoundError)})
        return 1
    fork = way == "forked" and getattr(module, "FORK", True) is not False
    _flush()
    _quiet()
    _say(control, {"fork": fork})
    return _Nursery(control, entry).run() if fork else _alone(control, entry)


def _loaded(path: str) -> types.ModuleType:
    """Run the recipe's file as a module; nothing is written beside it, and its folder is not searched for modules."""
    module = types.ModuleType("agent_contract_recipe")
    module.__file__ = path
    sys.modules[module.__name__] = module
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib is one import more for every framework's start
        code = compile(file.read(), path, "exec")
    exec(code, module.__dict__)  # noqa: S102 - it is what the profile names
    return module


class _Nursery:
    """Forks a process for each run, and tells how each ended. One thread: a fork copies no other."""

    def __init__(self, control: socket.socket, entry: Any) -> None:  # noqa: ANN401 - whatever the recipe calls `run`
        self._control, self._entry = control, entry
        self._status: dict[int, int] = {}
        self._bell, rung = os.pipe()
        for end in (self._bell, rung):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(rung, warn_on_full_buffer=False)

    def run(self) -> int:
        while True:
            # The time limit is for a framework that took the signal's handler for itself.
            heard: list[Any] = [self._control, self._bell]
            ready = select.select(heard, [], [], _TICK if self._status else None)[0]
            if self._bell in ready:
                os.read(self._bell, 4096)
            self._reap()
            if self._control in ready:
                request = _received(self._control)
                if request is None:
                    return 0
                self._fork(*request)

    def _fork(self, run: dict[str, Any], fds: list[int]) -> None:
        status = fds.pop()
        try:
            pid = os.fork()
        except OSError as error:
            _write(status, {"error": str(error)})
            os.close(status)
        else:
            if not pid:
                self._leave(status)
                _play(self._entry, run, fds)
            self._status[pid] = status
            _write(status, {"pid": pid})
        for fd in fds:
            os.close(fd)

    def _leave(self, status: int) -> None:
        """Become a process of its own: nothing of this one's is left in it but the framework."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        for fd in (self._bell, status, *self._status.values()):
            os.close(fd)

    def _reap(self) -> None:
        for pid in list(self._status):
            with suppress(ChildProcessError):
                ended, code = os.waitpid(pid, os.WNOHANG)
                if not ended:
                    continue
                _write(self._status[pid], {"status": os.waitstatus_to_exitcode(code)})
            os.close(self._status.pop(pid))


def _alone(control: socket.socket, entry: Any) -> int:  # noqa: ANN401 - as above
    request = _received(control)
    control.close()
    if request is not None:
        run, fds = request
        os.close(fds.pop())
        _play(entry, run, fds)
    return 0


def _play(entry: Any, run: dict[str, Any], fds: list[int]) -> None:  # noqa: ANN401 - as above
    """Carry out one run, write down what came of it, and end this process whatever else is alive in it."""
    code = 70
    try:
        document = _Document(fds[3])
        for number, fd in enumerate(fds[:3]):
            os.dup2(fd, number)
        for fd in fds:
            os.close(fd)
        os.environ.clear()
        os.environ.update(run["env"])
        os.chdir(run["start"]["workdir"])
        if hasattr(time, "tzset"):
            time.tzset()
        code, outcome = _outcome(entry, types.SimpleNamespace(**run["start"]), run["limit"])
        document.write(outcome)
    except BaseException:  # noqa: BLE001 - nothing gets out of a fork
        code = 70
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _outcome(entry: Any, start: types.SimpleNamespace, limit: int) -> tuple[int, str]:  # noqa: ANN401 - as above
    """Call the recipe; return the exit code, and the text that is to be written of it."""
    try:
        returned = entry(start)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        return code & 255, _problem("the recipe raised SystemExit instead of returning a dict")
    except BaseException as error:  # noqa: BLE001 - whatever ends the run is its failure
        traceback.print_exc()
        returned = {"result": None, "is_error": True, "error": _told(error)}
    if not isinstance(returned, dict):
        return 0, _problem(f"the recipe returned {type(returned).__name__}, not a dict")
    document = {"is_error": False, **returned}
    try:
        text = json.dumps({"document": document}, allow_nan=False)
        same = json.loads(text)["document"] == document
    except BaseException as error:  # noqa: BLE001 - the values are the framework's, and so is what they raise
        return 0, _problem(f"what the recipe returned is no JSON: {_told(error)}")
    if not same:
        return 0, _problem("what the recipe returned is no plain JSON: a tuple, or a key that is no text")
    if len(text) > limit:
        return 0, json.dumps({"flooded": True})
    return int(document["is_error"] is True), text


class _Document:
    """The file for what came of a run, kept where a framework that closes what it finds open is noticed."""

    def __init__(self, fd: int) -> None:
        self._fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        self._id = _identity(fd)

    def write(self, text: str) -> None:
        if _identity(self._fd) != self._id:
            raise OSError("the file for the result was closed in the run")
        data = memoryview(text.encode())
        while data:
            data = data[os.write(self._fd, data) :]


def _identity(fd: int) -> tuple[int, int]:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino


def _problem(text: str) -> str:
    return json.dumps({"problem": text})


def _told(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - an error that can't be told is one still
        return type(error).__name__


def _flush() -> None:
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    for stream in streams:
        with suppress(BaseException):  # a framework may have put anything in their place, or nothing
            stream.flush()


def _quiet() -> None:
    """Let go of the files that held what was said while the recipe was loaded."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    os.close(nothing)


def _received(control: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    header, fds, _, _ = socket.recv_fds(control, HEADER, FDS)
    if not header:
        return None
    for fd in fds:
        fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    left = int.from_bytes(header, "big")
    pieces = []
    while left:
        piece = control.recv(left)
        if not piece:
            return None
        pieces.append(piece)
        left -= len(piece)
    return json.loads(b"".join(pieces)), fds


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def _write(fd: int, message: dict[str, Any]) -> None:
    with suppress(OSError):
        os.write(fd, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    descriptor, way, path, function, *folders = sys.argv[1:]
    sys.exit(main(socket.socket(fileno=int(descriptor)), way, path, function, folders))
