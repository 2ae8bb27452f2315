"""Smoke-test an adapter by itself: is it wired up? Whether it is right is for the cases and vectors to say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pytest_agentcontract.drivers.adapter import TO_STOP, Adapter
from pytest_agentcontract.drivers.finding import Finding
from pytest_agentcontract.drivers.messages import OPERATIONS, answered, shortened
from pytest_agentcontract.drivers.stdio import TO_ANSWER
from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSONObject, Missing, as_object, dumps
from pytest_agentcontract.scenario.profile import Profile, ResultRule

UNKNOWN: Final = "no-such-operation"
_NAME = "adapter"
_TO_RUN = 30.0
_NOBODY = "http://127.0.0.1:9"
_TRICKY = "é, 😀, \u2028 and a \ttab"
_CONFIG: JSONObject = {"dispatch": {"status": "advance"}}
_SENTINEL = f"<!-- AGENT_RUN_CONFIG {dumps(_CONFIG)} -->"
_WORKFLOW: JSONObject = {
    "name": "sample",
    "agents": {"writer": {"role": "writes"}, "reader": {"role": "reads"}},
    "steps": [{"id": "write", "agent": "writer", "next": "read"}, {"id": "read", "agent": "reader", "terminal": True}],
}

SAMPLES: Final[Mapping[str, JSONObject]] = {
    "parse": {"text": f"Done.\n\n{_SENTINEL}", "author": "agent"},
    "render": {"config": _CONFIG},
    "model": {"json": dumps(_CONFIG)},
    "route": {
        "workflow": _WORKFLOW,
        "step": "write",
        "agent": "writer",
        "callback": None,
        "called_by": None,
        "text": f"Done.\n\n{_SENTINEL}",
        "failed": False,
    },
    "inert": {"text": _TRICKY},
    "notice": {
        "status": "awaiting-human",
        "stop": "hold",
        "started_by": "ada",
        "issue_author": "bob",
        "trigger_author": None,
    },
    "team": {
        "agents": _WORKFLOW["agents"],
        "agent": "writer",
        "called_by": "reader",
        "callback": "reader",
    },
}
"""One well-formed input for each operation."""


def check(argv: tuple[str, ...], folder: Path) -> Iterator[Finding]:
    """Start an adapter, ask it one of everything and stop it; yield what is found, in order."""
    profile = Profile(_NAME, "stdio", {}, ResultRule(), frozenset(), adapter=argv, folder=str(folder))
    try:
        adapter = Adapter(profile)
    except DriverError as error:
        yield _failed("start", error)
        return
    try:
        yield from _talk(adapter)
    finally:
        adapter.end()


def _talk(adapter: Adapter) -> Iterator[Finding]:
    try:
        about = adapter.start()
    except DriverError as error:
        yield _failed("start", error)
        return
    yield Finding("start", "ok", f"{about.name} {about.version} ({about.language}), protocol {about.protocol}")
    yield from _declared(about.operations)
    steps = [(op, SAMPLES[op]) for op in OPERATIONS if op in about.operations]
    for op, given in steps:
        finding = _operation(adapter, op, given)
        yield finding
        if not adapter.alive:
            return
    yield _unknown(adapter)
    if adapter.alive and "run" in about.operations:
        yield _run(adapter)
    if adapter.alive:
        yield Finding("seq", "ok", f"{adapter.asked} answers bore the numbers of their requests")
        yield from _parting(adapter)


def _declared(operations: tuple[str, ...]) -> Iterator[Finding]:
    yield Finding("declares", "ok", ", ".join(operations))
    left = [op for op in (*OPERATIONS, "run") if op not in operations]
    if left:
        yield Finding("", "note", f"not declared, hence never asked: {', '.join(left)}")


def _operation(adapter: Adapter, op: str, given: JSONObject) -> Finding:
    """Ask one operation; an adapter that says so in a well-formed way may still be unable to answer."""
    try:
        reply = adapter.request(op, {"input": given}, TO_ANSWER)
        if isinstance(reply, str):
            return _failed(op, adapter.lost(reply))
        answer = answered(reply)
        if answer.unsupported:
            return _failed(op, adapter.unkept())
    except DriverError as error:
        return _failed(op, error)
    if isinstance(answer.output, Missing):
        fix = f"The input was well-formed: {shortened(dumps(given))}"
        return Finding(op, "FAIL", f"answers with an error: {shortened(answer.error)}", fix)
    if op == "inert" and as_object(answer.output)["body"] != _TRICKY:
        fix = f"Read and write UTF-8, and leave alone what mentions nobody: {dumps(answer.output)}"
        return Finding(op, "FAIL", f"{_TRICKY!r} did not come back as it was", fix)
    return Finding(op, "ok", shortened(dumps(answer.output)))


def _unknown(adapter: Adapter) -> Finding:
    fix = '{"seq": n, "ok": false, "unsupported": true} is the answer to every cmd that you do not know.'
    try:
        reply = adapter.request(UNKNOWN, {"input": {}}, TO_ANSWER)
    except DriverError as error:
        return _failed("unknown", error)
    if isinstance(reply, str):
        return Finding("unknown", "FAIL", adapter.lost(reply).what, fix)
    if not answered(reply).unsupported:
        return Finding("unknown", "FAIL", f"answers {UNKNOWN!r} with {shortened(dumps(reply))}", fix)
    return Finding("unknown", "ok", "an operation that nobody knows is answered as unsupported")


def _run(adapter: Adapter) -> Finding:
    """Ask for a run that can't succeed, since nobody plays the model: it must still be answered."""
    with TemporaryDirectory() as folder:
        env = {f"{api}_{name}": value for api in ("ANTHROPIC", "OPENAI") for name, value in _MODEL.items()}
        asked: JSONObject = {
            "mode": "json",
            "wire": "anthropic-messages",
            "prompt": "Say hello.",
            "schema": None,
            "max_turns": 1,
            "env": {**env},
            "workdir": folder,
            "home": folder,
            "seconds": _TO_RUN,
        }
        try:
            reply = adapter.request("run", {"run": asked}, _TO_RUN, hear=lambda _text: None)
        except DriverError as error:
            return _failed("run", error)
    if isinstance(reply, str):
        return _failed("run", adapter.lost(reply))
    answer, code = answered(reply), as_object(reply.get("result")).get("exit_code")
    if answer.unsupported:
        return _failed("run", adapter.unkept())
    if code == 0:
        fix = f"Is it told where the model is? {_NOBODY} was in env, and nobody listens there."
        return Finding("run", "note", "reports success, although there was no model to ask", fix)
    said = f"exit code {code}" if not answer.error else f"an error: {shortened(answer.error)}"
    return Finding("run", "ok", f"without a model to ask: {said}")


def _parting(adapter: Adapter) -> Iterator[Finding]:
    noise = len(adapter.stderr.splitlines())
    took = adapter.stop()
    if took is None:
        fix = "End when `stop` comes, and when standard input ends."
        yield Finding("stop", "FAIL", f"still running {TO_STOP:g} seconds after `stop`; killed", fix)
    elif adapter.exit_code:
        yield Finding("stop", "FAIL", f"ended with status {adapter.exit_code}", "End with status 0 when `stop` comes.")
    else:
        yield Finding("stop", "ok", f"ended with status 0 after {took:.2f} s")
    if noise:
        yield Finding("stderr", "note", f"{noise} lines since the last request; they are kept, and not read")


def _failed(step: str, error: DriverError) -> Finding:
    place = error.where.partition(", ")[2] or error.where
    return Finding(step, "FAIL", f"{error.what} ({place})", error.remedy)


_MODEL: Final = {"BASE_URL": _NOBODY, "API_KEY": "nobody-checks-it"}
