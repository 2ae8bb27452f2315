"""A script that is no case, as a value: the turns of each agent, and how their requests are told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.case import Case, Expect, Given, Hold, ScriptedTurn, gates
from pytest_agentcontract.scenario.load_script import EARLY_REPEAT
from pytest_agentcontract.scenario.profile import Attribution, Profile, ResultRule, SideCall
from pytest_agentcontract.scenario.script import Script

ONLY = "root"
"""What the agent of a script of one agent is called where nobody names it."""

_MARKS: Mapping[Attribution, str] = {"model": "{}", "header": "x-agent: {}", "system": "[[{}]]", "token": "[[{}]]"}
"""What marks an agent's requests where a script does not say."""

Complaint = tuple[str, str]
"""A JSON pointer into the script, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Playbook:
    """What the model says to each agent. `by` is how their requests are known, `marks` what each one's carry."""

    agents: Mapping[str, tuple[ScriptedTurn, ...]]
    by: Attribution = "sole"
    marks: Mapping[str, str] = field(default_factory=dict)
    side_calls: tuple[SideCall, ...] = ()

    @property
    def signs(self) -> dict[str, str]:
        """Return the mark of every agent, chosen or not."""
        made = _MARKS.get(self.by, "")
        return {agent: self.marks.get(agent, made.format(agent)) for agent in self.agents}

    @property
    def gates(self) -> tuple[str, ...]:
        """Return the names of the gates that the test opens."""
        return gates(self.agents)


def script(playbook: Playbook) -> Script:
    """Make a model of a playbook that has no faults: a strict one."""
    case = Case("", "", "", (), Given("json"), playbook.agents, Expect())
    profile = Profile(
        "script",
        "command",
        {},
        ResultRule(),
        frozenset(),
        attribution=playbook.by,
        agents=playbook.signs,
        side_calls=playbook.side_calls,
    )
    return Script(case, profile, Nonces("", ""), Path(), strict=True)


def early_repeats(agents: Mapping[str, tuple[ScriptedTurn, ...]]) -> Iterator[Complaint]:
    """Yield the turns that stand behind one that is played for ever; a file's are found when it is read."""
    for agent, turns in agents.items():
        yield from ((f"/{agent}/{at}/repeat", EARLY_REPEAT) for at, turn in enumerate(turns[:-1]) if turn.repeat)


def loose_turns(agents: Mapping[str, tuple[ScriptedTurn, ...]]) -> Iterator[Complaint]:
    """Yield what means nothing outside a case, and gates that can't open: pointers begin with the agent."""
    for agent, turns in agents.items():
        for at, turn in enumerate(turns):
            place = f"/{agent}/{at}"
            if turn.when is not None:
                yield f"{place}/when", "waiting by polls is for cases; a script has `asked`, and holds"
            for number, call in enumerate(turn.calls):
                if call.tool.startswith("$"):
                    yield f"{place}/calls/{number}/tool", f"{call.tool!r} is for cases; a script names the tool itself"
            if turn.hold is not None:
                yield from _loose_hold(f"{place}/hold", turn.hold, (agent, at + 1), agents)


def loose_attribution(playbook: Playbook) -> Iterator[Complaint]:
    """Yield what keeps the agents from being told apart."""
    if not any(playbook.agents.values()):
        yield "", "a script has at least one turn"
    if playbook.by == "sole" and len(playbook.agents) > 1:
        ways = ", ".join(map(repr, _MARKS))
        yield "/attribution", f"several agents are told apart by one of {ways}: say by which"
    for agent in playbook.marks.keys() - playbook.agents.keys():
        yield f"/attribution/marks/{agent}", f"no agent is called {agent!r}"
    shared = [mark for mark, count in Counter(playbook.signs.values()).items() if count > 1 and playbook.by != "sole"]
    for mark in shared:
        yield "/attribution/marks", f"{mark!r} marks several agents: every request of theirs would be ambiguous"
    if playbook.by in ("system", "token"):
        for mark, other in permutations(playbook.signs.values(), 2):
            if mark in other and mark != other:
                yield "/attribution/marks", f"{mark!r} stands in {other!r}, too: requests would be of both agents"
    if playbook.by == "header":
        for agent in (agent for agent, mark in playbook.signs.items() if ":" not in mark):
            yield f"/attribution/marks/{agent}", "a header's mark is a whole line, `name: value`"


def _loose_hold(
    place: str, hold: Hold, mine: tuple[str, int], agents: Mapping[str, tuple[ScriptedTurn, ...]]
) -> Iterator[Complaint]:
    if hold.until in ("end", "printed"):
        yield f"{place}/until", f"`{hold.until}` is for cases; a script waits for `released` or `delivered`"
    if hold.until != "delivered":
        return
    agent, number = mine
    if hold.turn > len(agents.get(hold.agent, ())):
        yield f"{place}/until", f"{hold.agent!r} has no turn {hold.turn}: the gate would never open"
    elif hold.agent == agent and hold.turn >= number:
        yield f"{place}/until", "a turn that waits for itself never goes on"
