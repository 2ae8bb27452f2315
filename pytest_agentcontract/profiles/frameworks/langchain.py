"""LangChain's create_agent: a tool of its own, and a helper that is asked by a tool and can ask a helper in turn.

`output`: `text` leaves every default as it is, and gives a schema as it came; `reply` asks for a structured response by
a tool (`ToolStrategy`) that takes a typed report, with a limit of model calls that is an error.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, ConfigDict, create_model

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


def touch(path: str) -> str:
    """Create an empty file."""
    Path(path).touch()
    return f"created {path}"


def run(start: Any) -> dict[str, Any]:
    """Run the root on the task of `start`; a state that `invoke` returns is a success, what it raises a failure."""
    reply = start.settings["output"] == "reply"
    cap = start.max_turns or int(start.settings.get("model_calls", 0))
    ending = start.settings.get("when_capped", "end")  # langchain's own: a message in the model's name
    limits = [ModelCallLimitMiddleware(run_limit=cap, exit_behavior=ending)] if cap else []

    def ask_helper(task: str) -> Any:
        """Ask a helper for a part of the work."""
        return _answer(helper.invoke(_asking(task)), structured=reply)

    def agent(schema: dict[str, Any] | None) -> Any:
        structured = ToolStrategy(_reply(schema)) if reply else _titled(schema)
        return create_agent(_model(), [touch, ask_helper], response_format=structured, middleware=limits)

    helper, root = agent(None), agent(start.schema)
    with get_usage_metadata_callback() as used:
        state = root.invoke(_asking(start.prompt))
    return {"result": _answer(state, structured=reply or start.schema is not None), "usage": _sum(used.usage_metadata)}


def _asking(task: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": task}]}


def _answer(state: dict[str, Any], *, structured: bool) -> Any:
    """Read the answer where the documentation says it stands; a structured one that never came is nothing."""
    if not structured:
        return state["messages"][-1].text
    found = state.get("structured_response")
    return found.model_dump(mode="json")["report"] if isinstance(found, BaseModel) else found


def _model() -> ChatOpenAI:
    # The name decides how a structured response is asked for: of this one by `response_format`.
    responses = os.environ["WIRE"] == "openai-responses"
    return ChatOpenAI(model="gpt-4.1", use_responses_api=responses, timeout=float(os.environ["MODEL_TIMEOUT"]))


def _titled(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    return schema and {"title": "report", **schema}


def _reply(schema: dict[str, Any] | None) -> type[BaseModel]:
    """Make the response's type: a report of the type that the run asks for, or any text, object or list."""
    report = str | dict[str, Any] | list[Any] if schema is None else _typed(schema)
    return create_model("reply", __doc__="Hand over the report.", report=report)


def _typed(schema: dict[str, Any]) -> type[BaseModel]:
    """Write a flat JSON Schema as the model that a user would write, strict: a string is no number."""
    fields = {name: TYPES[member["type"]] for name, member in schema["properties"].items()}
    return create_model("Report", __config__=ConfigDict(strict=True, extra="forbid"), **fields)


def _sum(used: dict[str, Any]) -> dict[str, int] | None:
    names = ("input_tokens", "output_tokens")
    return {name: sum(model[name] for model in used.values()) for name in names} if used else None
