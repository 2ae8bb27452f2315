"""What was seen of one run, small enough for a report: each request with its answer, and how the run ended.

It is kept of cases that are no pass, for the pictures of a page. Texts are cut, and of a long run its beginning and end
are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_agentcontract.conformance.verdict import CaseReport
from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, dumps, equal, loads
from pytest_agentcontract.report.text import harmless, shortened
from pytest_agentcontract.report.wirelog import asking
from pytest_agentcontract.scenario.case import Case
from pytest_agentcontract.scenario.observation import Delivery, Exchange
from pytest_agentcontract.wire.turn import Turn

_WIDTH: Final = 240
_FIRST, _LAST = 6, 18
_OUTPUT: Final = 600
_MISSED: Final = 5


def seen(report: CaseReport) -> JSON:
    """Return the exchanges and the end of a run as plain data; None where nothing was run."""
    observation = report.observation
    if observation is None:
        return None
    places = range(len(observation.exchanges))
    kept = places if len(places) <= _FIRST + _LAST else (*places[:_FIRST], *places[-_LAST:])
    told: list[JSON] = [_exchange(at, observation.exchanges, report.case) for at in kept]
    missed: list[JSON] = [_cut(path) for path in observation.missed[:_MISSED]]
    return _said(exchanges=told, left_out=len(places) - len(kept), missed=missed, run=_run(observation.delivery))


def document(delivery: Delivery) -> str:
    """Return the result document as text; nothing where there is none, or where it is the whole of standard output."""
    if isinstance(delivery.document, Missing) or _prints(delivery.stdout, delivery.document):
        return ""
    return dumps(delivery.document)


def _prints(stdout: str, document: JSON) -> bool:
    try:
        return equal(loads(stdout), document)
    except ValueError:
        return False


def _exchange(at: int, exchanges: Sequence[Exchange], case: Case) -> JSONObject:
    """Return one request and its answer; what is not said is not there."""
    one = exchanges[at]
    answer = one.answer or Turn()
    return _said(
        at=round(one.received_at, 2),
        agent=harmless(one.agent),
        kind=one.kind,
        turn=one.turn,
        asks=_cut(asking(one.request)),
        nudge=_is_nudge(at, exchanges, case),
        thinks=_cut(answer.thinking or ""),
        says=_cut(answer.prose or ""),
        calls=[[_cut(call.name), _cut(call.arguments_text)] for call in answer.calls],
        fault=_fault(one, case),
        again=one.retry,
        undelivered=not one.delivered,
        note=_cut(one.note),
    )


def _is_nudge(at: int, exchanges: Sequence[Exchange], case: Case) -> bool:
    """Tell whether a request follows its agent's finish without a call, and says something new to it."""
    one = exchanges[at]
    before = next((other for other in reversed(exchanges[:at]) if other.agent == one.agent and other.answer), None)
    if before is None or before.answer is None or before.answer.calls or one.retry or case.given.conversation:
        return False
    return bool(one.request.messages) and one.request.messages[-1].role == "user"


def _fault(one: Exchange, case: Case) -> str:
    """Return in words what was scripted to go wrong with this answer."""
    turns = case.script.get(one.agent, ())
    fault = turns[one.turn - 1].fault if 0 < one.turn <= len(turns) else None
    return harmless(str(fault)) if fault is not None and not one.retry else ""


def _run(delivery: Delivery) -> JSONObject:
    told = _said(
        ended=delivery.ended,
        seconds=round(delivery.seconds, 2),
        account=delivery.status,
        problem=_cut(delivery.problem),
        document=_cut(document(delivery)),
        stdout=harmless(delivery.stdout.strip()[-_OUTPUT:]),
        stderr=harmless(delivery.stderr.strip()[-_OUTPUT:]),
    )
    return {**told, "exit": delivery.exit_code}


def _said(**parts: JSON) -> JSONObject:
    """Return the parts that say something: no empty text, no zero, no `false`."""
    return {name: value for name, value in parts.items() if value}


def _cut(text: str) -> str:
    return shortened(harmless(text), _WIDTH)
