"""One case played for a process that somebody else starts: what to set, what to say, then what happens, live."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_agentcontract.cli.following import Say, follow, interruptible
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.preparation import write_files
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.report.text import counted, harmless, indented
from pytest_agentcontract.report.wirelog import missed
from pytest_agentcontract.scenario.binding import Nonces, bind
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.observation import REFUSALS, Exchange
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.scenario.script import Script


def play(case: Case, profile: Profile, wire: str, say: Say) -> int:
    """Play the case until its script is used up, Ctrl-C, SIGTERM or SIGHUP; return the exit status."""
    nonces = Nonces.fresh()
    bound = bind(case, nonces)
    with TemporaryDirectory(prefix="agent-contract-", ignore_cleanup_errors=True) as folder, Provider() as provider:
        workdir, home = Path(folder, "work"), Path(folder, "home")
        script = Script(bound, profile, nonces, workdir)
        seat = provider.open(script, wire)
        launch = Launch(
            profile, wire, bound, script.prompt, script.lines, seat, nonces.public, workdir, home, profile.timeout
        )
        with interruptible() as interruption:
            _present(launch, say)
            follow(seat, say, lambda: interruption.heard, lambda: _ends(bound) and not _left(bound, seat.exchanges()))
        exchanges = seat.close()
        marks = sorted(path.name for path in workdir.glob("mark-*"))
        return _summary(bound, exchanges, marks, (*seat.missed, *provider.missed), say)


def _present(launch: Launch, say: Say) -> None:
    write_files(launch)
    for line in _introduction(launch):
        say(line)


def _introduction(launch: Launch) -> Iterator[str]:
    case = launch.case
    yield f"case {case.id or case.title}: {case.title}\n{indented(case.why)}\n"
    yield "set in your process's environment:"
    yield from (f"  export {name}={shlex.quote(value)}" for name, value in launch.environment.items())
    yield f"start it in:\n  cd {shlex.quote(str(launch.workdir))}"
    if launch.lines:
        yield "say to it, one line each time that it has answered:"
        yield from (f"  {line}" for line in launch.lines)
    else:
        yield f"give it as the prompt:\n{indented(launch.script_prompt, '  ')}"
    if launch.schema is not None:
        yield f"ask for a result of this schema:\n  {launch.schema_file}"
    if case.given.max_turns is not None:
        yield f"allow it this many model requests:\n  {case.given.max_turns}"
    yield "\nwaiting for its first request; Ctrl-C ends\n"


def _ends(case: Case) -> bool:
    return not any(turn.repeat for turns in case.script.values() for turn in turns)


def _left(case: Case, exchanges: tuple[Exchange, ...]) -> dict[str, int]:
    """Count the turns of each agent that were never handed over; a repeated one may be left."""
    served = {(seen.agent, seen.turn) for seen in exchanges if seen.delivered or seen.kind == "fault"}
    left = {
        agent: sum((agent, number) not in served and not turn.repeat for number, turn in enumerate(turns, 1))
        for agent, turns in case.script.items()
    }
    return {agent: count for agent, count in left.items() if count}


def _summary(case: Case, exchanges: tuple[Exchange, ...], marks: list[str], astray: tuple[str, ...], say: Say) -> int:
    left, refused = _left(case, exchanges), [seen for seen in exchanges if seen.kind in REFUSALS]
    say(f"\n{counted(len(exchanges), 'request')}, {len(refused)} refused; work done: {', '.join(marks) or 'none'}")
    for seen in refused:
        say(harmless(f"  refused #{seen.serial} ({seen.kind}): {seen.note}"))
    for line in missed(astray):
        say(harmless(line))
    for agent, count in left.items():
        say(f"  {agent} never asked for the last {count} of its turns")
    if not left and not refused:
        say("the whole script was asked for")
    return 1 if left or refused else 0
