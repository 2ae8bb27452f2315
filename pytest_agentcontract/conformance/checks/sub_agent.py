"""Sub-agents: what a parent reads of a child's reply, and what of a child that never gives one."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import says_failed, succeeded
from pytest_agentcontract.conformance.checks.rounds import LEAST_BUDGET, continued, cut_short, rounds
from pytest_agentcontract.conformance.evidence import ROOT, Run, serials
from pytest_agentcontract.conformance.replies import nudged, valid_reply
from pytest_agentcontract.conformance.told import (
    Block,
    blocks,
    holds_escaped,
    holds_raw,
    last_of,
    later,
    marks_of,
    news_of,
    owner,
    prose_told,
    spans,
    spawn,
    told_of_error,
)
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified, worst
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.scenario.observation import Exchange

Look = Callable[[tuple[Exchange, ...], JSON, str], Finding]


@check("RET-601", given=("worked", "child-replied"))
def string_stands_raw(run: Run) -> Finding:
    """Look for a child's string, in one piece, in what its parent was told."""
    return _all_told(run, str, "in one piece, as written", _raw)


@check("RET-602", given=("worked", "child-replied"))
def structure_stands_as_indented_json(run: Run) -> Finding:
    """Look for a child's object or array, as JSON text of several lines, in what its parent was told."""
    return _all_told(run, (dict, list), "as JSON text of several lines", _indented)


@check("RET-603", given=("worked", "child-failing"))
def silent_child_reaches_its_parent_as_failed(run: Run) -> Finding:
    """Look for the nudges of a child that never replies, for the failure its parent is told, and for stray prose."""
    findings = [_failure_of(run, child) for child in _failing(run)]
    return worst(findings)


@check("RET-604", given=("worked", "finished", "clean", "child-failing"))
def parent_outlives_its_child(run: Run) -> Finding:
    """Look for the parent's own reply after the failure of its child."""
    last = run.own(ROOT)[-1]
    if valid_reply(run, ROOT) is None and says_failed(run) and not cut_short(run, last):
        return failed(
            "the parent goes on, and its own reply counts", f"it failed after request {last.serial}, unreplied"
        )
    untold = [child for child in _failing(run) if not later(run, run.parent(child), last_of(run, child))]
    if untold:
        return unverified(f"the parent asked nothing after {', '.join(untold)} had ended")
    return succeeded(run)


@check("RET-605", given=("worked", "child-replied"), earned=("consumed",))
def each_payload_is_tied_to_its_child(run: Run) -> Finding:
    """Look, for each of several children, at which call or name its payload is told under."""
    children = _returning(run)
    if not children[1:]:
        return unverified("fewer than two children replied")
    late = [exchange for exchange in run.observation.exchanges if not exchange.released]
    if late:
        return unverified(f"overlapped: the children did not run at once (request {serials(late)} waited in vain)")
    return worst([_tied(run, child, marks_of(run, _siblings(run, child))) for child in children])


@check("RET-606", given=("worked", "child-replied"), earned=("replied", "consumed"))
def child_has_its_own_budget(run: Run) -> Finding:
    """Look for the parent's nudges after its children have used up some of theirs."""
    used = sum(continued(run, child) for child in run.children)
    finishes = [exchange for exchange in rounds(run, ROOT)[:LEAST_BUDGET] if not cut_short(run, exchange)]
    if not used or not finishes:
        return unverified("not both the root and a child finished without a reply")
    expected = f"the root is nudged {len(finishes)} times, whatever its children used"
    missing = [finish for finish in finishes if run.following(finish) is None]
    if missing:
        return failed(expected, f"no request followed {serials(missing)}; its children had used {used} nudges")
    return passed(expected, f"it was; its children had used {used} nudges")


def _returning(run: Run) -> tuple[str, ...]:
    return tuple(child for child in run.children if run.expected(child).status == "success")


def _siblings(run: Run, child: str) -> tuple[str, ...]:
    """Return a child and those beside it: what names it must tell it from these alone."""
    return tuple(other for other in run.children if run.parent(other) == run.parent(child))


def _failing(run: Run) -> tuple[str, ...]:
    return tuple(child for child in run.children if run.expected(child).status == "failed")


def _all_told(run: Run, kinds: type | tuple[type, ...], form: str, look: Look) -> Finding:
    children = [child for child in _returning(run) if isinstance(_value(run, child), kinds)]
    if not children:
        return unverified("no child returned a payload of that kind")
    return worst([_told(run, child, form, look) for child in children])


def _told(run: Run, child: str, form: str, look: Look) -> Finding:
    reply, value = valid_reply(run, child), _value(run, child)
    expected = f"{run.parent(child)} reads {shown(value)} of {child}, {form}"
    after = later(run, run.parent(child), reply.exchange.serial if reply else 0)
    if not after:
        return unverified(f"{run.parent(child)} asked nothing after {child} had replied")
    return look(after, value, expected)


def _raw(after: tuple[Exchange, ...], value: JSON, expected: str) -> Finding:
    text = value if isinstance(value, str) else ""
    found = [exchange for exchange in after if holds_raw(exchange, text)]
    if found:
        return passed(expected, f"it stands so in request {found[0].serial}")
    double = any(holds_escaped(exchange, text) for exchange in after)
    return failed(expected, "it stands there escaped, as JSON inside text" if double else _nowhere(after))


def _indented(after: tuple[Exchange, ...], value: JSON, expected: str) -> Finding:
    pieces = [piece for exchange in after for piece in spans(exchange, value)]
    if any("\n" in piece for piece in pieces) or (pieces and not value):
        return passed(expected, "it parses equal, and spans several lines" if value else "it stands there, empty")
    return failed(expected, "it stands there in one line" if pieces else _nowhere(after))


def _nowhere(after: tuple[Exchange, ...]) -> str:
    return f"none of the {len(after)} later requests holds it"


def _failure_of(run: Run, child: str) -> Finding:
    parent = run.parent(child)
    expected = f"{child} is nudged and fails; {parent} is told so, and gets none of its prose"
    unnudged = [finish for finish in run.plain_finishes(child)[:LEAST_BUDGET] if not _was_nudged(run, finish)]
    if unnudged:
        return failed(expected, f"{child} was not nudged after request {serials(unnudged)}")
    if stray := prose_told(run, child):
        return failed(expected, f"{parent} was told {shown(stray)}")
    if not later(run, parent, last_of(run, child)):
        return unverified(f"{parent} asked nothing after {child} had ended")
    told = news_of(run, child)
    if _says_failed(run, child, told):
        return passed(expected, f"{parent} was told {shown(told[0]) if told else 'by a tool error'}")
    if not told and says_failed(run):
        return unverified(f"told: the run had failed before {parent} was told anything of {child}")
    return failed(expected, f"{parent} was told {shown(told[0])}" if told else f"{parent} was told nothing")


def _says_failed(run: Run, child: str, told: tuple[str, ...]) -> bool:
    """Tell whether a parent was told of a failure: by the profile's pattern, else by an error flag or any news."""
    if told_of_error(run, child):
        return True
    pattern = run.profile.failure
    return any(re.search(pattern, text) for text in told) if pattern else bool(told)


def _was_nudged(run: Run, finish: Exchange) -> bool:
    return nudged(run, finish) or cut_short(run, finish)


def _tied(run: Run, child: str, marks: dict[str, frozenset[str]]) -> Finding:
    value = _value(run, child)
    text = value if isinstance(value, str) else ""
    reply, own = valid_reply(run, child), spawn(run, child)
    after = later(run, run.parent(child), reply.exchange.serial if reply else 0)
    told = [block for exchange in after[-1:] for block in blocks(exchange) if text and text in block.text]
    expected = f"{shown(value)} is told as {child}'s"
    if not told:
        return failed(expected, _nowhere(after))
    owners = {_owner(run, block, text, marks) for block in told}
    if own and owners == {child}:
        return passed(expected, "it stands under that child's own call or name")
    other = next((name for name in owners if name not in (child, "")), "")
    return (
        failed(expected, f"it is told as {other}'s")
        if other
        else unverified(f"nothing ties {shown(value)} to a call or name")
    )


def _owner(run: Run, block: Block, text: str, marks: dict[str, frozenset[str]]) -> str:
    """Tell whose a told payload is: the child's whose call it answers, else the one named nearest before it."""
    calls = {own.call.id: child for child in marks if (own := spawn(run, child))}
    return calls.get(block.call_id, "") or owner(block.text, block.text.index(text), marks)


def _value(run: Run, child: str) -> JSON:
    reply = valid_reply(run, child)
    value = reply.scripted.value if reply else None
    return value if isinstance(value, str | dict | list) else None
