"""LlamaIndex's FunctionAgent: a tool of its own, and a helper that is asked by a tool and can ask a helper in turn.

`output`: `text` leaves every default as it is; `reply` adds a tool that takes the report and whose output is the answer
(`return_direct`).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel, ConfigDict, create_model

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


def touch(path: str) -> str:
    """Create an empty file."""
    Path(path).touch()
    return f"created {path}"


def run(start: Any) -> dict[str, Any]:
    """Run the root on the task of `start`; what its run returns is the result, what it raises is the failure."""
    return asyncio.run(_run(start))


async def _run(start: Any) -> dict[str, Any]:
    async def ask_helper(task: str) -> str:
        """Ask a helper for a part of the work."""
        return str(await helper.run(user_msg=task))

    def agent(schema: dict[str, Any] | None) -> FunctionAgent:
        ending = [_reply(schema)] if start.settings["output"] == "reply" else []
        return FunctionAgent(tools=[touch, ask_helper, *ending], llm=_model())

    helper, root = agent(None), agent(start.schema)
    capped = {} if start.max_turns is None else {"max_iterations": start.max_turns}
    outcome = await root.run(user_msg=start.prompt, **capped)
    return {"result": outcome.response.content}


def _model() -> OpenAILike:
    return OpenAILike(
        model="scripted",
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        context_window=128000,
        is_chat_model=True,
        is_function_calling_model=True,
        timeout=float(os.environ["MODEL_TIMEOUT"]),
    )


def _reply(schema: dict[str, Any] | None) -> FunctionTool:
    """Make the tool: a report of the type that the run asks for, or any text, object or list."""
    wanted = str | dict[str, Any] | list[Any] if schema is None else _typed(schema)

    def reply(report: wanted) -> wanted:
        """Hand over the report and end."""
        return report

    reply.__annotations__ = {"report": wanted, "return": wanted}
    return FunctionTool.from_defaults(reply, return_direct=True)


def _typed(schema: dict[str, Any]) -> type[BaseModel]:
    """Write a flat JSON Schema as the model that a user would write, strict: a string is no number."""
    fields = {name: TYPES[member["type"]] for name, member in schema["properties"].items()}
    return create_model("Report", __config__=ConfigDict(strict=True, extra="forbid"), **fields)
