"""The operations of the hand-off contract as the reference answers them: JSON in, JSON out, nothing remembered.

A function raises ValueError for an input that is not of its form; that is an error answer, never a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pytest_agentcontract.contract import notice, sentinel, team
from pytest_agentcontract.contract.checker import Diagnostic
from pytest_agentcontract.contract.handoff import AgentRunConfig
from pytest_agentcontract.contract.routing import Facts, decide
from pytest_agentcontract.contract.thread import Kind, decision_in
from pytest_agentcontract.contract.workflow import Workflow
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, as_object


def answer(op: str, given: JSON, settings: Mapping[str, str] | None = None) -> JSON | Missing:
    """Answer one operation, MISSING where there is none of that name: what the python driver calls as an adapter."""
    function = OPERATIONS.get(op)
    return MISSING if function is None else function(as_object(given))


def _parse(given: JSONObject) -> JSON:
    found = decision_in(_text(given, "comment"), Kind.ENGINE)
    return {
        "config": found.to_json() if isinstance(found, AgentRunConfig) else None,
        "diagnostic": str(found) if isinstance(found, Diagnostic) else None,
    }


def _render(given: JSONObject) -> JSON:
    return {"line": sentinel.render(_valid(AgentRunConfig.from_json(given.get("config"))))}


def _model(given: JSONObject) -> JSON:
    found = AgentRunConfig.from_json(given.get("config"))
    broken = isinstance(found, Diagnostic)
    return {"valid": not broken, "diagnostic": str(found) if broken else None}
