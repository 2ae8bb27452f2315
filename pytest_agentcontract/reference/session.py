"""One run from start to result: a headless root in JSON or text output, or a conversation."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass

from pytest_agentcontract.contract import reply, returning
from pytest_agentcontract.contract.returning import ENDED, Event, Role, Seen, State
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject
from pytest_agentcontract.reference import schemas
from pytest_agentcontract.reference.agent import Agent
from pytest_agentcontract.reference.clients import connect
from pytest_agentcontract.reference.rules import Rules
from pytest_agentcontract.reference.run import Printer, Run
from pytest_agentcontract.scenario.start import Result, Start

_SUBTYPES = {
    returning.STEP_CAP: "error_max_turns",
    returning.NO_REPLY: "error_no_reply",
    returning.REPLY_REJECTED: "error_reply_rejected",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended; `problem` is a line for people, where it failed."""

    result: Result
    problem: str = ""


async def session(start: Start, rules: Rules) -> Ended:
    """Run one root to its end."""
    began = time.monotonic()
    if start.schema is not None:
        schemas.check(start.schema)
    printer = None if start.mode == "json" else Printer(start.write, live=rules.live_text)
    step_cap = rules.step_cap if start.max_turns is None else start.max_turns
    async with connect(start.env, rules) as client:
        run = Run(rules, client, start.workdir, step_cap, start.read_line, printer)
        root = Agent(run, Role(is_root=True, interactive=start.mode == "interactive"), schema=start.schema)
        if start.mode == "interactive":
            await _converse(root, start)
        else:
            await root.work(start.prompt)
    failed = root.progress.state not in (State.RETURNED, State.CLOSED)
    if printer is not None:
        _print_payload(printer, root)
    document = _document(root, failed=failed, seconds=time.monotonic() - began) if printer is None else MISSING
    reason = ": ".join(filter(None, (root.progress.reason, root.detail)))
    return Ended(Result(document, rules.exit_code(failed=failed)), reason if failed else "")


async def _converse(root: Agent, start: Start) -> None:
    loop = asyncio.get_running_loop()
    try:
        while root.progress.state not in ENDED:
            # Reading blocks; in a thread it leaves the children at work.
            line = await loop.run_in_executor(None, start.read_line)
            if line is None:
                root.progress = root.run.rules.advance(root.progress, Seen(Event.END_OF_INPUT))
            else:
                await root.hear(line)
                _tell_problem(root)
    finally:
        await root.end_children()


def _tell_problem(root: Agent) -> None:
    if root.progress.reason and root.run.printer is not None:
        root.run.printer.token(f"[{root.progress.reason}]\n")


def _print_payload(printer: Printer, root: Agent) -> None:
    if root.progress.state is State.RETURNED:
        value = root.run.rules.for_caller(root.progress.value, root.trail)
        printer.token(reply.for_parent(value) + "\n")
    printer.close()


def _result(root: Agent, *, failed: bool) -> JSON:
    if failed:
        return root.run.rules.failed_result(root.trail, root.progress.reason)
    return root.run.rules.for_caller(root.progress.value, root.trail)


def _usage(root: Agent) -> JSON:
    tokens = root.run.rules.usage(root.run.meter.readings)
    return None if tokens is None else {"input_tokens": tokens.input, "output_tokens": tokens.output}


def _document(root: Agent, *, failed: bool, seconds: float) -> JSONObject:
    reason = root.progress.reason
    failure: JSONObject = {"reason": reason, "detail": root.detail} if failed else {}
    return root.run.rules.document(
        {
            "type": "result",
            "subtype": _SUBTYPES.get(reason, "error_during_execution") if failed else "success",
            "is_error": failed,
            "result": _result(root, failed=failed),
            "num_turns": root.progress.steps,
            "session_id": str(uuid.uuid4()),
            "usage": _usage(root),
            "duration_ms": round(seconds * 1000),
            **failure,
        }
    )
