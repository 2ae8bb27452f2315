"""What recording costs, beside direct traffic and vcrpy's patching: the first byte, many streams, many exchanges."""

from __future__ import annotations

import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import vcr  # type: ignore[import-untyped] # it ships no types
from figures import environment, paired, report
from monologue import events

from pytest_agentcontract.cassette.file.store import load

HERE = Path(__file__).parent
PATIENCE = 60
ROUNDS = 60
STREAMED = 10
GAP_MS = 5
PARALLEL = 64
MANY, FEW, WINDOW = 1_000, 10, 100
TAPES = 3
MOST_ADDED_MS = 10.0
MOST_GROWTH = 1.2


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run one of the servers, and say at which URL it is; its input ends with the block."""
    command = [sys.executable, *arguments]
    env = {**environment(), "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent)])}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server, _line(server)
        finally:
            server.terminate()


def recorder(upstream: str, cassette: Path) -> tuple[str, ...]:
    """Return what starts a recorder."""
    return str(HERE / "servers" / "recording.py"), upstream, str(cassette)


def cpu(server: subprocess.Popen[str]) -> float:
    """Ask a recorder for the CPU seconds that it has used."""
    print(file=server.stdin, flush=True)
    return float(_line(server))


def finished(server: subprocess.Popen[str]) -> float:
    """Have a recorder write its cassette; return the CPU seconds that it has used then."""
    if server.stdin is not None:
        server.stdin.close()
    return float(_line(server))


class Client:
    """One connection to a base URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._path = f"{parts.path}/v1/messages"
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)

    def ask(self, mark: str, number: int, gap_ms: int) -> tuple[float, bytes]:
        """Return the seconds until the first event, and all of the body."""
        begun = time.perf_counter()
        self._connection.request("POST", f"{self._path}?events={number}&gap={gap_ms}", mark.encode())
        response = self._connection.getresponse()
        first = response.readline()
        seconds = time.perf_counter() - begun
        return seconds, first + response.read()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


def first_event(url: str) -> float:
    """Return the milliseconds until the first event of a new connection."""
    client = Client(url)
    seconds, _ = client.ask("first", STREAMED, GAP_MS)
    client.close()
    return seconds * 1000


def first_bytes(upstream: str, recorded: str, folder: Path) -> bool:
    """Measure the first event directly, through the recorder, and under vcrpy, in alternating rounds."""
    found: dict[str, list[float]] = {"direct": [], "recorder": [], "vcrpy": []}
    for number in range(ROUNDS):
        found["direct"].append(first_event(upstream))
        found["recorder"].append(first_event(recorded))
        with vcr.use_cassette(str(folder / f"first-{number}.yaml")):
            found["vcrpy"].append(first_event(upstream))
    print(f"first event of {STREAMED}, {GAP_MS} ms apart, medians of {ROUNDS} alternating rounds")
    report("  directly", statistics.median(found["direct"]), " ms")
    report("  through the recorder", statistics.median(found["recorder"]), " ms")
    report("  under vcrpy's patching", statistics.median(found["vcrpy"]), " ms")
    added = {name: statistics.median(_differences(found[name], found["direct"])) for name in ("recorder", "vcrpy")}
    report("  added by vcrpy's patching", added["vcrpy"], " ms")
    return report("  added by the recorder", added["recorder"], " ms", MOST_ADDED_MS)


def streams(url: str) -> tuple[float, dict[str, bytes]]:
    """Ask for many streams at once; return the seconds that they took, and what each said."""
    everybody = threading.Barrier(PARALLEL)

    def stream(number: int) -> tuple[str, bytes]:
        client = Client(url)
        everybody.wait(PATIENCE)
        _, body = client.ask(f"stream-{number}", 2 * STREAMED, 2 * GAP_MS)
        client.close()
        return f"stream-{number}", body

    begun = time.perf_counter()
    with ThreadPoolExecutor(PARALLEL) as pool:
        said = dict(pool.map(stream, range(PARALLEL)))
    return time.perf_counter() - begun, said


def parallel(upstream: str, folder: Path) -> bool:
    """Tell whether many streams at once are heard and recorded whole."""
    cassette = folder / "parallel.yaml"
    directly, _ = streams(upstream)
    with started(*recorder(upstream, cassette)) as (server, url):
        through, said = streams(url)
        finished(server)
    expected = {mark: b"".join(events(mark, 2 * STREAMED)) for mark in said}
    entries = load(cassette).exchanges
    kept = {entry.request_body.decode(): entry.body for entry in entries if entry.ending == "whole"}
    pieces = {len(entry.pieces) for entry in entries}
    print(f"{PARALLEL} streams at once, {2 * STREAMED} events each, {2 * GAP_MS} ms apart")
    report("  directly", directly, " s")
    report("  through the recorder", through, " s")
    whole = [sum(found.get(mark) == body for mark, body in expected.items()) for found in (said, kept)]
    print(f"  heard whole: {whole[0]}, recorded whole: {whole[1]}, pieces of each: {min(pieces)} to {max(pieces)}")
    return whole == [PARALLEL, PARALLEL]


def per_exchange(url: str, used: Callable[[], float]) -> tuple[float, float]:
    """Record many exchanges; return the CPU milliseconds of one, of those after the first few and of the last."""
    client, spent = Client(url), [used()]
    for first, after in ((0, FEW), (FEW, FEW + WINDOW), (FEW + WINDOW, MANY - WINDOW), (MANY - WINDOW, MANY)):
        for number in range(first, after):
            client.ask(f"exchange-{number}", STREAMED, 0)
        spent.append(used())
    client.close()
    _, few, after_few, many, after_many = spent
    return (after_few - few) * 1000 / WINDOW, (after_many - many) * 1000 / WINDOW


def growth(upstream: str, folder: Path) -> bool:
    """Measure whether an exchange costs the same however many were recorded before it."""
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    writing: list[float] = []
    for number in range(TAPES):
        with started(*recorder(upstream, folder / f"ours-{number}.yaml")) as (server, url):
            ours.append(per_exchange(url, partial(cpu, server)))
            before = cpu(server)
            writing.append((finished(server) - before) * 1000 / MANY)
        with vcr.use_cassette(str(folder / f"theirs-{number}.yaml")):
            theirs.append(per_exchange(upstream, time.process_time))
    print(
        f"CPU of one exchange of {STREAMED} events, medians of {TAPES} cassettes with {MANY} (vcrpy: client included)"
    )
    for name, found in (("recorder", ours), ("vcrpy", theirs)):
        report(f"  {name}, after {FEW}", statistics.median(few for few, _ in found), " ms")
        report(f"  {name}, after {MANY - WINDOW}", statistics.median(many for _, many in found), " ms")
    report("  recorder, compiling the cassette at the end", statistics.median(writing), " ms")
    report("  vcrpy, growth", paired([many for _, many in theirs], [few for few, _ in theirs]), "x")
    return report("  recorder, growth", paired([many for _, many in ours], [few for few, _ in ours]), "x", MOST_GROWTH)


def main() -> int:
    """Measure, print, and return 1 if a promise is broken."""
    with tempfile.TemporaryDirectory() as name, started(str(HERE / "servers" / "stream.py")) as (_, upstream):
        folder = Path(name)
        with started(*recorder(upstream, folder / "first.yaml")) as (_, url):
            quick = first_bytes(upstream, url, folder)
        whole = parallel(upstream, folder)
        flat = growth(upstream, folder)
    return not (quick and whole and flat)


def _line(server: subprocess.Popen[str]) -> str:
    return server.stdout.readline().strip() if server.stdout is not None else ""


def _differences(some: list[float], others: list[float]) -> list[float]:
    return [a - b for a, b in zip(some, others, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
