"""How the reference is started: as a Python callable by a driver, or as a program by anybody."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_agentcontract.errors import AgentContractError, UsageError
from pytest_agentcontract.jsonvalue import JSONObject, Missing, dumps, loads
from pytest_agentcontract.reference.engine import handoff
from pytest_agentcontract.reference.rules import BASES, Rules
from pytest_agentcontract.reference.session import Ended, session
from pytest_agentcontract.scenario.start import HandoffPaths, Mode, Result, Start

_USAGE_EXIT: Final = 2
_INTERRUPTED_EXIT: Final = 130


def run(start: Start) -> Result:
    """Run the reference, or the variant or mutant that `settings` names, and return how it ended."""
    return asyncio.run(_ended(start)).result


async def _ended(start: Start) -> Ended:
    rules = rules_of(start.settings)
    return await (handoff(start, rules) if start.mode == "handoff" else session(start, rules))


def rules_of(settings: Mapping[str, str]) -> Rules:
    """Return the rules that `settings` name: `{"mutant": NAME}`, `{"variant": "tool-less"}`, or nothing."""
    if "mutant" in settings:
        from pytest_agentcontract.reference import mutants  # noqa: PLC0415 (only a judge of the judge needs them)

        return mutants.rules_of(settings["mutant"])
    variant = settings.get("variant")
    name = f"reference-{variant}" if variant else "reference"
    if name not in BASES:
        raise UsageError(f"the reference has no variant {variant!r}", remedy="Its one variant is tool-less.")
    return BASES[name]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(argv)
    try:
        start = start_of(options)
        ended = asyncio.run(_ended(start))
    except AgentContractError as error:
        sys.stderr.write(f"agent-contract-reference: {error}\n")
        return _USAGE_EXIT
    except KeyboardInterrupt:
        return _INTERRUPTED_EXIT
    return finish(ended)


def finish(ended: Ended) -> int:
    """Print the result document on standard output and a failure on standard error; return the exit code."""
    if not isinstance(ended.result.document, Missing):
        write(dumps(ended.result.document) + "\n")
    if ended.problem:
        sys.stderr.write(f"agent-contract-reference: failed: {ended.problem}\n")
    return ended.result.exit_code


def start_of(options: argparse.Namespace) -> Start:
    """Make a start of the command line's options."""
    paths = _paths(options)
    mode: Mode = "handoff" if paths else "interactive" if options.interactive else options.output_format
    settings = {name: value for name in ("variant", "mutant") if (value := getattr(options, name))}
    schema = None if options.json_schema is None else _schema(Path(options.json_schema))
    told = (mode, options.prompt, schema, options.max_turns)
    return Start(*told, os.environ, settings, Path.cwd(), _read_line, write, paths)


def write(text: str) -> None:
    """Print at once; what can't be encoded, such as half a surrogate pair, is printed as an escape."""
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def _read_line() -> str | None:
    line = sys.stdin.buffer.readline().decode("utf-8", "replace")
    return line.rstrip("\r\n") if line else None


def _paths(options: argparse.Namespace) -> HandoffPaths | None:
    workflow, thread, event = options.handoff, options.thread, options.event
    if (workflow is None) != (thread is None) or (event is not None and workflow is None):
        raise UsageError("--handoff WORKFLOW.json needs --thread DIR, and both --thread and --event need --handoff")
    return None if workflow is None else HandoffPaths(workflow, thread, event)


def _schema(path: Path) -> JSONObject:
    try:
        schema = loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"the schema can't be read: {error.strerror}", where=str(path)) from error
    except ValueError as error:
        raise UsageError(f"the schema is no JSON: {error}", where=str(path)) from error
    if not isinstance(schema, dict):
        raise UsageError("the schema is no JSON object", where=str(path))
    return schema


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, which the null runtimes share."""
    parser = argparse.ArgumentParser("agent-contract-reference", description="The reference agent runtime.")
    parser.add_argument("-p", "--prompt", default="", help="what the headless root works on")
    parser.add_argument("--output-format", choices=["json", "text"], default="text")
    parser.add_argument("--json-schema", metavar="FILE", help="the JSON Schema that the result must conform to")
    parser.add_argument("--max-turns", type=int, metavar="N", help="the step cap of each agent")
    parser.add_argument("--interactive", action="store_true", help="converse on standard input, one line per turn")
    parser.add_argument("--handoff", type=Path, metavar="WORKFLOW.json", help="run one agent of a workflow")
    parser.add_argument("--thread", type=Path, metavar="DIR", help="the folder of the thread's comments")
    parser.add_argument("--event", type=Path, metavar="FILE", help="what happened; without it the workflow goes on")
    parser.add_argument("--variant", choices=["tool-less"], help="run without a return tool: the answer is the result")
    parser.add_argument("--mutant", metavar="NAME", help="run with one deliberately wrong decision")
    return parser


if __name__ == "__main__":
    sys.exit(main())
