"""The short cases that a wiring check plays: each shows one thing, and says as little as it can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pytest_agentcontract.conformance.evidence import ROOT
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps
from pytest_agentcontract.scenario.case import (
    HANDOFF,
    RETURN,
    SPAWN,
    WORK,
    Case,
    Expect,
    Given,
    Hold,
    Say,
    ScriptedCall,
    ScriptedTurn,
    When,
)
from pytest_agentcontract.scenario.load_handoff import handoff
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wire.faults import StatusFault
from pytest_agentcontract.wiring.trial import PAYLOADS, TEXT

CAP: Final = 3
ANSWER: Final = "wiring_answer"
WRITER: Final = "writer"

_PROMPT: Final = "Do what you are told, and report."
_TEXT: Final = "Spoken ({nonce})."
_CHILDS: Final = "The child is done ({nonce})."
_STRING: Final = PAYLOADS[TEXT]
_STRUCTURE: Final[JSONObject] = {ANSWER: "({nonce})"}
_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {ANSWER: {"type": "string"}},
    "required": [ANSWER],
    "additionalProperties": False,
}
_HANDOFF: Final = handoff(
    {
        "workflow": {
            "name": "wiring",
            "agents": {WRITER: {"role": "writes"}},
            "steps": [{"id": "write", "agent": WRITER, "terminal": True}],
        },
        "thread": [{"id": "issue-1", "author": "alice", "body": "Please write."}],
        "events": [{"id": "e1", "comment": "issue-1"}],
    }
)
_JSON: Final = Given("json", _PROMPT)

Script = Callable[[Profile], Case]


def others(profile: Profile) -> tuple[str, ...]:
    """Return the agents beside the root whose requests the profile lets us tell from others."""
    listed = tuple(agent for agent in profile.agents if agent != ROOT)
    return listed or (("child", "helper") if profile.attribution == "token" else ())


def plain(profile: Profile, mode: str) -> Case:
    """Return the run that everything else builds on: the model hands over a result at once."""
    return _PLAIN[mode](profile)


def returning(kind: str) -> Script:
    """Return the script of a run that ends with a value of one kind."""
    return lambda profile: _case(_JSON, [_end(profile, PAYLOADS[kind])])


def working(profile: Profile) -> Case:
    """Call the work tool, then end."""
    return _case(_JSON, [_calls(WORK, mark="w1"), _end(profile, _STRING)])


def failing() -> Case:
    """Refuse every model request."""
    fault = StatusFault(400, message="refused, to see what a failure looks like")
    return _case(_JSON, [ScriptedTurn(fault=fault, repeat=True)])


def speaking(profile: Profile) -> Case:
    """Say something in text mode; where there is a return tool it is called afterwards."""
    ends = [_end(profile, _STRING)] if "root-return" in profile.capabilities else []
    return _case(Given("text", _PROMPT), [ScriptedTurn(text=_TEXT), *ends])


def conversing(_profile: Profile) -> Case:
    """Answer two lines of a conversation."""
    given = Given("interactive", conversation=(Say("Hello."), Say("Go on.")))
    return _case(given, [ScriptedTurn(text=_TEXT), ScriptedTurn(text="And on.")])


def structured(profile: Profile) -> Case:
    """End a run that asks for a schema with a value that conforms to it."""
    return _case(replace(_JSON, schema=_SCHEMA), [_end(profile, _STRUCTURE)])


def endless(_profile: Profile) -> Case:
    """Call the work tool for ever, in a run that is allowed a few requests."""
    return _case(replace(_JSON, max_turns=CAP), [replace(_calls(WORK, mark="w1"), repeat=True)])


def delegating(profile: Profile) -> Case:
    """Start a child, and end once its report is seen."""
    child = others(profile)[0]
    ends = replace(_end(profile, _STRING), when=When("sees", child))
    return _case(_JSON, [_calls(SPAWN, agent=child), ends], **{child: [_end(profile, _CHILDS, "child-return")]})


def overlapping(profile: Profile) -> Case:
    """Keep a child waiting until its parent has gone on."""
    child = others(profile)[0]
    ends = replace(_end(profile, _STRING), when=When("sees", child))
    turns = [_calls(SPAWN, agent=child), _calls(WORK, mark="w1"), ends]
    until = Hold(0, "delivered", agent=ROOT, turn=2)
    return _case(_JSON, turns, **{child: [replace(_end(profile, _CHILDS, "child-return"), hold=until)]})


def transferring(profile: Profile) -> Case:
    """Hand over to another agent."""
    first = others(profile)[0]
    turns = [_calls(HANDOFF, agent=first), ScriptedTurn(text=_TEXT)]
    return _case(_JSON, turns, **{first: [ScriptedTurn(text=_CHILDS)]})


def nesting(profile: Profile) -> Case:
    """Call an agent that calls another."""
    first, second = others(profile)[:2]
    script = {
        first: [_calls(SPAWN, agent=second), ScriptedTurn(text=_CHILDS)],
        second: [ScriptedTurn(text="The last one is done.")],
    }
    return _case(_JSON, [_calls(SPAWN, agent=first), ScriptedTurn(text=_TEXT)], **script)


def invoking(profile: Profile) -> Case:
    """Run one step of a workflow."""
    return _case(Given("handoff", handoff=_HANDOFF), [], **{WRITER: [_end(profile, "Written ({nonce}).")]})


def _case(given: Given, root: Sequence[ScriptedTurn], **agents: Sequence[ScriptedTurn]) -> Case:
    script = {name: tuple(turns) for name, turns in ({ROOT: root} | agents).items() if turns}
    return Case("", "a look at the wiring", "", (), given, script, Expect())


def _end(profile: Profile, value: JSON, claim: str = "root-return") -> ScriptedTurn:
    """Return the turn that ends an agent: a call of its return tool, or its last text where it claims none."""
    if claim in profile.capabilities and "return" in profile.tools:
        return ScriptedTurn(calls=(ScriptedCall(RETURN, value=value),))
    return ScriptedTurn(text=value if isinstance(value, str) else dumps(value))


def _calls(tool: str, *, agent: str = "", mark: str = "") -> ScriptedTurn:
    return ScriptedTurn(calls=(ScriptedCall(tool, agent=agent, mark=mark),))


def plainest(profile: Profile) -> Case:
    """Hand over a value of the first kind that is claimed, else a text."""
    kind = next((kind for kind in PAYLOADS if kind in profile.capabilities), TEXT)
    return returning(kind if "root-return" in profile.capabilities else TEXT)(profile)


_PLAIN: Final = {"json": plainest, "text": speaking, "interactive": conversing, "handoff": invoking}
