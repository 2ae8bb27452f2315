"""One adapter process: started in a room of its own, spoken to by numbered messages, left with nothing running."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from uuid import uuid4

import pytest_agentcontract
from pytest_agentcontract.drivers import guardian, processes
from pytest_agentcontract.drivers.channel import LONGEST, Channel
from pytest_agentcontract.drivers.messages import PROTOCOLS, Broken, answered, decode, encode, shortened
from pytest_agentcontract.drivers.outcome import LIMIT
from pytest_agentcontract.drivers.preparation import environment, lasting, started
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSONObject, as_list, as_text
from pytest_agentcontract.scenario.observation import Ended
from pytest_agentcontract.scenario.profile import Profile

TO_START: Final = 30.0
"""How many seconds an adapter has for its first answer: interpreters and virtual machines take their time."""

TO_STOP: Final = 2.0
"""How many seconds it has to end when it is told to, before it is killed."""

_TO_SPEAK = 0.25
_TO_DIE = 2.0
_TICK = 0.005


@dataclass(frozen=True, slots=True)
class About:
    """What an adapter says of itself; `operations` are what it declares to answer."""

    name: str
    version: str
    language: str
    protocol: int
    operations: tuple[str, ...]


class Adapter:
    """A started adapter. Whatever breaks the conversation ends the process; the next request needs another one."""

    def __init__(self, profile: Profile) -> None:
        self.profile, self.alive = profile, True
        self.about = About("", "", "", 0, ())
        self._seq, self._token, self._at = 0, uuid4().hex, ""
        self._home = TemporaryDirectory(prefix="agent-contract-adapter-", ignore_cleanup_errors=True)
        guardian.begin(self._token, Path(self._home.name))
        try:
            self._process = _process(profile, Path(self._home.name), self._token)
        except BaseException:
            self._home.cleanup()
            guardian.end(self._token)
            raise
        guardian.started(self._token, self._process.pid)
        self._channel = Channel(self._process)

    @property
    def exit_code(self) -> int | None:
        """The exit status, once the process is gone; negative for the signal that ended it."""
        return self._process.returncode

    @property
    def asked(self) -> int:
        """How many requests it has been sent."""
        return self._seq

    @property
    def stderr(self) -> bytes:
        """What it wrote to standard error since the last request."""
        return bytes(self._channel.stderr)

    def start(self) -> About:
        """Exchange versions and capabilities; raise DriverError where that comes to nothing."""
        opening: JSONObject = {
            "protocols": [*PROTOCOLS],
            "suite": pytest_agentcontract.__version__,
            "settings": dict(self.profile.settings),
        }
        reply = self.request("start", opening, TO_START)
        if isinstance(reply, str):
            raise self.lost(reply)
        if reply["ok"] is not True:
            said = answered(reply).error or "it does not support `start`"
            raise self._refused(f"the adapter declines to start: {shortened(said)}", "Mend what it complains of.")
        self.about = _about(reply)
        if self.about.protocol not in PROTOCOLS:
            ours = " or ".join(map(str, PROTOCOLS))
            what = f"the adapter chose version {self.about.protocol} of the protocol, which was not offered"
            raise self._refused(what, f"Choose version {ours}, or use a suite that speaks the other.")
        return self.about

    def request(
        self,
        cmd: str,
        body: JSONObject,
        seconds: float,
        hear: Callable[[str], None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> JSONObject | Ended:
        """Ask, and return the answer, or how the conversation ended; raise DriverError for a broken message."""
        line = encode({"seq": self._seq + 1, "cmd": cmd, **body})
        self._no_stray_line()
        self._seq, self._at = self._seq + 1, cmd
        self._channel.renew()
        self._channel.post(line)
        try:
            return self._reply(cmd, time.monotonic() + seconds, hear, meanwhile)
        except BaseException:
            # Whatever gets in between, its answer may still come, and would be taken for the next one.
            self.end()
            raise

    def say(self, line: str | None) -> None:
        """Tell the run that is under way the caller's next line, or the end of the conversation."""
        self._channel.post(encode({"seq": self._seq, "cmd": "say", "line": line}))

    def stop(self) -> float | None:
        """Ask it to end; return the seconds that it took, or None where it had to be killed."""
        if not self.alive:
            return None
        since = time.monotonic()
        self._channel.post(encode({"seq": self._seq + 1, "cmd": "stop"}))
        while self._process.poll() is None and time.monotonic() - since < TO_STOP:
            self._channel.drain(_TICK)
            time.sleep(_TICK)
        took = None if self._process.poll() is None else time.monotonic() - since
        self.end()
        return took

    def end(self) -> None:
        """Kill what is left of it, and give back its room."""
        if not self.alive:
            return
        self.alive = False
        processes.end_all(self._token, self._process.pid, (self._home.name,))
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_TO_DIE)
        self._channel.close()
        self._home.cleanup()
        guardian.end(self._token)

    def family(self, *folders: Path) -> frozenset[int]:
        """Return its processes: the adapter's own, those that come of it, and those at work in a run's folders."""
        return frozenset(processes.survivors(self._token, self._process.pid, (self._home.name, *folders)))

    def left_behind(self, known: frozenset[int], *folders: Path) -> tuple[str, ...]:
        """Name the processes that a run has started and left, after a moment to leave by themselves; end them."""
        return processes.left_behind(lambda: self.family(*folders), known)

    def lost(self, ended: Ended) -> DriverError:
        """Return the error of a conversation that ended before its answer came."""
        what = {
            "time-limit": "did not answer in time",
            "output-limit": f"wrote more than {LONGEST // 1024 // 1024} MiB and was ended",
            "crashed": f"was gone before it answered ({_exit(self.exit_code)})",
        }.get(ended, ended)
        return self._refused(f"the adapter {what}", self._last_words() or "It said nothing on standard error.")

    def unkept(self) -> DriverError:
        """Return the error of an adapter that declares an operation and then says that it is not supported."""
        remedy = f"Take {self._at!r} out of the capabilities that it answers to `start`, or answer it."
        return self._refused(f"the adapter declares {self._at!r}, and answers that it is unsupported", remedy)

    def _reply(
        self, cmd: str, deadline: float, hear: Callable[[str], None] | None, meanwhile: Callable[[], None] | None
    ) -> JSONObject | Ended:
        heard = 0
        while True:
            message = self._message(cmd, deadline, meanwhile)
            if isinstance(message, str):
                return self._parted(message)
            if "event" not in message:
                self._no_stray_line()
                return message
            text = as_text(message["text"])
            heard += len(text)
            if hear is None or heard > LIMIT:
                return self._overheard(allowed=hear is not None)
            hear(text)

    def _message(self, cmd: str, deadline: float, meanwhile: Callable[[], None] | None) -> JSONObject | Ended:
        line = self._channel.receive(deadline, meanwhile)
        message = line if isinstance(line, str) else decode(line, cmd, self._seq)
        if isinstance(message, Broken):
            raise self._blamed(message)
        return message

    def _parted(self, ended: Ended) -> Ended:
        self._channel.drain(_TO_SPEAK)
        partial = self._channel.partial
        self.end()
        if ended == "crashed" and partial:
            what = f"the output ends in the middle of a line: {partial[:60]!r}"
            raise self._blamed(Broken(what, remedy="End each message with a line feed, and flush it."), ahead=1)
        return ended

    def _overheard(self, *, allowed: bool) -> Ended:
        if not allowed:
            raise self._blamed(Broken("an event, which only a run may send", "$.event"))
        self.end()
        return "output-limit"

    def _no_stray_line(self) -> None:
        # A greeting before the first request is read as the answer to it, which tells best what is wrong with it.
        stray = self._channel.stray() if self._seq else None
        if stray is not None:
            what = f"more than was asked for, after the answer to request {self._seq}: {stray[:60]!r}"
            raise self._blamed(Broken(what, remedy="Answer each request with one line."), ahead=1)

    def _blamed(self, fault: Broken, ahead: int = 0) -> DriverError:
        self.end()
        place = f"line {self._channel.lines + ahead} of the adapter's standard output"
        where = f"runtime {self.profile.name}, {place}{', ' if fault.place else ''}{fault.place}"
        return DriverError(f"the adapter breaks the protocol: {fault.what}", where=where, remedy=fault.remedy)

    def _refused(self, what: str, remedy: str) -> DriverError:
        return DriverError(what, where=f"runtime {self.profile.name}, request {self._seq} ({self._at})", remedy=remedy)

    def _last_words(self) -> str:
        lines = self.stderr.decode(errors="replace").strip().splitlines()
        return f"Its last words on standard error: {shortened(lines[-1])}" if lines else ""


def _process(profile: Profile, home: Path, token: str) -> subprocess.Popen[bytes]:
    env = environment(profile, home, token) | lasting(profile.env)
    return started(profile.adapter, env, profile.folder or home, profile.name)


def _about(reply: JSONObject) -> About:
    protocol = reply["protocol"]
    return About(
        name=as_text(reply["name"]),
        version=as_text(reply["version"]),
        language=as_text(reply["language"]),
        protocol=protocol if isinstance(protocol, int) else 0,
        operations=tuple(map(as_text, as_list(reply["capabilities"]))),
    )


def _exit(code: int | None) -> str:
    if code is None:
        return "it closed its output"
    return f"exit status {code}" if code >= 0 else f"signal {-code}"
