"""pydantic-ai: an agent with a tool of its own, and a helper that is asked by a tool and can ask a helper in turn.

`output`: `text` leaves every default as it is; `reply` names an output tool (`ToolOutput`) that takes a typed report.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic_ai import Agent, RunContext, ToolOutput, UsageLimits
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

MODELS = {
    "openai-chat": OpenAIChatModel,
    "openai-responses": OpenAIResponsesModel,
    "anthropic-messages": AnthropicModel,
}
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


def touch(path: str) -> str:
    """Create an empty file.

    Args:
        path: Where to create it.

    """
    Path(path).touch()
    return f"created {path}"


def run(start: Any) -> dict[str, Any]:
    """Run the root on the task of `start`; what its run returns is the result, what it raises is the failure."""
    reply = start.settings["output"] == "reply"
    helper = agent(_reply(None) if reply else str, start.settings)
    root = agent(_reply(start.schema) if reply else str, start.settings)

    async def ask_helper(ctx: RunContext, task: str) -> Any:
        """Ask a helper for a part of the work."""
        answer = (await helper.run(task, usage=ctx.usage)).output
        return answer.report if reply else answer

    helper.tool(ask_helper)
    root.tool(ask_helper)
    capped = {} if start.max_turns is None else {"usage_limits": UsageLimits(request_limit=start.max_turns)}
    outcome = root.run_sync(start.prompt, **capped)
    used = outcome.usage
    return {
        "result": outcome.output.model_dump(mode="json") if reply else outcome.output,
        "usage": {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens},
    }


def agent(output: Any, settings: dict[str, str]) -> Agent:
    """Make an agent; the attempts are the framework's own where the settings name none."""
    more = {"retries": int(settings["retries"])} if "retries" in settings else {}
    patience = {"timeout": float(os.environ["MODEL_TIMEOUT"])}  # seconds; the client's own are 600
    return Agent(_model(), output_type=output, tools=[touch], model_settings=patience, **more)


def _model() -> Any:
    return MODELS[os.environ["WIRE"]]("scripted")


def _reply(schema: dict[str, Any] | None) -> ToolOutput:
    """Make the output tool: a report of the type that the run asks for, or any text, object or list."""
    report = str | dict[str, Any] | list[Any] if schema is None else _typed(schema)
    return ToolOutput(create_model("Reply", report=report), name="reply")


def _typed(schema: dict[str, Any]) -> type[BaseModel]:
    """Write a flat JSON Schema as the model that a user would write, strict: a string is no number."""
    fields = {name: TYPES[member["type"]] for name, member in schema["properties"].items()}
    return create_model("Report", __config__=ConfigDict(strict=True, extra="forbid"), **fields)
