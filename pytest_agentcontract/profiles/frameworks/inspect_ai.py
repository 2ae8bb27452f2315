"""Inspect's react agent over one sample: a tool of its own, and a helper that is asked by a tool and can ask another.

`answer`: `appended` leaves every default as it is; `only` takes the submitted answer without what was said beside it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import Agent, AgentSubmit, as_solver, as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, get_model
from inspect_ai.tool import Tool, tool


@tool
def touch() -> Tool:
    """Make the tool."""

    async def execute(path: str) -> str:
        """Create an empty file.

        Args:
            path: Where to create it.

        """
        Path(path).touch()
        return f"created {path}"

    return execute


def run(start: Any) -> dict[str, Any]:
    """Evaluate one sample, the task of `start`; the log says what came of it."""
    submit = AgentSubmit(answer_only=True) if start.settings["answer"] == "only" else None
    deepest = _helper(submit, [touch()])
    root = react(tools=[touch(), as_tool(_helper(submit, [touch(), as_tool(deepest)]))], submit=submit)
    capped = start.max_turns or int(start.settings.get("turns", 0)) or None
    log = evaluate(
        Task(dataset=[Sample(input=start.prompt)], solver=as_solver(root)),
        model=_model(),
        turn_limit=capped,
        max_retries=2,  # its own are without an end
        attempt_timeout=int(os.environ["MODEL_TIMEOUT"]),
        log_dir=f"{start.workdir}/logs",
        display="none",
    )[0]
    return _document(log)


def _document(log: Any) -> dict[str, Any]:
    """Say what the log says: the completion is the answer, however the sample came to its end."""
    sample = log.samples[0] if log.samples else None
    failed = log.status != "success" or sample is None
    used = log.stats.model_usage.values()
    names = ("input_tokens", "output_tokens")
    return {
        "result": None if failed else sample.output.completion,
        "is_error": failed,
        "status": log.status,
        "limit": sample.limit.type if sample and sample.limit else None,
        "error": log.error.message if log.error else None,
        "usage": {name: sum(getattr(one, name) for one in used) for name in names} if used else None,
    }


def _helper(submit: AgentSubmit | None, tools: list[Tool]) -> Agent:
    return react(name="helper", description="Does a part of the work.", tools=tools, submit=submit)


def _model() -> Model:
    return get_model("openai/scripted", base_url=os.environ["OPENAI_BASE_URL"], responses_api=False)
