"""Drive a Python runtime by calling it in a thread of this process: for trusted code only.

A thread can't be killed. A call that does not come back is left behind with its seat closed and its caller gone: its
next line is the end of the conversation, and its next word on standard output raises SystemExit in it, as does a line
that it waits for where the case says none.
"""

from __future__ import annotations

import importlib
import sys
import threading
import time
import traceback
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from typing import cast

from pytest_agentcontract.drivers.conversation import Conversation
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.outcome import LIMIT, TOO_MUCH, Found, Run, deliver
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, dumps, equal, loads
from pytest_agentcontract.scenario.observation import Delivery, Ended
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.scenario.start import Result, Start


def drive(launch: Launch) -> Delivery:
    """Call the profile's entry in a thread and wait for its return, its output limit or the time limit."""
    entry = cast("Callable[[Start], Result]", imported(launch.profile, launch.profile.entry))
    launch.workdir.mkdir(parents=True, exist_ok=True)
    stage = _Stage(launch)
    threading.Thread(target=stage.play, args=(entry,), name=f"agent-contract-{launch.nonce}", daemon=True).start()
    stage.over.wait(launch.timeout)
    return stage.close()


def imported(profile: Profile, name: str) -> Callable[..., object]:
    """Find `module:function`; the profile's path leads the search for modules, as it does for programs."""
    module, _, function = name.partition(":")
    sys.path[:0] = [folder for folder in profile.path if folder not in sys.path]
    try:
        found = reduce(getattr, function.split("."), importlib.import_module(module))
    except (Exception, SystemExit) as error:
        raise DriverError(
            f"the entry {name!r} can't be imported: {type(error).__name__}: {error}",
            where=f"runtime {profile.name}",
            remedy='Name it as "module:function"; `path` lists the folders to find the module in.',
        ) from error
    if not callable(found):
        raise DriverError(f"the entry {name!r} is no function", where=f"runtime {profile.name}")
    return cast("Callable[..., object]", found)


@dataclass(frozen=True, slots=True)
class _End:
    """How a call came back, if it did."""

    ended: Ended
    exit_code: int | None = None
    document: JSON | Missing = MISSING
    problem: str = ""
    trace: str = ""


class _Stage:
    """One call of a runtime: what it is given, what it has printed, how it came back."""

    def __init__(self, launch: Launch) -> None:
        self.over = threading.Event()
        self._launch = launch
        self._conversation = Conversation(launch)
        self._printed: list[str] = []
        self._size = 0
        self._end = _End("time-limit", problem="the call did not return in time")
        self._started = time.monotonic()

    def play(self, entry: Callable[[Start], Result]) -> None:
        """Call the runtime; whatever comes out of it is its outcome, and nothing gets out of its thread."""
        try:
            end = _returned(entry(self._start()))
        except SystemExit as stop:
            end = _End("exited", _exit_code(stop), problem="the call raised SystemExit instead of returning a Result")
        except BaseException as error:  # noqa: BLE001 - a runtime may raise anything
            said = traceback.format_exception_only(error)[-1].strip()
            end = _End("crashed", problem=f"the call raised {said}", trace=_trace(error))
        self._finish(end)

    def close(self) -> Delivery:
        """Freeze what was seen, and shut the runtime out whether it has come back or not."""
        self.over.set()
        end, seconds = self._end, time.monotonic() - self._started
        self._launch.seat.over()
        found, stdout = self._found(end, "".join(self._printed))
        run = Run(end.ended, end.exit_code, _encoded(stdout), _encoded(end.trace), (), seconds, seconds)
        return deliver(self._launch, run, found)

    def _found(self, end: _End, printed: str) -> tuple[Found, str]:
        """Return the result document and the standard output, which holds the document as a program's would."""
        if self._launch.case.given.mode != "json":
            return Found(), printed
        if isinstance(end.document, Missing):
            return Found(problem=end.problem), printed
        if printed.strip():
            return Found(problem="standard output holds other text beside the result document"), printed
        return Found(end.document), dumps(end.document) + "\n"

    def _start(self) -> Start:
        launch = self._launch
        return Start(
            mode=launch.case.given.mode,
            prompt=launch.script_prompt,
            schema=deepcopy(launch.schema),  # the next run's as well: theirs to change
            max_turns=launch.case.given.max_turns,
            env=launch.environment,
            settings=launch.profile.settings,
            workdir=launch.workdir,
            read_line=self._read_line,
            write=self._write,
            handoff=launch.handoff,
        )

    def _read_line(self) -> str | None:
        if self._launch.case.given.open_stdin:
            # An end of input would let who waited for it go on asking at a seat that is about to close.
            self.over.wait()
            raise SystemExit("the run is over")
        while seconds := self._conversation.due_in():
            if self.over.wait(seconds):
                return None
        return self._conversation.next()

    def _write(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        if self.over.is_set():
            raise SystemExit("the run is over")
        self._printed.append(text)
        self._size += len(text)
        self._launch.seat.printed(text)
        if self._size > LIMIT:
            self._finish(_End("output-limit", problem=TOO_MUCH))

    def _finish(self, end: _End) -> None:
        # The first end counts: a call that comes back when its time was up has already been judged.
        if not self.over.is_set():
            self._end = end
            self.over.set()


def _returned(returned: object) -> _End:
    """Take a runtime's word, which may be anything: a document counts only if it is JSON as it stands."""
    if not isinstance(returned, Result):
        return _misused(f"the call returned {type(returned).__name__}, not Result")
    code: object = returned.exit_code
    if not isinstance(code, int):
        return _misused(f"the exit code is {type(code).__name__}, not int")
    if isinstance(returned.document, Missing):
        return _End("exited", code, problem="the call returned no result document")
    try:
        copy = loads(dumps(returned.document))
        same = equal(copy, returned.document)
    except (TypeError, ValueError, RecursionError) as error:
        return _End("exited", code, problem=f"the result document is no JSON: {error}")
    return _End("exited", code, copy) if same else _End("exited", code, problem="the result document is no plain JSON")


def _misused(problem: str) -> _End:
    """Return the end of a call that broke its own terms; the reason also stands where a traceback would."""
    return _End("crashed", problem=problem, trace=f"{problem}\n")


def _exit_code(stop: SystemExit) -> int:
    """Return what the interpreter would have exited with."""
    return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


def _trace(error: BaseException) -> str:
    inner = error.__traceback__ and error.__traceback__.tb_next
    return "".join(traceback.format_exception(type(error), error, inner))


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
