"""A team of agents that hand control to one another without a sentinel, small enough to be read, and its faults.

It is what a framework's transfers and agents-as-tools come down to. A fault is named in the profile's settings; without
one a callee returns to its caller, so that callers stand on a stack.
"""

from __future__ import annotations

import difflib
import json
import urllib.request
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_agentcontract.scenario.profile import Binding, Profile
from pytest_agentcontract.scenario.start import Result, Start

NAMES = ("root", "helper", "third")
TOOLS = ["touch", *(f"{verb}_{name}" for verb in ("transfer_to", "ask") for name in NAMES)]
DEAF, COMES_BACK, LAST, NEAR, KEEPS, SKIPS, HASTY, IMPATIENT, STALE, FLAT = (
    "deaf", "comes-back", "last", "near", "keeps", "skips", "hasty", "impatient", "stale", "flat",
)  # fmt: skip


class Over(Exception):  # noqa: N818 - it is an end and no error
    """The run ends with this answer."""


def run(start: Start) -> Result:
    """Play the root on the prompt; what it, or who took over from it, answers is the result."""
    team = Team(start, start.settings.get("fault", ""))
    try:
        answer = team.play("root", [{"role": "user", "content": start.prompt}])
    except Over as over:
        answer = str(over)
    except LookupError as error:
        return Result({"result": None, "is_error": True, "error": str(error)}, 1)
    return Result({"result": answer, "is_error": False})


def dressed(profile: Profile, fault: str = "") -> Profile:
    """Return a profile as that of such a team: without a return tool, each agent known by its model."""
    tools = {
        "work": profile.tools["work"],
        "spawn": Binding("ask_{agent}", {"input": "{child_prompt}"}),
        "handoff": Binding("transfer_to_{agent}"),
    }
    return replace(
        profile,
        entry="tests.team:run",
        adapter=(),
        settings={"fault": fault},
        tools=tools,
        capabilities=frozenset({"headless", "sub-agents", "agents-as-tools", "transfer"}),
        attribution="model",
        agents={name: name for name in NAMES},
    )


@dataclass
class Team:
    """The run of a team."""

    start: Start
    fault: str
    returned: list[str] = field(default_factory=list)

    def play(self, name: str, messages: list, caller: str = "") -> str:
        """Let an agent go on until somebody answers without a call; return the answer."""
        first = name
        while True:
            said = self.ask(name, messages)
            calls = said.get("tool_calls") or []
            messages.append(said)
            if calls and caller and (self.fault == IMPATIENT or (self.fault == HASTY and not _works(calls))):
                return said["content"] or "(nothing)"
            if not calls:
                break
            name = self.carry_out(name, calls, messages, caller)
        return self.end(name, first, said["content"], messages, caller)

    def carry_out(self, name: str, calls: list, messages: list, caller: str) -> str:
        """Answer each call, and return who goes on."""
        order = list(reversed(calls)) if self.fault == LAST else calls
        targets = [self.target(call) for call in order]
        target = next((found for found in targets if found), name)
        for call in calls:
            content = "done" if "transfer" in _name(call) else self.use(name, call, caller)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        return name if self.fault == DEAF else target

    def target(self, call: dict) -> str:
        """Return whom a transfer names; raise LookupError for nobody."""
        if not _name(call).startswith("transfer_to_"):
            return ""
        named = _name(call).removeprefix("transfer_to_")
        near = difflib.get_close_matches(named, NAMES, n=1) if self.fault == NEAR else []
        if named not in NAMES and not near:
            raise LookupError(f"there is no {named}")
        return named if named in NAMES else near[0]

    def use(self, name: str, call: dict, caller: str) -> str:
        """Carry out a call of another tool."""
        arguments = json.loads(call["function"]["arguments"])
        if _name(call) == "touch":
            Path(arguments["path"]).touch()
            return "done"
        asked = _name(call).removeprefix("ask_")
        answer = self.play(asked, [{"role": "user", "content": arguments["input"]}], name)
        self.returned.append(asked)
        if self.fault == SKIPS and caller:
            raise Over(self.ask(caller, [{"role": "user", "content": answer}])["content"])
        return answer

    def end(self, name: str, first: str, answer: str, messages: list, caller: str) -> str:
        """Return where an agent's end leads: by a fault back to one that has no claim to it, or nowhere."""
        if self.fault == KEEPS and caller:
            raise Over(answer)
        if self.fault == FLAT and caller and self.returned:
            raise Over(answer)
        if self.fault == COMES_BACK and name != first:
            return self.ask(first, messages)["content"]
        if self.fault == STALE and name != first and self.returned:
            self.ask(self.returned[-1], messages)
        return answer

    def ask(self, name: str, messages: list) -> dict:
        """Ask for an agent's next message."""
        tools = [{"type": "function", "function": {"name": tool, "parameters": {"type": "object"}}} for tool in TOOLS]
        body = json.dumps({"model": name, "messages": messages, "tools": tools}).encode()
        url = f"{self.start.env['OPENAI_BASE_URL']}/chat/completions"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(url, body, {"content-type": "application/json"})  # noqa: S310 - the provider's
        with opener.open(request) as response:
            return json.load(response)["choices"][0]["message"]


def _name(call: dict) -> str:
    return call["function"]["name"]


def _works(calls: list) -> bool:
    return all(_name(call) == "touch" for call in calls)
