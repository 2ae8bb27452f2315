"""Google's Agent Development Kit: a tool of its own, and a helper that can ask a helper in turn.

`output`: `text` leaves every default but the client's patience as it is; the outcome is the last final event, which is
what the kit's first pages print: its text, and a failure where it has an error code. `task` gives every agent the mode
of that name: it ends by the tool `finish_task`, whose report stands in the `output` of the last event.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent, RunConfig
from google.adk.models import BaseLlm, Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types


def touch(path: str) -> str:
    """Create an empty file."""
    Path(path).touch()
    return f"created {path}"


def run(start: Any) -> dict[str, Any]:
    """Run the root on the task of `start`; an error code in the last final event is a failure, as is what is raised."""
    return asyncio.run(_run(start))


async def _run(start: Any) -> dict[str, Any]:
    is_task = start.settings["output"] == "task"
    runner = InMemoryRunner(agent=_tasks() if is_task else _team(), app_name="agent")
    session = await runner.session_service.create_session(app_name="agent", user_id="user")
    message = types.Content(role="user", parts=[types.Part(text=start.prompt)])
    config = {} if start.max_turns is None else {"run_config": RunConfig(max_llm_calls=start.max_turns)}
    outcome, usage = {"result": None}, {"input_tokens": 0, "output_tokens": 0}
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=message, **config):
        if event.is_final_response() or event.output is not None:
            outcome = _outcome(event, event.output if is_task else _text(event))
        if event.usage_metadata:
            usage["input_tokens"] += event.usage_metadata.prompt_token_count or 0
            usage["output_tokens"] += event.usage_metadata.candidates_token_count or 0
    return outcome | {"usage": usage}


def _outcome(event: Any, result: Any) -> dict[str, Any]:
    return {"result": result, "is_error": bool(event.error_code), "error": event.error_message or event.error_code}


def _text(event: Any) -> str | None:
    parts = (event.content and event.content.parts) or []
    return "".join(part.text for part in parts if part.text and not part.thought) if parts else None


def _team() -> LlmAgent:
    helper = _agent("helper")
    helper.tools.append(AgentTool(helper))
    root = _agent("root")
    root.tools.append(AgentTool(helper))
    return root


def _tasks() -> LlmAgent:
    task = {"mode": "task", "output_schema": str | dict[str, Any] | list[Any]}
    return _agent("root", **task, sub_agents=[_agent("helper", **task)])


def _agent(name: str, **more: Any) -> LlmAgent:
    about = "Does a part of the work."
    return LlmAgent(name=name, model=_model(), description=about, instruction=f"You are {name}.", tools=[touch], **more)


def _model() -> BaseLlm:
    patience = float(os.environ["MODEL_TIMEOUT"])
    if os.environ["WIRE"] == "gemini-generate":
        return Gemini(client_kwargs={"http_options": types.HttpOptions(timeout=round(1000 * patience))})
    base, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
    return LiteLlm("openai/scripted", api_base=base, api_key=key, timeout=patience)
