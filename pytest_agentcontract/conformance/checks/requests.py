"""What stands in an agent's requests: calls and their results in pairs, and a history that stays what it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pytest_agentcontract.conformance import history
from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import says_failed
from pytest_agentcontract.conformance.evidence import ROOT, Run
from pytest_agentcontract.conformance.history import Side, asked, asks_for_thinking, named
from pytest_agentcontract.conformance.replies import Delivered, delivered_calls, latest_results, taken_back
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import loads
from pytest_agentcontract.scenario.case import WORK
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Call

_CUT = frozenset({"length", "refusal", "context", "pause"})
"""After these an answer may be left out of the history: it never came to its end."""


@check("WIR-101", given=("asked",))
def results_answer_calls(run: Run) -> Finding:
    """Look for tool results that no earlier message of their request has called for."""
    found = [exchange for exchange in _all(run) if any(message.results for message in exchange.request.messages)]
    wrong = [complaint for exchange in found for complaint in _orphans(exchange)]
    return _found("each tool result answers a call before it", wrong, len(found), "no request holds a tool result")


@check("WIR-102", given=("asked",))
def calls_have_results(run: Run) -> Finding:
    """Look for tool calls that no later message of their request answers."""
    found = [exchange for exchange in _all(run) if any(message.calls for message in exchange.request.messages)]
    wrong = [complaint for exchange in found for complaint in _unanswered(exchange)]
    return _found("each tool call has a result after it", wrong, len(found), "no request holds a tool call")


@check("WIR-103", given=("asked",))
def broken_calls_are_not_echoed(run: Run) -> Finding:
    """Look at how a call with broken arguments is handed back."""
    pairs = [pair for agent in run.case.script for pair in _handed_back(run, agent)]
    wrong = [complaint for exchange, at, call, raw in pairs if (complaint := _misquoted(exchange, at, call, raw))]
    expected = "a call with broken arguments is handed back as an object, empty or with the broken text in it"
    return _found(expected, wrong, len({exchange.serial for exchange, *_ in pairs}), "no such call was handed back")


@check("WIR-104", given=("asked",))
def no_message_is_empty(run: Run) -> Finding:
    """Look for messages of the assistant without text, calls and thinking."""
    found = [exchange for exchange in _all(run) if any(one.role == "assistant" for one in exchange.request.messages)]
    wrong = [
        f"{named(exchange, at)} is empty"
        for exchange in found
        for at, message in enumerate(exchange.request.messages)
        if message.role == "assistant" and history.is_empty(exchange.request, at)
    ]
    return _found("no message of the assistant is empty", wrong, len(found), "no request holds such a message")


@check("WIR-105", given=("asked",))
def history_is_kept(run: Run) -> Finding:
    """Compare each request of an agent with its last one, and look for the answer to that."""
    told = [[(one, history.sides(one.request)) for one in asked(run, agent)] for agent in run.case.script]
    pairs = [pair for one in told for pair in pairwise(one)]
    wrong = [complaint for before, after in pairs for complaint in _rewritten(*before, *after)]
    return _found("each request holds what the last one held", wrong, len(pairs), "no agent asked twice")


@check("WIR-106", given=("asked",))
def thinking_keeps_its_signature(run: Run) -> Finding:
    """Look for thinking that is handed back without its own signature, or left out where it was asked for."""
    found = [exchange for exchange in _all(run) if any(message.thinking for message in exchange.request.messages)]
    signed = {
        exchange.answer.thinking: exchange.answer.signature
        for agent in run.case.script
        for exchange in run.answered(agent)
        if exchange.answer and exchange.answer.thinking
    }
    wrong = [complaint for exchange in found for complaint in _unsigned(exchange, signed)]
    wrong += [complaint for agent in run.case.script for complaint in _thoughtless(run, agent)]
    lacking = "no thinking was handed back, and no request asks for thinking"
    return _found("thinking is handed back with its signature", wrong, len(found), lacking)


@check("WIR-107", given=("asked",))
def calls_of_one_id_are_all_answered(run: Run) -> Finding:
    """Look for the marks and the results of calls that bear one id."""
    calls = [call for agent in run.case.script for call in delivered_calls(run, agent)]
    count = Counter((call.exchange.serial, call.call.id) for call in calls)
    twins = [call for call in calls if count[call.exchange.serial, call.call.id] > 1]
    expected = "calls of one id are each carried out and answered, or the run fails"
    if not twins:
        return unverified("no two calls of one id were delivered in one answer")
    if says_failed(run):
        return passed(expected, "the run failed")
    return _twins(run, twins, expected)


def _all(run: Run) -> list[Exchange]:
    return [exchange for agent in run.case.script for exchange in asked(run, agent)]


def _found(expected: str, wrong: Sequence[str], seen: int, lacking: str) -> Finding:
    if wrong:
        return failed(expected, f"{wrong[0]}{f', and {len(wrong) - 1} more' if wrong[1:] else ''}")
    return passed(expected, f"in {seen} requests") if seen else unverified(lacking)


def _orphans(exchange: Exchange) -> Iterator[str]:
    made: set[str] = set()
    for at, message in enumerate(exchange.request.messages):
        made.update(call.id for call in message.calls)
        for result in message.results:
            if result.call_id not in made:
                yield f"{named(exchange, at)} holds a result of {result.call_id!r}, which nothing before it calls for"


def _unanswered(exchange: Exchange) -> Iterator[str]:
    """Pair calls and results from the end: what is left over of the calls has no result."""
    results: Counter[str] = Counter()
    for at, message in reversed([*enumerate(exchange.request.messages)]):
        results.update(result.call_id for result in message.results)
        for call in message.calls:
            results[call.id] -= 1
            if results[call.id] < 0:
                yield f"{named(exchange, at)} calls {call.name!r} ({call.id}), and no result follows"


def _handed_back(run: Run, agent: str) -> Iterator[tuple[Exchange, int, Call, str]]:
    """Yield each broken call where a request hands it back: the request, the message, the call, and how it had come."""
    calls = (call for exchange in run.answered(agent) if exchange.answer for call in exchange.answer.calls)
    broken = {call.id: call.raw_arguments for call in calls if call.raw_arguments and _is_broken(call.raw_arguments)}
    for exchange in asked(run, agent):
        for at, message in enumerate(exchange.request.messages):
            yield from ((exchange, at, call, broken[call.id]) for call in message.calls if call.id in broken)


def _is_broken(text: str) -> bool:
    try:
        loads(text)
    except ValueError:
        return True
    return False


def _misquoted(exchange: Exchange, at: int, call: Call, raw: str) -> str:
    given = call.arguments
    if call.raw_arguments is not None or not isinstance(given, dict):
        return f"{named(exchange, at)} holds the broken arguments of {call.id} as they came"
    if not given or any(isinstance(value, str) and raw in value for value in given.values()):
        return ""
    return f"{named(exchange, at)} holds a call {call.id} of {shown(given)}, which the model never made"


def _rewritten(before: Exchange, old: Sequence[Side], after: Exchange, new: Sequence[Side]) -> Iterator[str]:
    """Yield where a request departs from the last one, and the answer to that one if it is gone."""
    change = history.change(old, new)
    if change is not None:
        yield f"{named(before, change.at)} {change.what} in request {after.serial}"
    answer = before.answer if before.delivered else None
    if answer and answer.text and answer.stop not in _CUT and not history.holds(new, answer.text):
        yield f"the answer to request {before.serial} is not in request {after.serial}: {shown(answer.text)}"


def _unsigned(exchange: Exchange, signed: dict[str, str]) -> Iterator[str]:
    for at, message in enumerate(exchange.request.messages):
        for thinking in message.thinking:
            wanted = signed.get(thinking.text, thinking.signature)
            if not thinking.signature or thinking.signature != wanted:
                how = "another signature than its own" if thinking.signature else "no signature"
                yield f"{named(exchange, at)} holds thinking with {how}"


def _thoughtless(run: Run, agent: str) -> Iterator[str]:
    """Yield requests that ask for thinking and answer calls, but leave out what was thought before those."""
    for exchange in run.answered(agent):
        answer, following = exchange.answer, run.following(exchange)
        if answer and answer.thinking and answer.calls and following and asks_for_thinking(following.request):
            at = _message_of(following.request, answer.calls[0])
            if at is not None and not following.request.messages[at].thinking:
                yield f"{named(following, at)} leaves out the thinking before its calls"


def _message_of(request: Request, call: Call) -> int | None:
    ids = [[made.id for made in message.calls] for message in request.messages]
    return next((at for at, made in enumerate(ids) if call.id in made), None)


def _twins(run: Run, twins: Sequence[Delivered], expected: str) -> Finding:
    lost = [call.scripted.mark for call in twins if call.scripted.tool == WORK and not call.scripted.broken]
    lost = [mark for mark in lost if mark not in run.observation.marks]
    if lost:
        return failed(expected, f"no mark of {', '.join(lost)}")
    following = run.following(twins[0].exchange)
    answer = twins[0].exchange.answer
    there = following is not None and not taken_back(following.request, twins[0])
    results = len(latest_results(following.request)) if following and there else 0
    if answer is None or following is None or not results:
        return unverified(f"{twins[0].exchange.agent or ROOT} handed no result of these calls back")
    told = f"request {following.serial} holds {results} results for {len(answer.calls)} calls"
    return failed(expected, told) if results < len(answer.calls) else passed(expected, told)
