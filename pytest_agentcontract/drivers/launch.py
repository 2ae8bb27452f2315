"""What a driver is given for one run, and the placeholder values that a profile's strings are filled with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, as_object, dumps
from pytest_agentcontract.scenario.binding import fill
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.profile import Profile, WireSetup
from pytest_agentcontract.scenario.start import HandoffPaths


class SeatLike(Protocol):
    """The provider's end of the run, as far as a driver has to do with it."""

    @property
    def base_url(self) -> str:
        """The run's own URL, without a profile's suffix."""

    def printed(self, text: str) -> None:
        """Take the next piece of the runtime's standard output."""

    def over(self) -> None:
        """Learn that the runtime is gone."""

    def turns_delivered(self, agent: str) -> int:
        """Count the script turns that an agent has been delivered."""

    def quiet_for(self) -> float:
        """Return the seconds since anything happened, with no request open."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One run to be started. `lines` are what the caller says in a conversation, one for each of the case's.

    `handoff` is what one invocation of a hand-off engine works on.
    """

    profile: Profile
    wire: str
    case: Case
    script_prompt: str
    lines: tuple[str, ...]
    seat: SeatLike
    nonce: str
    workdir: Path
    home: Path
    timeout: float
    handoff: HandoffPaths | None = None

    @property
    def schema(self) -> JSONObject | None:
        """The schema to ask the runtime for: the case's, inside the return tool's template where it has one."""
        binding, asked = self.profile.tools.get("return"), self.case.given.schema
        if binding is None or isinstance(binding.schema_template, Missing):
            return asked
        return as_object(_with_schema(binding.schema_template, asked or {}))

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders that are this run's alone: whatever works in them belongs to it."""
        return self.workdir, self.home

    @property
    def schema_file(self) -> Path:
        """Where the schema to ask for is written down for runtimes that read it from a file."""
        return self.home / "requested.schema.json"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the profile and of the wire format in use, and of the time limit that a case asks for."""
        values = self.values()
        given = {**self.profile.env, **self._setup.env}
        return {name: fill(text, values) for name, text in given.items()} | self._limit

    def values(self) -> dict[str, str]:
        """Return what stands for each placeholder of a profile; those that this run does not ask for are left out."""
        schema, max_turns = self.schema, self.case.given.max_turns
        values = {
            "prompt": self.script_prompt,
            "base_url": self.seat.base_url + self._setup.suffix,
            "api_key": f"agent-contract-{self.nonce}",
            "nonce": self.nonce,
            "port": str(urlsplit(self.seat.base_url).port),
            "workdir": str(self.workdir),
            "home": str(self.home),
        }
        if schema is not None:
            values |= {"schema_file": str(self.schema_file), "schema_json": dumps(schema)}
        if max_turns is not None:
            values |= {"max_turns": str(max_turns)}
        return values | self._paths()

    def _paths(self) -> dict[str, str]:
        given = self.handoff
        if given is None:
            return {}
        event = {} if given.event is None else {"event": str(given.event)}
        return {"workflow": str(given.workflow), "thread": str(given.thread), **event}

    @property
    def _limit(self) -> dict[str, str]:
        seconds = self.case.given.patience
        if seconds is None:
            return {}
        values = {"seconds": str(seconds), "milliseconds": str(seconds * 1000)}
        return {name: fill(text, values) for name, text in self.profile.timeout_env.items()}

    @property
    def _setup(self) -> WireSetup:
        return self.profile.wires[self.wire]


def _with_schema(template: JSON, schema: JSONObject) -> JSON:
    if template == "{schema}":
        return schema
    if isinstance(template, dict):
        return {key: _with_schema(item, schema) for key, item in template.items()}
    return [_with_schema(item, schema) for item in template] if isinstance(template, list) else template
