"""One script served for a test suite in any language: a URL to wait for, a log, and an exit status at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from pytest_agentcontract.plugin.following import Say, follow, interruptible
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.scripted import journal, load, playbook
from pytest_agentcontract.scripted.playbook import Playbook
from pytest_agentcontract.scripted.provider import environment
from pytest_agentcontract.scripted.violations import violations
from pytest_agentcontract.wire.formats import FORMATS


def play(path: Path, say: Say, *, port: int = 0, log: Path | None = None, once: bool = False) -> int:
    """Serve a script file until Ctrl-C, SIGTERM or SIGHUP (or `once`: until it is used up); return the exit status.

    0: the whole script was asked for and nothing was refused; 1: anything else. Raises ScriptError for a wrong script
    and UsageError for a log that can't be written, be it later in the run.
    """
    book = load.load(path)
    with journal.opened(log) as notes, Provider(port) as provider:
        seat = provider.open(playbook.script(book), *FORMATS, at="", heard=notes.note)
        notes.header(str(path), seat.base_url)
        with interruptible() as interruption:
            for line in _introduction(path, book, seat.base_url, once=once):
                say(line)
            follow(seat, say, lambda: interruption.heard or notes.broken, lambda: once and not seat.left)
        exchanges = seat.close()
        notes.check()
    found = violations(book, exchanges, seat.left, seat.missed)
    say(f"\n{len(exchanges)} requests, {len(found) or 'no'} violation{'s' * (len(found) != 1)} of the script")
    for line in found:
        say(f"  {line}")
    return int(bool(found))


def _introduction(path: Path, book: Playbook, url: str, *, once: bool) -> Iterator[str]:
    yield f"serving {harmless(str(path))} at {url}"
    yield from (f"  export {name}={shlex.quote(value)}" for name, value in environment(url).items())
    for agent, turns in book.agents.items():
        sign = f", known by {book.by} {book.signs[agent]!r}" if book.signs[agent] else ""
        yield f"  {agent}: {len(turns)} turns{sign}"
    if book.gates:
        yield f"  gates: {', '.join(book.gates)}; each is opened by POST {url}/gates/NAME"
    yield f"waiting for requests; {'the end of the script' if once else 'Ctrl-C or SIGTERM'} ends\n"
