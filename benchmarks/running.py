"""A server as a process: started and waited for, looked at through /proc, put under load, ended."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import contestants
from contestants import Contestant
from plain_answer import PATH
from validation import UnfitError, ask, validate

if TYPE_CHECKING:
    from question import Shape

START_LIMIT = 60.0
_POLL = 0.003
_TICK = os.sysconf("SC_CLK_TCK")
_LOAD = Path(__file__).with_name("load.py")


@dataclass(frozen=True, slots=True)
class Load:
    """What a load did: how many answers came in how many seconds, and the CPU seconds that the server used."""

    answers: int
    seconds: float
    cpu: float


class Server:
    """A running server. It ends with the `with` block."""

    def __init__(self, contestant: Contestant, folder: Path) -> None:
        self.contestant = contestant
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the process
        port = _free_port()
        begun = time.perf_counter()
        self._process = subprocess.Popen(
            contestant.command(folder, port),
            env=contestants.environment(contestant, folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if contestant.package else subprocess.PIPE,
            stderr=self._complaints,
        )
        try:
            self.port, self.path = (port, PATH) if contestant.package else self._told()
            self._wait(begun + START_LIMIT)
            self.start_up = time.perf_counter() - begun
            self.idle = self.memory()
            contestant.prepare(self.port)
            validate(self.port, self.path, contestant.text)
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def load(self, shape: Shape, lines: int, seconds: float, most: int = 0) -> Load:
        """Put a load on the server and wait for its end; raise UnfitError for a single wrong answer."""
        command = [sys.executable, str(_LOAD), str(self.port), self.path, shape]
        command += ["--lines", str(lines), "--seconds", str(seconds), "--most", str(most)]
        before = self.cpu()
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        if run.returncode:
            raise UnfitError(f"it gave way under {lines} connections: {run.stderr.strip().splitlines()[-1]}")
        counted = json.loads(run.stdout)
        if counted["wrong"] or not counted["right"]:
            raise UnfitError(f"{counted['wrong']} wrong answers ({shape}, {lines} connections)")
        return Load(counted["right"], counted["seconds"], self.cpu() - before)

    def cpu(self) -> float:
        """Return the CPU seconds that the server and its children have used, those that have ended too."""
        return sum(sum(map(int, _stat(pid)[11:15])) for pid in self._family()) / _TICK

    def memory(self) -> float:
        """Return the server's proportional share of memory in MB, its children's too."""
        lines = (line for pid in self._family() for line in _lines(f"/proc/{pid}/smaps_rollup"))
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024

    def end(self) -> None:
        """End the server, by force if asking is of no use."""
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._complaints.close()

    def _told(self) -> tuple[int, str]:
        """Read the URL that a server of ours prints."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        url = urlsplit(self._process.stdout.readline().decode().strip())
        if url.port is None:
            raise UnfitError(f"it did not start: {self._complaint()}")
        return url.port, url.path + PATH

    def _wait(self, deadline: float) -> None:
        """Ask until the first answer comes."""
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                ask(self.port, self.path, "json")
            except OSError:
                if self._process.poll() is not None:
                    raise UnfitError(f"it ended by itself: {self._complaint()}") from None
                if time.perf_counter() > deadline:
                    raise UnfitError(f"no answer within {START_LIMIT:.0f} s") from None
                time.sleep(_POLL)
            else:
                return

    def _complaint(self) -> str:
        self._complaints.seek(0)
        return (self._complaints.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]

    def _family(self) -> Iterator[int]:
        """Return the process and all that descend from it."""
        children = defaultdict(list)
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and (stat := _stat(int(entry.name))):
                children[int(stat[1])].append(int(entry.name))
        waiting = [self._process.pid]
        while waiting:
            yield (pid := waiting.pop())
            waiting += children[pid]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; none for a process that is gone."""
    return "".join(_lines(f"/proc/{pid}/stat")).rpartition(")")[2].split()


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []
