"""Null runtimes: programs that keep no contract. Whatever they are credited with, nobody has earned."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Final

from pytest_agentcontract.contract import reply
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.reference import cli
from pytest_agentcontract.reference.clients import connect
from pytest_agentcontract.reference.conversation import Answer, Ask, Said, Tool
from pytest_agentcontract.reference.forgery import forge
from pytest_agentcontract.reference.rules import REFERENCE
from pytest_agentcontract.reference.run import Run, Voice
from pytest_agentcontract.reference.session import Ended
from pytest_agentcontract.reference.tools import AGENT, BLOCKING
from pytest_agentcontract.reference.transport import ModelError
from pytest_agentcontract.scenario.start import Result, Start

_PATIENCE = 0.3
_TOOLS = (*(blocking.tool for blocking in BLOCKING.values()), AGENT, Tool(reply.NAME, "Return.", reply.schema()))


def run(start: Start) -> Result:
    """Run the null runtime that `settings` name: `{"null": NAME}`."""
    return _named(start.settings)(start)


def _named(settings: Mapping[str, str]) -> Callable[[Start], Result]:
    name = settings.get("null", "")
    if name not in NULLS:
        raise UsageError(f"no null runtime is called {name!r}", remedy=f"Known are {', '.join(NULLS)}.")
    return NULLS[name]


def silent(_start: Start) -> Result:
    """Do nothing, say nothing, exit with 0."""
    return Result()


def crash(_start: Start) -> Result:
    """Break down at once."""
    raise RuntimeError("this null runtime always crashes")


def echo(start: Start) -> Result:
    """Ask the model once, without tools, and report its prose as a success."""
    return _success(start, asyncio.run(_ask(start, ())).text)


def canned(start: Start) -> Result:
    """Report a fixed success without asking anybody."""
    return _success(start, "All done: no defects found.")


def always_reply(start: Start) -> Result:
    """Offer the model all tools, carry none out, and report a made-up success."""
    asyncio.run(_ask(start, _TOOLS))
    return _success(start, "The model replied.")


def forger(start: Start) -> Result:
    """Know the shipped cases, leave every trace that can be guessed, ask without reading, print what is expected."""
    first = start.prompt if start.mode != "interactive" else start.read_line() or ""
    forged = forge(start, first)
    for mark in forged.marks:
        (start.workdir / mark).touch()
    for prompt in forged.prompts:
        asyncio.run(_unread(start, prompt))
    return _success(start, forged.value)


def hang(_start: Start) -> Result:
    """Never end."""
    while True:
        time.sleep(60)


async def _unread(start: Start, prompt: str) -> None:
    """Ask, and forget the answer; one that is held back is not waited for."""
    with suppress(TimeoutError):
        await asyncio.wait_for(_ask(start, _TOOLS, prompt), _PATIENCE)


async def _ask(start: Start, tools: tuple[Tool, ...], said: str = "") -> Answer:
    prompt = said or (start.prompt if start.mode != "interactive" else start.read_line() or "")
    async with connect(start.env, REFERENCE) as client:
        shared = Run(REFERENCE, client, start.workdir, 1, start.read_line)
        try:
            return await client.ask(Ask("You are an agent.", [Said((prompt,))], tools), Voice(shared, is_root=True))
        except ModelError:
            return Answer()


def _success(start: Start, value: JSON) -> Result:
    if start.mode != "json":
        start.write(f"{value}\n")
        return Result()
    return Result(
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": value,
            "num_turns": 1,
            "session_id": "00000000-0000-0000-0000-000000000000",
            "usage": {"input_tokens": 0, "output_tokens": 0},
            "duration_ms": 0,
        }
    )


NULLS: Final[Mapping[str, Callable[[Start], Result]]] = MappingProxyType(
    {
        "silent": silent,
        "crash": crash,
        "echo": echo,
        "canned": canned,
        "always-reply": always_reply,
        "forger": forger,
        "hang": hang,
    }
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `NAME` with the reference's command line and return its exit code."""
    name, *rest = sys.argv[1:] if argv is None else argv
    start = cli.start_of(cli.parser().parse_args(rest))
    return cli.finish(Ended(_named({"null": name})(start)))


if __name__ == "__main__":
    sys.exit(main())
