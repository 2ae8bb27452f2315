"""Hand-off, what people and agents are told: notices, inert texts, the team section; and the route as a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from pytest_agentcontract.conformance.checks.along import EARNED, along, walk
from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.handoff_reading import mentions
from pytest_agentcontract.conformance.route import FIELDS, Seen, deviations, field, seen
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import JSON, as_object, as_text

_HEADING = "Your Team"
_RULES = {
    "delegation by call_agent": r"call_agent",
    "mentions being for humans only": r"(?i)mention.*human|human.*mention",
    "the answer's way back to the caller": r"(?i)callback|return",
    "a conversation turn, not fire-and-forget": r"(?i)conversation|fire.and.forget",
}


def _told_once(one: Seen, names: frozenset[str]) -> dict[str, str]:
    """Compare whether there is a notice of one mention, whoever it mentions."""
    stated, wrong = one.expected.fields, deviations(one, names - {"notice"})
    if "notice" not in stated:
        return wrong
    found = field(one, "notice")
    right = isinstance(found, str) if stated["notice"] is not None else found is None
    return wrong if right else wrong | {"notice": f"notice: it is {shown(found)}"}


ONE_NOTICE = along("HND-701", "notice", "agent", "posted", compare=_told_once)
WHO_IS_TOLD = along("HND-702", "notice")
NO_OTHER_NOTICE = along("HND-703", "notice", compare=_told_once)
AGENTS_ARE_NOT_CALLED_BY_MENTION = along("HND-705", "agent", "next", "config", "reason")
AWAITING_A_HUMAN = along("HND-706", "status")
CALLER_IS_NAMED = along("HND-803", "caller", "returns_to")


@check("HND-704", earned=EARNED)
def reports_notify_nobody(run: Run) -> Finding:
    """Look for live mentions in every posted report, and for what has to be readable still."""
    reports = [(one.number, mentions(report.body)) for one in seen(run) for report in one.reports]
    live = [f"invocation {number} notifies {', '.join(names)}" for number, names in reports if names]
    expected = "no live mention in a report"
    if live:
        return failed(expected, "; ".join(live))
    if not any("HND-704" in one.covers for one in run.expect.route):
        return passed(expected, f"none in {len(reports)}") if reports else unverified("no agent's report was posted")
    return walk(run, "HND-704", frozenset({"text"}), deviations)


@check("HND-801", earned=EARNED)
def prompts_hold_the_team(run: Run) -> Finding:
    """Look for the section in every system prompt: once, with each role word for word."""
    expected = "one section Your Team with every role of the workflow, in each system prompt"
    return _each_prompt(run, expected, _team_faults)


@check("HND-802", earned=EARNED)
def section_states_the_rules(run: Run) -> Finding:
    """Look for the words of the two rules in every section, and for the thread where the case asks for it."""
    expected = f"in each section: {', '.join(_RULES)}"
    found = _each_prompt(run, expected, _rule_faults)
    asked = any("HND-802" in one.covers for one in run.expect.route)
    return walk(run, "HND-802", frozenset({"shown"}), deviations) if asked and found.status == "pass" else found


@check("HND-904", earned=EARNED)
def route_replays_from_the_comments(run: Run) -> Finding:
    """Follow the posted comments alone: each names who ran, as the one before announced, and the whole is the route."""
    if (kept := earlier_comments_stay(run)).status == "fail":
        return kept
    expected = "each report comes of the agent that the state before it names"
    states = [one.last for one in seen(run) if one.reports and one.last]
    broken = [
        f"{shown(after.of_state('agent'))} ran after a state that names {shown(named)}"
        for before, after in pairwise(states)
        if (named := as_text(before.of_state("next"))) != as_text(after.of_state("agent"))
    ]
    if broken:
        return failed(expected, "; ".join(broken))
    return walk(run, "HND-904", frozenset(FIELDS), deviations)


def earlier_comments_stay(run: Run) -> Finding:
    """Compare every comment that was there before an invocation with what it is after it: the record is durable."""
    expected = "each comment that was there before an invocation is the same after it"
    wrong = [
        f"invocation {at}: {words}" for at, one in enumerate(run.observation.invocations, 1) for words in one.altered
    ]
    return failed(expected, "; ".join(wrong)) if wrong else passed(expected, "so it is")


def _each_prompt(run: Run, expected: str, look: Callable[[Run, str], Iterator[str]]) -> Finding:
    """Look at the system prompt of every request of an agent; it takes one to pass."""
    asked = [exchange for one in seen(run) for exchange in one.exchanges if exchange.agent]
    wrong = [
        f"request {exchange.serial}: {fault}" for exchange in asked for fault in look(run, exchange.request.system)
    ]
    if wrong:
        return failed(expected, "; ".join(wrong[:3]))
    return passed(expected, f"so it is, in {len(asked)}") if asked else unverified("no agent asked the model")


def _team_faults(run: Run, prompt: str) -> Iterator[str]:
    if prompt.count(_HEADING) != 1:
        yield f"{_HEADING!r} stands there {prompt.count(_HEADING)} times"
    section = prompt[prompt.find(_HEADING) :]
    for name, agent in _agents(run).items():
        if name not in section or as_text(as_object(agent).get("role")) not in section:
            yield f"the role of {name} is not there"


def _rule_faults(_run: Run, prompt: str) -> Iterator[str]:
    section = prompt[prompt.find(_HEADING) :] if _HEADING in prompt else ""
    yield from (f"nothing of {rule}" for rule, words in _RULES.items() if not re.search(words, section, re.DOTALL))


def _agents(run: Run) -> dict[str, JSON]:
    given = run.case.given.handoff
    return as_object(given.workflow.get("agents")) if given else {}
