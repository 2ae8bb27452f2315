"""Who returns: the tool gate, the nudge gate and the allow-check, which one fact must decide."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import FALSY
from pytest_agentcontract.conformance.evidence import ROOT, Run, news, serials, status_words
from pytest_agentcontract.conformance.replies import FATES, Delivered, Fate, fate, return_calls, valid_reply
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified
from pytest_agentcontract.scenario.observation import Exchange


@check("RET-101", given=("headless", "asked"))
def root_is_offered_the_return_tool(run: Run) -> Finding:
    """Look for the return tool in every request of a headless root."""
    return _offered(run, (ROOT,))


@check("RET-102", given=("child-asked",))
def children_are_offered_the_return_tool(run: Run) -> Finding:
    """Look for the return tool in every request of every sub-agent."""
    return _offered(run, run.children)


@check("RET-103", given=("conversing", "asked"))
def conversing_root_is_offered_none(run: Run) -> Finding:
    """Look for a request of a conversing root that offers the return tool."""
    offering = [exchange for exchange in run.own(ROOT) if run.return_tool in exchange.request.tool_names]
    expected = f"no request of the root offers {run.return_tool!r}"
    if offering:
        return failed(expected, f"request {serials(offering)} of the root offers it")
    return passed(expected, f"none of {len(run.own(ROOT))} requests offers it")


@check("RET-104", given=("conversing", "worked"), earned=("consumed",))
def unoffered_call_gets_a_tool_error(run: Run) -> Finding:
    """Look for the tool error after a return call that was never offered, and for the session's going on."""
    calls = [call for call in return_calls(run, ROOT) if call.scripted.unadvertised]
    if not calls:
        return unverified("the root was never delivered a return call that was not offered")
    fates = [fate(run, call) for call in calls]
    expected = "a tool error for each such call, and the session goes on"
    wrong = next((what for what in fates if what not in ("error", "unclear")), None)
    if wrong is not None:
        return failed(expected, f"{FATES[wrong]}; the session: {status_words(run.delivery)}")
    if "unclear" in fates:
        return unverified(FATES["unclear"])
    if not run.delivery.exit_ok and run.following(calls[-1].exchange) == run.own(ROOT)[-1]:
        return failed(expected, f"a tool error, and with it the end: {status_words(run.delivery)}")
    return passed(expected, "a tool error, and the conversation went on to its end")


@check("RET-105", given=("conversing", "worked"), earned=("consumed",))
def conversing_root_is_not_nudged(run: Run) -> Finding:
    """Look at what follows a conversing root's prose: nothing, or its user's next line."""
    finishes = run.finishes(ROOT)
    expected = "after prose the root asks again only with its user's next line"
    urged = [finish for finish in finishes if not _parked(run, finish)]
    if urged:
        return failed(expected, f"after request {serials(urged)} the root asked again without a line of its user's")
    if not finishes:
        return unverified("the root never ended its turn in prose")
    return passed(expected, f"{len(finishes)} turns ended in prose, none was urged on")


@check("RET-106", given=("asked",))
def gates_move_together(run: Run) -> Finding:
    """Compare, agent by agent, whether the tool is offered, a reply accepted and a finish in prose nudged."""
    known = {agent: _gates(run, agent) for agent in run.case.script if run.own(agent)}
    expected = "offered, accepted and nudged: all of them or none, for each agent"
    split = {agent: found for agent, found in known.items() if len(set(found.values())) > 1}
    if split:
        return failed(expected, "; ".join(_gate_words(agent, found) for agent, found in split.items()))
    if not any(len(found) > 1 for found in known.values()):
        return unverified("no agent showed more than one of its gates")
    return passed(expected, "; ".join(_gate_words(agent, found) for agent, found in known.items()))


@check("RET-107", given=("headless", "worked"))
def prose_is_nudged_at_once(run: Run) -> Finding:
    """Look for the request after a headless root's prose, made while all else still waits."""
    finishes = run.plain_finishes(ROOT)
    if not finishes:
        return unverified("the root never finished in prose")
    expected = "the next request follows at once: no input and no child is waited for"
    if run.following(finishes[0]) is None:
        if run.delivery.ended != "time-limit":
            return unverified("nudged: no nudge came")
        silent = ", in which standard input was open and silent" if run.case.given.open_stdin else ""
        return failed(expected, f"none followed within the time limit{silent}")
    held = [exchange for exchange in run.observation.exchanges if not exchange.released]
    if held:
        return failed(expected, f"it came only after request {serials(held)} was let go")
    return passed(expected, f"request {serials(finishes[:1])} was prose, and the next one followed")


def _offered(run: Run, agents: tuple[str, ...]) -> Finding:
    asked = [exchange for agent in agents for exchange in run.own(agent)]
    lacking = [exchange for exchange in asked if run.return_tool not in exchange.request.tool_names]
    expected = f"every request of {', '.join(agents)} offers {run.return_tool!r}"
    if lacking:
        return failed(expected, f"request {serials(lacking)} does not, {len(lacking)} of {len(asked)}")
    return passed(expected, f"all {len(asked)} do")


def _parked(run: Run, finish: Exchange) -> bool:
    following = run.following(finish)
    if following is None:
        return True
    told = news(finish.request, following.request)
    return any(say.line in text for say in run.case.given.conversation for text in told)


def _gates(run: Run, agent: str) -> dict[str, bool]:
    """Return the gates of an agent of which the run shows whether they are open."""
    gates = {"offered": _offers(run, agent), "accepted": _accepts(run, agent), "nudged": _nudges(run, agent)}
    return {name: fact for name, fact in gates.items() if fact is not None}


def _offers(run: Run, agent: str) -> bool | None:
    facts = {run.return_tool in exchange.request.tool_names for exchange in run.own(agent)}
    return facts.pop() if len(facts) == 1 else None


def _accepts(run: Run, agent: str) -> bool | None:
    """Tell what became of a reply that the gate decides on: a valid one, or any that a conversing root makes."""
    conversing = agent == ROOT and not run.headless
    calls = return_calls(run, agent) if conversing else _decided(run, valid_reply(run, agent))
    facts = [_ACCEPTED.get(fate(run, call)) for call in calls]
    if facts == [None] and not conversing and run.status == "success":
        return True
    return facts[0] if facts else None


def _decided(run: Run, reply: Delivered | None) -> tuple[Delivered, ...]:
    """Leave out an empty payload that was refused: that it counts is a reading of ours, and its refusal no gate."""
    if reply is None or (reply.scripted.value in FALSY and fate(run, reply) == "error"):
        return ()
    return (reply,)


def _nudges(run: Run, agent: str) -> bool | None:
    finishes = run.plain_finishes(agent)
    capped = run.cap(agent) is not None and run.steps(agent) >= (run.cap(agent) or 0)
    if not finishes or capped:
        return None
    if agent == ROOT and not run.headless:
        return not all(_parked(run, finish) for finish in finishes)
    if run.following(finishes[0]) is not None:
        return True
    # A run that was stopped may have been about to nudge; a child may have been cancelled, unless its end is stated.
    silence_speaks = run.delivery.ended != "time-limit" and (agent == ROOT or run.expected(agent).status is not None)
    return False if silence_speaks else None


def _gate_words(agent: str, gates: Mapping[str, bool]) -> str:
    return f"{agent}: {', '.join(name if fact else f'not {name}' for name, fact in gates.items())}"


_ACCEPTED: Mapping[Fate, bool] = {"error": False, "fine": True}
