"""Two agents on pydantic-ai, one of them behind a tool of the other: `python pydantic_team.py PROMPT`.

They ask over Anthropic's API.
"""

import asyncio
import sys

from pydantic_agent import copy_file, pass_over
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel


async def ask_helper(task: str) -> str:
    """Give the helper a task."""
    return await answer("helper", task, copy_file)


async def answer(name: str, prompt: str, *tools: object) -> str:
    """Ask an agent of this name, which asks for a model of the same name."""
    agent = Agent(AnthropicModel(name), instructions=f"You are the {name}.", tools=tools)
    return (await agent.run(prompt, event_stream_handler=pass_over)).output


if __name__ == "__main__":
    print(asyncio.run(answer("root", sys.argv[1], ask_helper)))  # noqa: T201 - its output
