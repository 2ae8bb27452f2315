"""The OpenAI Agents SDK: a team of three, who hand over to one another and can ask each for a part of the work.

Every other setting is the SDK's default. `reply` in the settings gives each a return tool on top, at which the SDK is
told to stop (`StopAtTools`), and which fails aloud (`failure_error_function=None`).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    StopAtTools,
    function_tool,
    set_tracing_disabled,
)
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


@function_tool(failure_error_function=None)
def reply(value: str) -> str:
    """Hand over the result and end.

    Args:
        value: The result.

    """
    return value


def run(start: Any) -> dict[str, Any]:
    """Run the team on the task of `start`."""
    set_tracing_disabled(disabled=True)  # it would be sent to OpenAI
    capped = {} if start.max_turns is None else {"max_turns": start.max_turns}
    outcome = asyncio.run(Runner.run(_root(returns="reply" in start.settings), start.prompt, **capped))
    used = outcome.context_wrapper.usage
    usage = {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
    return {"result": outcome.final_output, "last_agent": outcome.last_agent.name, "usage": usage}


def _root(*, returns: bool) -> Agent:
    """Make the team. Each asks for a model of its own name, by which the provider can tell them apart."""
    client = AsyncOpenAI(timeout=float(os.environ["MODEL_TIMEOUT"]))
    more = {"tool_use_behavior": StopAtTools(stop_at_tool_names=["reply"])} if returns else {}
    team = [
        Agent(
            name,
            instructions=f"You are {name}.",
            tools=[touch, *([reply] if returns else [])],
            model=OpenAIChatCompletionsModel(name, client),
            **more,
        )
        for name in TEAM
    ]
    asked = [agent.as_tool(f"ask_{agent.name}", f"Ask {agent.name} for a part of the work.") for agent in team]
    for agent in team:
        agent.tools += asked
        agent.handoffs = [other for other in team if other is not agent]
    return team[0]
