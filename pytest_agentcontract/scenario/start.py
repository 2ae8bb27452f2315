"""What a Python runtime is called with, and what it hands back: `run(start) -> Result`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing

Mode: TypeAlias = Literal["json", "text", "interactive", "handoff"]
"""What is run: a root that returns one result document, prints its tokens as they come or converses with a user, or one
invocation of a hand-off engine."""


@dataclass(frozen=True, slots=True)
class HandoffPaths:
    """What an engine works on: the workflow's file, the thread's folder, and the event's file (None: it goes on)."""

    workflow: Path
    thread: Path
    event: Path | None


@dataclass(frozen=True, slots=True)
class Start:
    """One run. `env` holds what the profile's wire format sets (base URL, key): read it instead of os.environ.

    `read_line()` blocks for the caller's next line and returns None at the end of the conversation; `write(text)` is
    standard output. `handoff` is given in that mode only.
    """

    mode: Mode
    prompt: str
    schema: JSONObject | None
    max_turns: int | None
    env: Mapping[str, str]
    settings: Mapping[str, str]
    workdir: Path
    read_line: Callable[[], str | None]
    write: Callable[[str], None]
    handoff: HandoffPaths | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended: the result document it would print (absent in text and interactive mode) and its exit code."""

    document: JSON | Missing = MISSING
    exit_code: int = 0
