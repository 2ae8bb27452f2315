"""The outcome of a run: the part that the contract determines, so that two runs of one case give the same."""

from __future__ import annotations

import hashlib

from pytest_agentcontract.conformance import passing, route
from pytest_agentcontract.conformance.evidence import ROOT, Run
from pytest_agentcontract.conformance.replies import accepted, nudged, valid_reply
from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, as_object, dumps, is_empty, loads
from pytest_agentcontract.scenario.binding import Nonces
from pytest_agentcontract.scenario.observation import Exchange

_LONG = 2000
_POSTED = (
    "agent", "posted", "next", "status", "step", "dispatch", "origin", "reason", "callback", "called_by", "notice",
    "config",
)  # fmt: skip


def outcome(run: Run, nonces: Nonces) -> JSONObject:
    """Return how the run ended, what it handed over, and what became of each agent whose end the case states.

    A child that may be cancelled at any point is left out: how far it came says nothing about the runtime.
    """
    if run.case.given.handoff is not None:
        return _route(run, nonces)
    agents: JSONObject = {agent: _agent(run, agent) for agent in run.case.script if _determined(run, agent)}
    passed: JSONObject = {"order": [*passing.order(run)]} if run.expect.route else {}
    return {"status": run.status, "value": _value(run, nonces), "agents": agents} | passed


def _route(run: Run, nonces: Nonces) -> JSONObject:
    """Return what each invocation of a hand-off came to; texts are left out, for they are the agents' own."""
    said: list[JSON] = [
        {name: None if isinstance(value := route.field(seen, name), Missing) else value for name in _POSTED}
        for seen in route.seen(run)
    ]
    return as_object(loads(_timeless(dumps({"status": run.status, "route": said}), nonces)))


def _determined(run: Run, agent: str) -> bool:
    return agent == ROOT or run.expected(agent).status is not None


def _agent(run: Run, agent: str) -> JSONObject:
    reply = valid_reply(run, agent)
    converses = agent == ROOT and not run.headless  # what follows its finishes is its user's next line
    return {
        "requests": sum(_counts(exchange) for exchange in run.own(agent)),
        "nudges": 0 if converses else sum(nudged(run, finish) for finish in run.finishes(agent)),
        "returned": reply is not None and accepted(run, reply) is not False,
    }


def _counts(exchange: Exchange) -> bool:
    """Tell whether a request asked for another turn: polls and retries depend on the clock."""
    return exchange.kind in ("turn", "beyond") or (exchange.kind == "fault" and not exchange.retry)


def _value(run: Run, nonces: Nonces) -> JSON:
    value = run.delivery.value
    if isinstance(value, Missing) or (is_empty(value) and run.status != "success"):
        return None
    text = _timeless(dumps(value), nonces)
    return loads(text) if len(text) <= _LONG else _digest(text)


def _timeless(text: str, nonces: Nonces) -> str:
    """Take out what is another in each run."""
    return text.replace(nonces.secret, "{nonce}").replace(nonces.public, "{token}")


def _digest(text: str) -> JSONObject:
    """Stand in for a value that is too long to be read in a snapshot."""
    return {"characters": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
