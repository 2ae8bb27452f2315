"""Drive a runtime through an adapter: one long-lived process for each runtime, asked by JSON lines on its input.

It is started by the first request, ended at exit, and started again after whatever broke the conversation; one that
fails to start several times in a row is given up.
"""

from __future__ import annotations

import atexit
import time
from typing import Final

from pytest_agentcontract.drivers.adapter import About, Adapter
from pytest_agentcontract.drivers.conversation import Conversation
from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.drivers.messages import Answer, answered
from pytest_agentcontract.drivers.outcome import TOO_MUCH, Found, Run, deliver
from pytest_agentcontract.drivers.preparation import write_files
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, as_object, dumps
from pytest_agentcontract.scenario.observation import Delivery, Ended
from pytest_agentcontract.scenario.profile import Profile

TO_ANSWER: Final = 10.0
"""How many seconds an adapter has for one operation."""

MOST_STARTS: Final = 3
"""How often in a row an adapter may fail to start before it is started no more."""

_ADAPTERS: dict[str, Adapter] = {}
_FAILED: dict[str, list[DriverError]] = {}
"""Of each adapter the failed starts since it last was there."""


def drive(launch: Launch) -> Delivery:
    """Have the adapter carry out one run, and read what it delivered."""
    adapter = _adapter(launch.profile)
    if "run" not in adapter.about.operations:
        raise DriverError(
            "the adapter declares no `run`",
            where=f"runtime {launch.profile.name}",
            remedy="Claim only `handoff` in the profile's capabilities, or let the adapter carry out runs.",
        )
    write_files(launch)
    return _Stage(launch, adapter).play()


def ask(profile: Profile, op: str, given: JSON, seconds: float = TO_ANSWER) -> Answer:
    """Have the adapter answer one operation; raise DriverError where no answer comes, or a broken one."""
    adapter = _adapter(profile)
    if op not in adapter.about.operations:
        return Answer(unsupported=True)
    reply = adapter.request(op, {"input": given}, seconds)
    if isinstance(reply, str):
        raise adapter.lost(reply)
    answer = answered(reply)
    if answer.unsupported:
        raise adapter.unkept()
    return answer


def about(profile: Profile) -> About:
    """Return what the runtime's adapter says of itself."""
    return _adapter(profile).about


def stop_all() -> None:
    """Stop every adapter; each is started anew when it is needed again."""
    _FAILED.clear()
    while _ADAPTERS:
        _ADAPTERS.popitem()[1].stop()


class _Stage:
    """One run of an adapter: what it is told, what it prints on the way, how it comes back."""

    def __init__(self, launch: Launch, adapter: Adapter) -> None:
        self._launch, self._adapter = launch, adapter
        self._conversation = Conversation(launch) if launch.case.given.mode == "interactive" else None
        self._printed: list[str] = []

    def play(self) -> Delivery:
        launch, adapter = self._launch, self._adapter
        known, started = adapter.family(), time.monotonic()
        talk = self._talk if self._conversation else None
        reply = adapter.request("run", {"run": _asked(launch)}, launch.timeout, self._hear, talk)
        returned_at = time.monotonic() - started
        launch.seat.over()
        leftovers = adapter.left_behind(known, *launch.folders) if adapter.alive else ()
        ended, code, found = self._read(reply)
        stdout = "".join(self._printed)
        if not stdout and not isinstance(found.document, Missing):
            stdout = dumps(found.document) + "\n"
        printed = stdout.encode(errors="surrogatepass")
        seconds = time.monotonic() - started
        return deliver(launch, Run(ended, code, printed, adapter.stderr, leftovers, seconds, returned_at), found)

    def _hear(self, text: str) -> None:
        self._printed.append(text)
        self._launch.seat.printed(text)

    def _talk(self) -> None:
        if self._conversation is not None and self._conversation.due:
            line = self._conversation.next()
            self._adapter.say(line)
            self._conversation = None if line is None else self._conversation

    def _read(self, reply: JSONObject | Ended) -> tuple[Ended, int | None, Found]:
        if isinstance(reply, str):
            return reply, self._adapter.exit_code, Found(problem=_PROBLEMS[reply])
        answer = answered(reply)
        if answer.unsupported:
            raise self._adapter.unkept()
        if answer.error:
            return "crashed", None, Found(problem=f"the adapter reports an error: {answer.error}")
        result = as_object(reply["result"])
        code = result["exit_code"]
        return "exited", code if isinstance(code, int) else None, self._found(result)

    def _found(self, result: JSONObject) -> Found:
        if self._launch.case.given.mode != "json":
            return Found()
        if any(text.strip() for text in self._printed):
            return Found(problem="the run printed other text beside the result document")
        document = result.get("document", MISSING)
        return Found(document, "the run returned no result document" if isinstance(document, Missing) else "")


_PROBLEMS: Final = {
    "exited": "the adapter left without an answer",
    "time-limit": "the adapter did not answer in time",
    "output-limit": TOO_MUCH,
    "crashed": "the adapter was gone before it answered",
}


def _asked(launch: Launch) -> JSONObject:
    paths = launch.handoff
    asked: JSONObject = {
        "mode": launch.case.given.mode,
        "wire": launch.wire,
        "prompt": launch.script_prompt,
        "schema": launch.schema,
        "max_turns": launch.case.given.max_turns,
        "env": {**launch.environment},
        "workdir": str(launch.workdir),
        "home": str(launch.home),
        "seconds": launch.timeout,
    }
    if paths is not None:
        event = str(paths.event) if paths.event else None
        asked["handoff"] = {"workflow": str(paths.workflow), "thread": str(paths.thread), "event": event}
    return asked


def _adapter(profile: Profile) -> Adapter:
    key = repr((profile.name, profile.adapter, profile.folder, profile.settings, profile.env, profile.path))
    found = _ADAPTERS.get(key)
    if found is not None and found.alive:
        return found
    failed = _FAILED.setdefault(key, [])
    if len(failed) >= MOST_STARTS:
        last = failed[-1]
        what = f"{last.what}; it failed to start {len(failed)} times in a row, and is not started again"
        raise DriverError(what, where=last.where, remedy=last.remedy)
    try:
        _ADAPTERS[key] = _started(profile)
    except DriverError as error:
        failed.append(error)
        raise
    failed.clear()
    return _ADAPTERS[key]


def _started(profile: Profile) -> Adapter:
    adapter = Adapter(profile)
    try:
        adapter.start()
    except BaseException:
        adapter.end()
        raise
    return adapter


atexit.register(stop_all)
