"""The operations of the hand-off contract as the reference answers them: JSON in, JSON out, nothing remembered.

An input that is not of its form raises ValueError: that is an error answer, never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from pytest_agentcontract.contract import sentinel
from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import AgentRunConfig, Phase, Stop, WorkflowState
from pytest_agentcontract.contract.routing import Facts
from pytest_agentcontract.contract.thread import Comment, Kind
from pytest_agentcontract.contract.workflow import Workflow
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, as_object, as_text
from pytest_agentcontract.reference.cli import rules_of
from pytest_agentcontract.reference.handoff_rules import Found, HandoffRules

_T = TypeVar("_T")


def answer(op: str, given: JSON, settings: Mapping[str, str] | None = None) -> JSON | Missing:
    """Answer one operation, MISSING where there is none of that name: what the python driver calls as an adapter.

    `settings` name a variant or a mutant, as those of a run do.
    """
    function = OPERATIONS.get(op)
    return MISSING if function is None else function(rules_of(settings or {}).handoff, as_object(given))


def _parse(rules: HandoffRules, given: JSONObject) -> JSON:
    found = _decision(rules, given)
    return {
        "reading": _READINGS[type(found)],
        "config": found.to_json() if isinstance(found, AgentRunConfig) else None,
        "diagnostic": str(found) if isinstance(found, Diagnostic) else None,
    }


def _render(rules: HandoffRules, given: JSONObject) -> JSON:
    return {"line": rules.render(_valid(AgentRunConfig.from_json(given["config"])))}


def _model(rules: HandoffRules, given: JSONObject) -> JSON:
    found = sentinel.config_of(as_text(given["json"]), rules.model)
    diagnostic = str(found) if isinstance(found, Diagnostic) else None
    return {"valid": diagnostic is None, "diagnostic": diagnostic}


def _route(rules: HandoffRules, given: JSONObject) -> JSON:
    decision = rules.decide(
        Facts(
            workflow=_valid(Workflow.from_json(given["workflow"])),
            agent=as_text(given["agent"]),
            decision=_decision(rules, given),
            step=_name(given, "step"),
            callback=_name(given, "callback"),
            called_by=_name(given, "called_by"),
            failed=given.get("failed") is True,
        )
    )
    return {
        "next": decision.next if decision.status is Phase.RUNNING else None,
        "step": decision.step,
        "status": decision.status.value,
        "dispatch": decision.dispatch.status.value,
        "origin": decision.dispatch.origin.value,
        "reason": decision.dispatch.reason,
        "callback": decision.callback,
        "called_by": decision.called_by,
        "notice": decision.stop is not None,
    }


def _inert(rules: HandoffRules, given: JSONObject) -> JSON:
    return {"body": rules.harmless(as_text(given["text"]))}


def _notice(rules: HandoffRules, given: JSONObject) -> JSON:
    stop, status = _name(given, "stop"), Phase(as_text(given["status"]))
    names = [_name(given, key) for key in ("started_by", "issue_author", "trigger_author")]
    mention = rules.recipient(*names)
    state = WorkflowState("-", "-", status=status, stop=Stop(stop) if stop else None, started_by=mention)
    told = rules.notice(state)
    return {"mentions": told.mention if told else None}


def _team(rules: HandoffRules, given: JSONObject) -> JSON:
    roles = {name: as_text(as_object(agent)["role"]) for name, agent in as_object(given["agents"]).items()}
    called_by, callback = _name(given, "called_by"), _name(given, "callback")
    return {"section": rules.section(roles, as_text(given["agent"]), called_by, callback)}


OPERATIONS: Final[Mapping[str, Callable[[HandoffRules, JSONObject], JSON]]] = {
    "parse": _parse,
    "render": _render,
    "model": _model,
    "route": _route,
    "inert": _inert,
    "notice": _notice,
    "team": _team,
}


_READINGS: Final = {AgentRunConfig: "config", Diagnostic: "diagnostic", type(None): "none"}


def _decision(rules: HandoffRules, given: JSONObject) -> Found:
    """Read a text by who wrote it: an agent's as it came, or a comment as it was posted."""
    text, author = as_text(given["text"]), as_text(given.get("author", "agent"))
    if author == "agent":
        return rules.parse(text, rules.model)
    comment = Comment("-", "-", Kind(author), None, text, "-")
    return rules.read(text, rules.model).config if rules.believes(comment) else None


def _valid(found: _T | Diagnostic) -> _T:
    if isinstance(found, Diagnostic):
        raise ValueError(str(found))  # noqa: TRY004 - it is the input's content that is wrong
    return found


def _name(given: JSONObject, key: str) -> str | None:
    return as_text(given.get(key)) or None
