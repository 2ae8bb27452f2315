"""One script served for a test suite in any language: a URL to wait for, a log, and an exit status at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pytest_agentcontract.cli.following import Say, follow, interruptible
from pytest_agentcontract.errors import ProviderError, ScriptError
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.report.text import counted, harmless
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
    book = _book(path)
    with journal.opened(log) as notes, _provider(port) as provider:
        seat = provider.open(playbook.script(book), *FORMATS, at="", heard=notes.note)
        notes.header(str(path), seat.base_url)
        with interruptible() as interruption:
            for line in _introduction(path, book, seat.base_url, once=once):
                say(line)
            follow(seat, say, lambda: interruption.heard or notes.broken, lambda: once and not seat.left)
        exchanges = seat.close()
        notes.check()
    found = violations(book, exchanges, seat.left, seat.missed)
    if not exchanges and not found:
        found = ("nothing was asked",)
    told = counted(len(found), "violation") if found else "no violations"
    say(f"\n{counted(len(exchanges), 'request')}, {told} of the script")
    for line in found:
        say(f"  {line}")
    return int(bool(found))


def _book(path: Path) -> Playbook:
    if load.is_toml(path):
        raise ScriptError(
            "this is a configuration, and no script",
            where=str(path),
            remedy="`pytest --agent-contract` reads it; `serve` plays a script in JSON or YAML.",
        )
    return load.load(path)


@contextmanager
def _provider(port: int) -> Iterator[Provider]:
    provider = Provider(port)
    try:
        provider.__enter__()
    except ProviderError as error:
        if not port:
            raise
        raise ProviderError(error.what, remedy="Choose another port, or --port 0 for any free one.") from error
    with ExitStack() as stack:
        stack.push(provider)
        yield provider


def _introduction(path: Path, book: Playbook, url: str, *, once: bool) -> Iterator[str]:
    yield f"serving {harmless(str(path))} at {url}"
    yield from (f"  export {name}={shlex.quote(value)}" for name, value in environment(url).items())
    for agent, turns in book.agents.items():
        sign = f", known by {book.by} {book.signs[agent]!r}" if book.signs[agent] else ""
        yield f"  {agent}: {counted(len(turns), 'turn')}{sign}"
    if book.gates:
        yield f"  gates: {', '.join(book.gates)}; each is opened by POST {url}/gates/NAME"
    yield f"waiting for requests; {'the end of the script' if once else 'Ctrl-C or SIGTERM'} ends\n"
