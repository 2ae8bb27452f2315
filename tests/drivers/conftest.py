"""A stand-in for the provider's seat, and runs that need no provider at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import pytest

from pytest_agentcontract.drivers.base import DRIVERS, Launch
from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.scenario.case import Case, Expect, Given, Say
from pytest_agentcontract.scenario.observation import Delivery
from pytest_agentcontract.scenario.profile import Binding, Profile, ResultRule, WireSetup
from pytest_agentcontract.scenario.start import Mode

Launcher: TypeAlias = Callable[..., Launch]
Program: TypeAlias = Callable[..., Launch]

WIRE = "anthropic-messages"


@dataclass
class Seat:
    """Remembers what a driver told it; all is delivered and quiet unless a test says otherwise."""

    base_url: str = "http://127.0.0.1:9/case/1-x"
    text: str = ""
    gone: bool = False
    delivered: int = 1000
    quiet: float = 1000.0
    asked: list[str] = field(default_factory=list)

    def printed(self, text: str) -> None:
        """Keep what was printed."""
        self.text += text

    def over(self) -> None:
        """Keep that the runtime is gone."""
        self.gone = True

    def turns_delivered(self, agent: str) -> int:
        """Answer as the test says."""
        self.asked.append(agent)
        return self.delivered

    def quiet_for(self) -> float:
        """Answer as the test says."""
        return self.quiet


@pytest.fixture
def seat() -> Seat:
    """Return a seat that has delivered everything."""
    return Seat()


@pytest.fixture
def launcher(tmp_path: Path, seat: Seat) -> Launcher:
    """Return a function that makes a run of a case without a script; keywords are fields of the profile."""

    def launch(
        *,
        mode: Mode = "json",
        schema: JSONObject | None = None,
        max_turns: int | None = None,
        lines: tuple[str, ...] = (),
        timeout: float = 20.0,
        prompt: str = "Go.",
        open_stdin: bool = False,
        **fields: Any,
    ) -> Launch:
        profile = Profile(
            **{
                "name": "it",
                "driver": "command",
                "wires": {WIRE: WireSetup({"MODEL_URL": "{base_url}", "MODEL_KEY": "{api_key}"}, "/v1")},
                "result": ResultRule(failed="/is_error"),
                "capabilities": frozenset({"headless"}),
                "tools": {"work": Binding("touch")},
            }
            | fields
        )
        given = Given(mode, prompt, schema, max_turns, tuple(map(Say, lines)), open_stdin=open_stdin)
        case = Case("a/b", "t", "w", (), given, {"root": ()}, Expect())
        nonce = uuid4().hex
        return Launch(profile, WIRE, case, prompt, lines, seat, nonce, tmp_path / "work", tmp_path / "home", timeout)

    return launch


@pytest.fixture
def program(launcher: Launcher) -> Program:
    """Return a function that makes a run of some lines of Python as a program of their own."""

    def launch(code: str, *arguments: str | tuple[str, ...], mode: Mode = "json", **keywords: Any) -> Launch:
        argv = (sys.executable, "-ISc", code, *arguments)
        return launcher(mode=mode, modes={mode: argv}, **keywords)

    return launch


@pytest.fixture
def drive() -> Callable[[Launch], Delivery]:
    """Return the function that carries out a run with the driver of its profile."""
    return lambda launch: DRIVERS[launch.profile.driver].drive(launch)
