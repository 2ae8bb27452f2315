"""The tools that a profile binds: whether they are there, and whether its arguments fit what is advertised."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pytest_agentcontract.drivers.finding import Finding
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, as_list, as_object, dumps
from pytest_agentcontract.report.text import counted, shortened
from pytest_agentcontract.scenario.binding import Nonces, Places, bind_turn, filled
from pytest_agentcontract.scenario.case import HANDOFF, RETURN, SPAWN, WORK, ScriptedCall, ScriptedTurn
from pytest_agentcontract.scenario.profile_faults import TOOL_OF
from pytest_agentcontract.wire.request import Tool
from pytest_agentcontract.wire.turn import Call
from pytest_agentcontract.wiring.document import SHOWN
from pytest_agentcontract.wiring.trial import Trial

_OF_CHILDREN = "child-return"
_SAMPLE = Places(Nonces("public", "secret"), Path("/somewhere"), {})


def advertised(trial: Trial) -> Mapping[str, Tool]:
    """Return every tool that some request of the first agent offers, by name."""
    return {tool.name: tool for seen in trial.of() for tool in seen.request.tools}


def tools(trial: Trial, agents: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each tool that the root needs; `agents` are those that it can call or hand over to."""
    there, claimed = advertised(trial), trial.profile.capabilities - {_OF_CHILDREN}
    needed = {"work", *(part for capability, part in TOOL_OF.items() if capability in claimed)}
    agent = next(iter(agents), "")
    for part, binding in trial.profile.tools.items():
        if part in needed and (agent or "{agent}" not in binding.name):
            yield _bound(part, _call(part, trial, agent), there)
    waits = trial.profile.tools.get("await")
    if waits is not None and "sub-agents" in claimed:
        known = {"agent": agent} | {name: name for name in waits.captures}
        yield _bound("await", Call(waits.name, filled(waits.arguments, known, _SAMPLE)), there)


def worked(trial: Trial) -> Finding:
    """Say whether the work call left its mark, and what came of it if not."""
    name = trial.profile.tools["work"].name
    if "w1" in trial.observation.marks:
        return Finding("work", "ok", f"{name} leaves its mark")
    return Finding("work", "FAIL", f"no mark was left: {trial.answer_to(name)}", "Mend tools.work.arguments.")


def rejected(trial: Trial) -> Finding | None:
    """Say how the model's last word was answered, if it was not the end of the agent."""
    if not trial.of()[1:]:
        return None
    binding = trial.profile.tools.get("return")
    if binding is None or not trial.said_by_call:
        what = f"the root asks again after the model's last text, {counted(len(trial.of()), 'request')} in all"
        offered = ", ".join(advertised(trial))
        fix = f"Has it a return tool? Bind it as tools.return, and claim root-return; it offers: {offered}."
        return Finding("return", "FAIL", what, fix)
    fix = "Mend tools.return.payload, or take the kind of payload out of capabilities."
    return Finding("return", "FAIL", f"the root goes on after it: {trial.answer_to(binding.name)}", fix)


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return names in the order of their likeness to one."""
    return sorted(names, key=lambda other: -difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio())


def _call(part: str, trial: Trial, agent: str) -> Call:
    scripted = {
        "return": ScriptedCall(RETURN, value=trial.said),
        "work": ScriptedCall(WORK, mark="w1"),
        "spawn": ScriptedCall(SPAWN, agent=agent),
        "handoff": ScriptedCall(HANDOFF, agent=agent),
    }[part]
    places = Places(_SAMPLE.nonces, _SAMPLE.workdir, {agent: "Do your part."})
    return bind_turn(ScriptedTurn(calls=(scripted,)), trial.profile, places, "1").calls[0]


def _bound(part: str, call: Call, there: Mapping[str, Tool]) -> Finding:
    step = f"tools.{part}"
    if call.name not in there:
        names = ", ".join(nearest(call.name, there)) or "no tool at all"
        return Finding(step, "FAIL", f"{call.name!r} is not advertised; there is: {names}", f"Name it in {step}.name.")
    schema = there[call.name].schema
    wrong = "" if there[call.name].free_text else misfit(call.arguments, schema)
    if not wrong:
        return Finding(step, "ok", f"{call.name} is advertised, and its arguments fit")
    key = "payload" if part == "return" else "arguments"
    what = f"{call.name}({shortened(dumps(call.arguments), SHOWN)}) does not fit what is advertised: {wrong}"
    return Finding(step, "FAIL", f"{what}; it takes {_taken(schema)}", f"Mend {step}.{key}.")


def misfit(arguments: JSON, schema: JSONObject) -> str:
    """Say in which way arguments don't fit a tool's JSON Schema; empty where they do, or where nobody can tell."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only this check pays for jsonschema
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - the same

    try:
        error = best_match(Draft202012Validator(schema).iter_errors(arguments))
    except Exception:  # noqa: BLE001 - a stranger's schema may be wrong in any way, and that is not what is asked here
        return ""
    if error is not None:
        return shortened(error.message, SHOWN)
    known, others = as_object(schema.get("properties", MISSING)), schema.get("additionalProperties", False)
    unknown = [name for name in as_object(arguments) if name not in known]
    return f"it knows no {unknown[0]!r}" if known and unknown and others is False else ""


def _taken(schema: JSONObject) -> str:
    """Return the pointers of the arguments that a tool takes, those that it requires first."""
    known, required = as_object(schema.get("properties", MISSING)), as_list(schema.get("required", MISSING))
    ordered = sorted(known, key=lambda name: name not in required)
    return ", ".join(f"/{name}{' (required)' * (name in required)}" for name in ordered) or "no arguments"
