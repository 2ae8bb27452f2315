"""Strands Agents: a tool of its own, and a helper that is an agent called like a tool.

Every setting is the framework's default. `output = "reply"` asks for a structured output, by a tool named after its
type: the framework's own way to an answer of a shape.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import create_model
from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def touch(path: str) -> str:
    """Create an empty file.

    Args:
        path: Where to create it.

    """
    Path(path).touch()
    return f"created {path}"


def run(start: Any) -> dict[str, Any]:
    """Run the root on the task of `start`; what the call returns is a success, what it raises a failure."""
    helper = _agent("helper", [])
    outcome = _agent("root", [helper.as_tool()])(start.prompt, **_asked(start))
    structured = outcome.structured_output
    used = outcome.metrics.accumulated_usage
    return {
        "result": _text(outcome) if structured is None else structured.model_dump(mode="json")["report"],
        "stop_reason": outcome.stop_reason,
        "usage": {"input_tokens": used["inputTokens"], "output_tokens": used["outputTokens"]},
    }


def _text(outcome: Any) -> str:
    """Return the text of the last message: `str(outcome)` would end it with a line feed."""
    return "".join(block["text"] for block in outcome.message["content"] if "text" in block)


def _asked(start: Any) -> dict[str, Any]:
    if start.settings["output"] == "text":
        return {}
    reply = create_model("reply", __doc__="Hand over the report.", report=str | dict[str, Any] | list[Any])
    return {"structured_output_model": reply}


def _agent(name: str, helpers: list[Any]) -> Agent:
    client = {
        "base_url": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
        "timeout": float(os.environ["MODEL_TIMEOUT"]),
    }
    model = OpenAIModel(client_args=client, model_id="scripted")
    return Agent(
        model=model,
        name=name,
        description="Does a part of the work.",
        tools=[touch, *helpers],
        callback_handler=None,
    )
