"""Agents on pydantic-ai as its pages show them: `python pydantic_agent.py WIRE WAY...` prints what each says, as JSON.

A WAY is how an agent is run, `run`, `events` or `stream`; all of them at once. The base URL and the key come from the
environment, under the names that each provider's own client knows.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterable
from importlib import import_module
from pathlib import Path

from pydantic_ai import Agent, AgentStreamEvent, RunContext
from pydantic_ai.usage import RunUsage

MODELS = {
    "openai-chat": ("openai", "OpenAIChatModel"),
    "openai-responses": ("openai", "OpenAIResponsesModel"),
    "anthropic-messages": ("anthropic", "AnthropicModel"),
    "gemini-generate": ("google", "GoogleModel"),
}


def copy_file(source: str, to: str) -> str:
    """Copy a file and return what it says."""
    shutil.copy(source, to)
    return Path(to).read_text("utf-8")


async def pass_over(_: RunContext, events: AsyncIterable[AgentStreamEvent]) -> None:
    """Take the events of a run as they come: with a taker, each request asks for a stream."""
    async for _event in events:
        pass


async def answer(wire: str, way: str) -> dict[str, object]:
    """Ask an agent to do its task over one wire format."""
    module, name = MODELS[wire]
    model = getattr(import_module(f"pydantic_ai.models.{module}"), name)("scripted")
    agent = Agent(model, instructions="Do as you are told.", tools=[copy_file])
    prompt = f"Copy it. [[{way}]]"
    if way != "stream":
        ended = await agent.run(prompt, event_stream_handler=pass_over if way == "events" else None)
        return said(ended.output, ended.usage)
    async with agent.run_stream(prompt) as streamed:
        return said("".join([piece async for piece in streamed.stream_text(delta=True)]), streamed.usage)


def said(text: str, usage: RunUsage) -> dict[str, object]:
    """Return what came of a run."""
    tokens = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
    return {"text": text, "requests": usage.requests, "tokens": tokens}


async def main(wire: str, *ways: str) -> None:
    """Run all agents at once."""
    answers = await asyncio.gather(*(answer(wire, way) for way in ways))
    print(json.dumps(dict(zip(ways, answers, strict=True))))  # noqa: T201 - its output


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
