"""The Claude Agent SDK: `query` with the shell and a helper; the last result message is the outcome.

A schema is given as `output_format`; then the structured output is the result.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from claude_agent_sdk import AgentDefinition, ClaudeAgentOptions, ResultMessage, query


def run(start: Any) -> dict[str, Any]:
    """Run `query` on the task of `start`; the last result message says what came of it."""
    return asyncio.run(_run(start))


async def _run(start: Any) -> dict[str, Any]:
    options = ClaudeAgentOptions(
        allowed_tools=["Bash", "Agent"],
        agents={"helper": AgentDefinition(description="Does a part of the work.", prompt="You are a helper.")},
        max_turns=start.max_turns,
        output_format=start.schema and {"type": "json_schema", "schema": start.schema},
        env=dict(os.environ),
    )
    results = [
        message async for message in query(prompt=start.prompt, options=options) if isinstance(message, ResultMessage)
    ]
    last = results[-1]
    return {
        "result": last.result if start.schema is None else last.structured_output,
        "is_error": last.is_error,
        "subtype": last.subtype,
        "num_turns": last.num_turns,
        "results": len(results),
        "usage": last.usage,
    }
