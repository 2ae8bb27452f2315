"""mini-swe-agent's DefaultAgent with the prompts and templates of its own `mini.yaml`: one tool, a shell.

It submits by a command whose output begins with a line of its own; what follows that line is the answer. A run that
ends in another way says so by its exit status. The step cap and the client's patience alone are set from outside.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import minisweagent
import yaml
from minisweagent.agents.default import AgentConfig, DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

SETTINGS = yaml.safe_load((Path(minisweagent.__file__).parent / "config" / "mini.yaml").read_text("utf-8"))


def run(start: Any) -> dict[str, Any]:
    """Run the agent on the task of `start`; any exit status but that of a submission is a failure."""
    of_agent = {name: value for name, value in SETTINGS["agent"].items() if name in AgentConfig.model_fields}
    capped = {} if start.max_turns is None else {"step_limit": start.max_turns}
    agent = DefaultAgent(_model(), LocalEnvironment(**SETTINGS["environment"]), **(of_agent | capped))
    outcome = agent.run(start.prompt)
    status = outcome["exit_status"]
    return {"result": outcome["submission"], "exit_status": status, "is_error": status != "Submitted"}


def _model() -> LitellmModel:
    client = {
        "api_base": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ["OPENAI_API_KEY"],
        "timeout": float(os.environ["MODEL_TIMEOUT"]),
    }
    settings = dict(SETTINGS["model"])
    to_client = settings.pop("model_kwargs") | client
    return LitellmModel(model_name="openai/scripted", model_kwargs=to_client, **settings)
