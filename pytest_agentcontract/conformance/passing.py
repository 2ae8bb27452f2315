"""Control on its way from agent to agent where no engine posts anything: as it is seen from the model's seat."""

from __future__ import annotations

from itertools import groupby, pairwise

from pytest_agentcontract.conformance.evidence import ANSWERS, Run
from pytest_agentcontract.jsonvalue import equal
from pytest_agentcontract.scenario.observation import Exchange


def order(run: Run) -> tuple[str, ...]:
    """Return the agents in the order in which they asked the model; who asks again at once counts once."""
    return tuple(agent for agent, _ in groupby(exchange.agent for exchange in _asked(run)))


def unfinished(run: Run) -> tuple[str, ...]:
    """Return the agents after whom somebody else was asked, although their last answer held nothing but work."""
    left = (before for before, after in pairwise(_asked(run)) if before.agent != after.agent)
    return tuple(sorted({exchange.agent for exchange in left if not _leaves(run, exchange)}))


def stranded(run: Run) -> str:
    """Say that the run broke off in the midst of an agent's work: where control would have gone can't be told."""
    asked = _asked(run)
    if not asked:
        return "no agent asked the model"
    return "" if _leaves(run, asked[-1]) else f"{asked[-1].agent} was still at work when the run ended"


def lost(run: Run) -> str:
    """Say what of the expected work and of the expected result has not arrived; empty where it all has."""
    missing = sorted(set(run.expect.work) - run.observation.marks)
    if missing:
        return f"no mark was left by $work {', '.join(missing)}"
    wanted = run.expect.result
    arrived = wanted is None or (run.status == wanted.status and equal(wanted.value, run.delivery.value))
    return "" if arrived else "the result is not the answer of the agent that had the last word"


def _asked(run: Run) -> tuple[Exchange, ...]:
    return tuple(one for one in run.observation.exchanges if one.agent and one.kind in (*ANSWERS, "fault"))


def _leaves(run: Run, exchange: Exchange) -> bool:
    """Tell whether an agent was told something after which control may leave it: an answer, or a call of another kind.

    An answer that was never delivered tells nothing.
    """
    work = run.profile.tools.get("work")
    calls = exchange.answer.calls if exchange.answer else ()
    at_work = bool(calls) and all(work is not None and call.name == work.name for call in calls)
    return exchange.delivered and not at_work
