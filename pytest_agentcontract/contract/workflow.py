"""A workflow: its agents, its steps, and the edges between them. It is checked whole before anything runs on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_agentcontract.contract.checker import (
    Diagnostic,
    Fields,
    Flag,
    Items,
    Maybe,
    Named,
    Text,
    quoted,
    shaped,
    text_of,
)
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object

NAME = Text()
_STEP = Fields({"id": NAME, "agent": NAME}, {"next": Maybe(NAME), "human_gate": Flag(), "terminal": Flag()})
_WORKFLOW = Fields(
    {"name": NAME, "agents": Named(Fields({"role": Text(empty=True)})), "steps": Items(_STEP, at_least=1)}
)


@dataclass(frozen=True, slots=True)
class Step:
    """One place in a workflow. A gate holds for a human before its agent runs; a terminal step has no edge."""

    id: str
    agent: str
    next: str | None = None
    human_gate: bool = False
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class Workflow:
    """Steps in order, the first of which starts it, and the role of each agent by its name."""

    name: str
    roles: Mapping[str, str]
    steps: tuple[Step, ...]

    @staticmethod
    def from_json(value: JSON) -> Workflow | Diagnostic:
        """Check a workflow document, its names included; the first fault comes back as a Diagnostic."""
        found = shaped(value, _WORKFLOW)
        if isinstance(found, Diagnostic):
            return found
        agents, steps = as_object(found["agents"]), [as_object(step) for step in as_list(found["steps"])]
        roles = {name: text_of(as_object(agent), "role") or "" for name, agent in agents.items()}
        return next(_loose_names(roles, steps), None) or Workflow(
            name=text_of(found, "name") or "",
            roles=MappingProxyType(roles),
            steps=tuple(map(_step, steps)),
        )

    @property
    def first(self) -> Step:
        """Return the step that starts it."""
        return self.steps[0]

    def step(self, name: str) -> Step | None:
        """Return the step with exactly this id."""
        return next((step for step in self.steps if step.id == name), None)

    def first_of(self, agent: str) -> Step | None:
        """Return the first step of an agent, found by its exact name."""
        return next((step for step in self.steps if step.agent == agent), None)


def _step(value: JSONObject) -> Step:
    return Step(
        id=text_of(value, "id") or "",
        agent=text_of(value, "agent") or "",
        next=text_of(value, "next"),
        human_gate=value.get("human_gate") is True,
        terminal=value.get("terminal") is True,
    )


def _loose_names(roles: Mapping[str, str], steps: list[JSONObject]) -> Iterator[Diagnostic]:
    """Yield each name that leads nowhere or twice, and each step that both ends and goes on."""
    ids = {step["id"] for step in steps if isinstance(step["id"], str)}
    seen: set[JSON] = set()
    for number, step in enumerate(steps):
        at = f"/steps/{number}"
        if step["id"] in seen:
            yield Diagnostic(f"{quoted(str(step['id']))} is the id of an earlier step", f"{at}/id")
        if step["agent"] not in roles:
            yield Diagnostic(f"{quoted(str(step['agent']))} is none of the agents", f"{at}/agent")
        if step.get("next") is not None and step["next"] not in ids:
            yield Diagnostic(f"{quoted(str(step['next']))} is the id of no step", f"{at}/next")
        if step.get("next") is not None and step.get("terminal") is True:
            yield Diagnostic("a terminal step has no next", f"{at}/next")
        seen.add(step["id"])
