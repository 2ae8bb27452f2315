"""smolagents' ToolCallingAgent: a tool of its own, and a team of one that is called like a tool and returns alike.

Every setting is smolagents' default; the step cap and the client's patience alone are set from outside.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def touch(path: str) -> str:
    """Create an empty file.

    Args:
        path: Where to create it.

    """
    Path(path).touch()
    return f"created {path}"


def run(start: Any) -> dict[str, Any]:
    """Run the root on the task of `start`; `state` is what smolagents tells only those who ask for the full result."""
    outcome = _agent().run(start.prompt, max_steps=start.max_turns, return_full_result=True)
    used = outcome.token_usage
    usage = used and {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
    return {"result": outcome.output, "state": outcome.state, "usage": usage}


def _agent() -> ToolCallingAgent:
    model = OpenAIServerModel(
        "scripted",
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        client_kwargs={"timeout": float(os.environ["MODEL_TIMEOUT"])},
    )
    child = ToolCallingAgent(tools=[touch], model=model, name="helper", description="Does a part of the work.")
    return ToolCallingAgent(tools=[touch], model=model, managed_agents=[child])
