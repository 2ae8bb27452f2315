"""A command around a smolagents ToolCallingAgent: one task in, one JSON document out.

Every setting is smolagents' default, and so is the verdict: what `run()` returns is a result, what it raises is a
failure. Only the step cap and the HTTP client's patience can be set from outside.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

from smolagents import OpenAIServerModel, RunResult, ToolCallingAgent, tool


@tool
def touch(path: str) -> str:
    """Create an empty file.

    Args:
        path: Where to create it.

    """
    Path(path).touch()
    return f"created {path}"


def main() -> int:
    """Run the agent on the task of the command line; standard output is the document and nothing else."""
    options = _options()
    with contextlib.redirect_stdout(sys.stderr):  # smolagents prints its log there
        document = _run(options)
    json.dump(document, sys.stdout)
    return 1 if document["is_error"] else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", "--prompt", required=True, help="the task")
    parser.add_argument("--max-steps", type=int, help="the step cap; smolagents' own is 20")
    parser.add_argument("--timeout", type=float, help="seconds to wait for the provider; the client's own are 600")
    parser.add_argument("--version", action="version", version=version("smolagents"))
    return parser.parse_args()


def _run(options: argparse.Namespace) -> dict[str, object]:
    try:
        agent = _agent(options.timeout)
        return _succeeded(agent.run(options.prompt, max_steps=options.max_steps, return_full_result=True))
    except Exception as error:  # noqa: BLE001 - whatever ends the run is its failure
        return {"result": None, "is_error": True, "error": f"{type(error).__name__}: {error}"}


def _agent(timeout: float | None) -> ToolCallingAgent:
    """Make the root, with a team of one: a managed agent is called like a tool, and returns by `final_answer` too."""
    model = OpenAIServerModel(
        "scripted",
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key=os.environ["OPENAI_API_KEY"],
        client_kwargs={} if timeout is None else {"timeout": timeout},
    )
    child = ToolCallingAgent(tools=[touch], model=model, name="helper", description="Does a part of the work.")
    return ToolCallingAgent(tools=[touch], model=model, managed_agents=[child])


def _succeeded(outcome: RunResult) -> dict[str, object]:
    """Say what `run()` returned; `state` is what smolagents tells only those who ask for the full result."""
    used = outcome.token_usage
    return {
        "result": outcome.output,
        "is_error": False,
        "state": outcome.state,
        "usage": used and {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens},
    }


if __name__ == "__main__":
    sys.exit(main())
