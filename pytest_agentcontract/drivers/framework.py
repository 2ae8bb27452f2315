"""Drive a framework of Python: a recipe loaded once in the framework's own interpreter, and forked there for each run.

One such process for each runtime is started by its first run and ended at exit. Where it can't be forked, or the
recipe forbids it, each run has an interpreter of its own.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from tempfile import TemporaryFile
from typing import Final

from pytest_agentcontract.drivers import guardian, installed
from pytest_agentcontract.drivers.attending import attended
from pytest_agentcontract.drivers.framework_process import CantForkError, FrameworkProcess, Pipes
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.outcome import LIMIT, TOO_MUCH, Found, Run, deliver, parse
from pytest_agentcontract.drivers.preparation import environment, write_files
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import MISSING, JSONObject, as_object, as_text
from pytest_agentcontract.scenario.observation import Delivery
from pytest_agentcontract.scenario.profile import Profile

_LOCK = threading.Lock()
_LOADED: dict[str, FrameworkProcess] = {}
_FAILED: dict[str, DriverError] = {}
"""Recipes that can't be loaded: trying again would cost each case what it cost the first."""


def drive(launch: Launch) -> Delivery:
    """Have the recipe carry out one run; raise DriverError where it can't be loaded."""
    write_files(launch)
    try:
        with _loaded(launch.profile) as host:
            return _run(launch, host)
    except CantForkError:
        with _lone(launch.profile) as host:
            return _run(launch, host)


def stop_all() -> None:
    """End every framework's process; each is started anew when it is needed again."""
    _FAILED.clear()
    while _LOADED:
        _LOADED.popitem()[1].close()


def _run(launch: Launch, host: FrameworkProcess) -> Delivery:
    with TemporaryFile() as document, guardian.guarding(launch.nonce, *launch.folders), host.attending():
        pipes = Pipes(open_stdin=launch.case.given.open_stdin)
        try:
            forked = host.play(_asked(launch), pipes, document)
        except BaseException:
            pipes.close()
            raise
        finally:
            pipes.hand_over()
        run, strays = attended(launch, forked), host.left_behind()
        if run.ended in ("exited", "crashed"):
            run = replace(run, leftovers=run.leftovers + strays)
        document.seek(0)
        return deliver(launch, *_found(launch, run, document.read()))


def _asked(launch: Launch) -> JSONObject:
    profile, env = launch.profile, launch.environment
    start: JSONObject = {
        "mode": launch.case.given.mode,
        "prompt": launch.script_prompt,
        "schema": launch.schema,
        "max_turns": launch.case.given.max_turns,
        "env": {**env},
        "settings": {**profile.settings},
        "workdir": str(launch.workdir),
    }
    return {"env": {**environment(profile, launch.home, launch.nonce), **env}, "start": start, "limit": LIMIT}


def _found(launch: Launch, run: Run, written: bytes) -> tuple[Run, Found]:
    """Read what the run wrote down when it returned; in text mode what it printed is all there is."""
    if launch.case.given.mode != "json":
        return run, Found()
    if run.ended == "output-limit":
        return run, Found(problem=TOO_MUCH)
    try:
        outcome = as_object(parse(written.decode(), "the result document"))
    except ValueError:
        return run, Found(problem=_PROBLEMS[run.ended])
    if "flooded" in outcome:
        return replace(run, ended="output-limit"), Found(problem=TOO_MUCH)
    return run, Found(outcome.get("document", MISSING), as_text(outcome.get("problem", "")))


_PROBLEMS: Final = {
    "exited": "the run ended without a result: something ended the process before the recipe returned",
    "time-limit": "the recipe did not return in time",
    "crashed": "the run crashed before the recipe returned",
}


@contextmanager
def _loaded(profile: Profile) -> Iterator[FrameworkProcess]:
    """Hand out the process that has the recipe in it, or one for this run where it must not be forked."""
    key = repr(
        (profile.name, profile.entry, installed.interpreter(profile), profile.settings, profile.env, profile.path)
    )
    with _LOCK:
        host = _kept(key, profile)
    if host.forks:
        yield host
    else:
        with closing(host):
            yield host


def _kept(key: str, profile: Profile) -> FrameworkProcess:
    found = _LOADED.get(key)
    if found is not None and found.alive:
        return found
    if key in _FAILED:
        raise _FAILED[key]
    if found is not None:
        _LOADED.pop(key).close()
    try:
        host = FrameworkProcess(profile)
    except DriverError as error:
        _FAILED[key] = error
        raise
    if host.forks:
        _LOADED[key] = host
    return host


@contextmanager
def _lone(profile: Profile) -> Iterator[FrameworkProcess]:
    with closing(FrameworkProcess(profile, alone=True)) as host:
        yield host


def _forget() -> None:
    while _LOADED:
        _LOADED.popitem()[1].forget()


atexit.register(stop_all)
os.register_at_fork(after_in_child=_forget)
