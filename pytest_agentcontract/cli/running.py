"""Commands that run somebody's program on a cassette: record and replay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_agentcontract.cli.group import main, told
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.report.text import counted, harmless

if TYPE_CHECKING:
    from pytest_agentcontract.provider.replayer import Pace
    from pytest_agentcontract.recorded.session import Session
    from pytest_agentcontract.recorded.use import Use

_ANY = {"ignore_unknown_options": True}
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
_BY_SIGNAL = 128
_MODES = ("once", "new_episodes", "all", "rewrite")


@main.command(context_settings=_ANY)
@click.option(
    "--output",
    "-o",
    "path",
    default="cassette.yaml",
    show_default=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
)
@click.option("--mode", type=click.Choice(_MODES), default=_MODES[0], help="What becomes of a cassette that is there.")
@click.option("--upstream", "named", multiple=True, metavar="NAME=URL", help="Whom to ask in place of the usual one.")
@click.option("--elide", multiple=True, metavar="POINTER", help="Leave out long texts at a place of requests.")
@click.option("--note", default="", metavar="TEXT", help="What the cassette says about itself.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@told
def record(
    path: Path, mode: str, named: tuple[str, ...], elide: tuple[str, ...], note: str, command: tuple[str, ...]
) -> None:
    """Run a program (after `--`: its command line), and record what it asks of model providers.

    The base URLs that the providers' clients read from the environment lead to the recorder, which asks whom they led
    to before. A program that fails leaves its recording apart. The exit status is the program's.
    """
    from pytest_agentcontract.cassette.modes import RecordMode  # noqa: PLC0415 - for these commands only
    from pytest_agentcontract.recorded.use import Use  # noqa: PLC0415 - the same

    if mode == RecordMode.ONCE and path.exists():
        raise UsageError(
            "there is a cassette already",
            where=str(path),
            remedy="Name another file, or say by --mode what becomes of it: new_episodes, all or rewrite.",
        )
    use = Use(mode=RecordMode(mode), upstreams=dict(map(_upstream, named)), elide=elide, note=note)
    with _session(path, use) as session:
        status = _run(command, session.env)
        message = session.close(failed=status != 0)
    _say(*([message] if message else []), _recorded(session, status))
    sys.exit(status or int(bool(message)))


@main.command(context_settings=_ANY)
@click.argument("path", metavar="CASSETTE", type=click.Path(path_type=Path))
@click.option("--pace", type=click.Choice(["zero", "recorded"]), default="zero", help="How fast answers come.")
@click.option("--allow-unplayed", is_flag=True, help="Entries may be left that nobody asked for.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@told
def replay(
    path: Path,
    pace: Pace,
    allow_unplayed: bool,  # noqa: FBT001 - click passes options by name
    command: tuple[str, ...],
) -> None:
    """Run a program (after `--`: its command line) against a cassette; nothing goes out.

    The exit status is the program's, or 1 if it asked for something else than was recorded, or not for all of it.
    """
    from pytest_agentcontract.recorded.use import Use  # noqa: PLC0415 - for these commands only

    with _session(path, Use(pace=pace, allow_unplayed=allow_unplayed)) as session:
        status = _run(command, session.env)
        message = session.close()
    _say(message or f"{path}: played as it was recorded{f'; the program ended with {status}' if status else ''}")
    sys.exit(status or int(bool(message)))


@contextmanager
def _session(path: Path, use: Use) -> Iterator[Session]:
    from pytest_agentcontract.provider.server import Provider  # noqa: PLC0415 - for these commands only
    from pytest_agentcontract.recorded.session import Session  # noqa: PLC0415 - the same

    with Provider() as listener:
        session = Session(listener, path, use)
        try:
            yield session
        except UsageError:  # the program never ran
            session.close(failed=True)
            raise


def _upstream(named: str) -> tuple[str, str]:
    from pytest_agentcontract.cassette.upstreams import UPSTREAMS  # noqa: PLC0415 - for these commands only

    name, separator, url = named.partition("=")
    if not separator or name not in UPSTREAMS:
        known = ", ".join(UPSTREAMS)
        remedy = f"Write NAME=URL, as in --upstream openai=https://host/v1; a name is one of {known}."
        raise UsageError(f"--upstream {named} names no provider that a program's variables lead to", remedy=remedy)
    return name, url


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Run a program to its end, as if it stood here alone; return its exit status as a shell would tell it."""
    try:
        running = subprocess.Popen(command, env={**os.environ, **environment})
    except OSError as error:
        raise UsageError(f"{command[0]} can't be run: {error.strerror}", remedy="Name a program after `--`.") from error
    with _signals_passed_on(running):
        status = running.wait()
    return status if status >= 0 else _BY_SIGNAL - status


@contextmanager
def _signals_passed_on(running: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave it to the program what a signal means. Ctrl-C reaches it from the terminal by itself."""
    before = {number: signal.signal(number, lambda got, _frame: running.send_signal(got)) for number in _PASSED_ON}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _recorded(session: Session, status: int) -> str:
    if session.kept_at is None:
        return f"{session.path}: nothing was written"
    found = f", {session.recovered} recovered of a recording that was interrupted" if session.recovered else ""
    what = f"{counted(session.recorded, 'exchange')} recorded{found}"
    if session.kept_at == session.path:
        return f"{session.path}: {what}"
    why = f"the program ended with {status}" if status else "something was wrong"
    return f"{session.kept_at}: {what}; kept apart, for {why}"


def _say(*lines: str) -> None:
    """Speak on stderr: stdout is the program's."""
    for line in lines:
        click.echo(harmless(f"agent-contract: {line}"), err=True)
