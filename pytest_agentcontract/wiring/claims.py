"""For each capability the run that shows it, and what to look at in that run: a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.conformance.evidence import ROOT
from pytest_agentcontract.jsonvalue import JSON, Missing, as_text, dumps, equal, loads
from pytest_agentcontract.report.text import counted, shortened
from pytest_agentcontract.scenario.binding import tool_name
from pytest_agentcontract.scenario.case import HANDOFF, SPAWN, ScriptedCall
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wiring import scripts
from pytest_agentcontract.wiring.document import SHOWN, shown, stands
from pytest_agentcontract.wiring.trial import PAYLOADS, TEXT, Trial

Look = Callable[[Trial], str]
"""Returns an empty text where a run shows the capability, else what it shows instead."""


@dataclass(frozen=True, slots=True)
class Claim:
    """How one capability is shown, and that in words.

    `parts` are the tools and steps that have to be in order for it, `agents` is how many it takes beside the root;
    `means` tells whether a profile that does not declare it has all that it takes to try; what is `structural` can't
    be shown by a text.
    """

    script: scripts.Script
    look: Look
    shows: str
    parts: tuple[str, ...] = ()
    agents: int = 0
    means: Callable[[Profile], bool] = lambda _profile: False
    structural: bool = False

    def unfit(self, profile: Profile) -> str:
        """Say why the run can't be played with this profile; empty where it can."""
        if self.structural and "root-return" not in profile.capabilities:
            return "without a return tool the answer is always a text"
        if "work" in self.parts and "work" not in profile.tools:
            return "it takes a tool that is bound to tools.work"
        if len(scripts.others(profile)) < self.agents:
            return f"`agents` lists fewer than {counted(self.agents, 'agent')} beside the root"
        if self.script(profile).given.mode == "json" and "headless" not in profile.capabilities:
            return "it is looked at in headless runs alone"
        return ""


def _arrived(trial: Trial) -> str:
    if equal(trial.delivery.value, trial.said):
        return ""
    binding = trial.profile.tools.get("return")
    if binding is not None and len(trial.of()) > 1:
        return trial.answer_to(binding.name)
    return trial.stopped or f"{shown(trial.said)} was returned, {shown(trial.delivery.value)} arrived"


def _printed(trial: Trial) -> str:
    said = trial.case.script[ROOT][0].text or ""
    if said in trial.delivery.stdout:
        return ""
    printed = shortened(trial.delivery.stdout, SHOWN)
    return trial.stopped or f"the model said {said!r}, standard output holds {printed!r}{trial.last_words}"


def _conversed(trial: Trial) -> str:
    answered = [seen for seen in trial.of() if seen.delivered and seen.turn]
    if len(answered) > 1:
        return _printed(trial) or trial.cut_off
    return trial.unasked or f"{counted(len(answered), 'line')} of 2 came to an answer{trial.last_words}"


def _structured(trial: Trial) -> str:
    if trial.unasked:
        return trial.unasked
    if not any(scripts.ANSWER in dumps(seen.request.body) for seen in trial.of()):
        return f"no request holds the schema that was asked for{_dropped(trial, 'schema_json', 'schema_file')}"
    said = loads(trial.said) if isinstance(trial.said, str) else trial.said
    if equal(trial.delivery.value, said):
        return ""
    rule = trial.profile.result
    pointer = rule.pointer(structured=True)
    held = f"{shown(said)} was returned, {pointer} holds {shown(trial.delivery.value)}"
    return trial.cut_off or f"{held}{_elsewhere(trial, said)}{trial.last_words}"


def _elsewhere(trial: Trial, said: JSON | Missing) -> str:
    there = stands(trial.delivery.document, said)
    return f"; it stands at {there[0]}" if there else ""


def _capped(trial: Trial) -> str:
    made = len([seen for seen in trial.of() if not seen.retry])
    if trial.unasked or made <= scripts.CAP:
        return trial.stopped
    return f"{scripts.CAP} model requests were allowed, it made {made}{_dropped(trial, 'max_turns')}"


def _dropped(trial: Trial, *names: str) -> str:
    """Say that nothing passes on what a run asks for; empty where something does."""
    lacks = trial.profile.driver == "command" and not any(_passes(name)(trial.profile) for name in names)
    return f": neither modes.json nor a file passes {{{names[0]}}} on" if lacks else trial.last_words


def _delegated(trial: Trial) -> str:
    child = _other(trial)
    if trial.of(child):
        return ""
    return _stranger(trial) or f"no request of a child came: {trial.answer_to(_tool(SPAWN, child, trial))}"


def _stranger(trial: Trial) -> str:
    """Say that an agent asked that is not known for one, and what it can be known by; empty where none did."""
    if not trial.strangers:
        return ""
    seen, by_model = trial.strangers[0], trial.profile.attribution == "model"
    sign = f"asks for the model {seen.request.model!r}" if by_model else f"begins with {_opening(seen)!r}"
    return f"an agent asked that is not known for one: {seen.note}; its request {sign}"


def _opening(seen: Exchange) -> str:
    return shortened(seen.request.opening, SHOWN)


def _reported(trial: Trial) -> str:
    child = _other(trial)
    turn = trial.case.script[child][0]
    said = next((call.value for call in turn.calls), turn.text)
    if not trial.of(child) or trial.heard(as_text(said)):
        return _delegated(trial)
    return f"what the child returned never reached its parent: {trial.unserved(child)}"


def _overlapped(trial: Trial) -> str:
    asked = trial.of(_other(trial))
    if asked and asked[0].released:
        return ""
    return _delegated(trial) or "the parent asked for nothing while its child was at work"


def _transferred(trial: Trial) -> str:
    other = _other(trial)
    if trial.of(other):
        return ""
    return _stranger(trial) or f"{other} never asked: {trial.answer_to(_tool(HANDOFF, other, trial))}"


def _nested(trial: Trial) -> str:
    _, first, second = trial.case.script
    if trial.of(second):
        return ""
    return _delegated(trial) or f"{second} never asked: {trial.answer_to(_tool(SPAWN, second, trial), first)}"


def _posted(trial: Trial) -> str:
    if not trial.of(scripts.WRITER):
        return trial.unserved(scripts.WRITER)
    posted = [comment for made in trial.observation.invocations for comment in made.posted]
    return "" if posted else f"no comment was posted{trial.last_words}"


def _other(trial: Trial) -> str:
    return list(trial.case.script)[1]


def _tool(part: str, agent: str, trial: Trial) -> str:
    return tool_name(ScriptedCall(part, agent=agent), trial.profile)


def _has_mode(mode: str) -> Callable[[Profile], bool]:
    return lambda profile: any(mode == known for known in profile.modes)


def _passes(name: str) -> Callable[[Profile], bool]:
    def somewhere(profile: Profile) -> bool:
        return any(f"{{{name}" in str(text) for text in (*profile.modes.get("json", ()), *profile.files.values()))

    return somewhere


def _binds(part: str) -> Callable[[Profile], bool]:
    return lambda profile: part in profile.tools


_ARRIVES: Final = ("return", "result")
_SPAWN: Final = ("spawn", "work", "return")
_BESIDE: Final = ("sub-agents", *_SPAWN)

CLAIMS: Final[Mapping[str, Claim]] = {
    "root-return": Claim(scripts.plainest, _arrived, "the return call ends the run", _ARRIVES, 0, _binds("return")),
    **{
        kind: Claim(
            scripts.returning(kind), _arrived, "it arrives as returned", _ARRIVES, 0, _binds("return"), kind != TEXT
        )
        for kind in PAYLOADS
    },
    "text": Claim(scripts.speaking, _printed, "what the model said was printed", ("return",), 0, _has_mode("text")),
    "interactive": Claim(scripts.conversing, _conversed, "two lines were answered", (), 0, _has_mode("interactive")),
    "schema": Claim(
        scripts.structured, _structured, "it is asked for, and a value arrives", _ARRIVES, 0, _passes("schema_")
    ),
    "step-cap": Claim(
        scripts.endless, _capped, f"no more than {scripts.CAP} requests were made", ("work",), 0, _passes("max_turns")
    ),
    "sub-agents": Claim(scripts.delegating, _delegated, "a child asked the model", _SPAWN, 1, _binds("spawn")),
    "child-return": Claim(scripts.delegating, _reported, "what a child returned reached its parent", _BESIDE, 1),
    "async": Claim(scripts.overlapping, _overlapped, "a parent went on beside its child", _BESIDE, 1),
    "transfer": Claim(scripts.transferring, _transferred, "control moved on", ("handoff",), 1, _binds("handoff")),
    "agents-as-tools": Claim(scripts.nesting, _nested, "who was called called another", _BESIDE, 2),
    "handoff": Claim(
        scripts.invoking, _posted, "an invocation posted its comment", ("return",), 0, _has_mode("handoff")
    ),
}
"""Every capability but `headless`, which each run of the mode `json` shows."""
