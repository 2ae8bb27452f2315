"""A command around the OpenAI Agents SDK: one task for a team of three agents in, one JSON document out.

Each agent can hand over to every other one (`transfer_to_NAME`) and can ask each for a part of the work
(`ask_NAME`). Every other setting is the SDK's default, and so is the verdict: what `Runner.run()` returns is a result,
what it raises is a failure. Only the cap on turns and the HTTP client's patience can be set from outside.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

from agents import Agent, OpenAIChatCompletionsModel, Runner, RunResult, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

TEAM = ("root", "helper", "third")


@function_tool
def touch(path: str) -> str:
    """Create an empty file.

    Args:
        path: Where to create it.

    """
    Path(path).touch()
    return f"created {path}"


def main() -> int:
    """Run the team on the task of the command line; standard output is the document and nothing else."""
    options = _options()
    set_tracing_disabled(disabled=True)  # it would be sent to OpenAI
    with contextlib.redirect_stdout(sys.stderr):
        document = asyncio.run(_run(options))
    json.dump(document, sys.stdout)
    return 1 if document["is_error"] else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", "--prompt", required=True, help="the task")
    parser.add_argument("--max-turns", type=int, help="the cap on turns; the SDK's own is 10")
    parser.add_argument("--timeout", type=float, help="seconds to wait for the provider; the client's own are 600")
    parser.add_argument("--version", action="version", version=version("openai-agents"))
    return parser.parse_args()


async def _run(options: argparse.Namespace) -> dict[str, object]:
    capped = {} if options.max_turns is None else {"max_turns": options.max_turns}
    patient = {} if options.timeout is None else {"timeout": options.timeout}
    try:
        return _succeeded(await Runner.run(_root(AsyncOpenAI(**patient)), options.prompt, **capped))
    except Exception as error:  # noqa: BLE001 - whatever ends the run is its failure
        return {"result": None, "is_error": True, "error": f"{type(error).__name__}: {error}"}


def _root(client: AsyncOpenAI) -> Agent:
    """Make the team. Each asks for a model of its own name, by which the provider can tell them apart."""
    team = [
        Agent(name, instructions=f"You are {name}.", tools=[touch], model=OpenAIChatCompletionsModel(name, client))
        for name in TEAM
    ]
    asked = [agent.as_tool(f"ask_{agent.name}", f"Ask {agent.name} for a part of the work.") for agent in team]
    for agent in team:
        agent.tools += asked
        agent.handoffs = [other for other in team if other is not agent]
    return team[0]


def _succeeded(outcome: RunResult) -> dict[str, object]:
    used = outcome.context_wrapper.usage
    return {
        "result": outcome.final_output,
        "is_error": False,
        "last_agent": outcome.last_agent.name,
        "usage": {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens},
    }


if __name__ == "__main__":
    sys.exit(main())
