"""What must have happened before a check may speak: named functions in one table.

Each returns an empty text where it happened, else the sentence that a not-verified verdict carries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pytest_agentcontract.conformance import passing, route
from pytest_agentcontract.conformance.evidence import ROOT, Run, first_work, once, serials, status_words
from pytest_agentcontract.conformance.replies import accepted, nudged, payload, valid_reply
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.observation import REFUSALS, Ended

Prerequisite = Callable[[Run], str]

_LONGEST = 200
_ENDINGS: Mapping[Ended, str] = {
    "exited": "exited",
    "time-limit": "was ended at its time limit",
    "output-limit": "was ended for its endless output",
    "crashed": "crashed",
}


def first_unmet(run: Run, names: Iterable[str]) -> str:
    """Return the sentence of the first prerequisite that did not happen, with its name; else an empty text.

    Where one is unmet because nothing was asked or a turn was withheld, that is said: the rest follows from it.
    """
    unmet = _first(run, names)
    return unmet and (cause(run) or unmet)


def cause(run: Run) -> str:
    """Return the sentence of what kept everything else from happening; an empty text where nothing did."""
    return _first(run, _causes(run))


def _first(run: Run, names: Iterable[str]) -> str:
    return next((f"{name}: {reason}" for name in names if (reason := _unmet(run, name))), "")


@once
def _unmet(run: Run, name: str) -> str:
    return PREREQUISITES[name](run)


def _causes(run: Run) -> tuple[str, ...]:
    """Name the prerequisites without which nothing else can have happened, as far as this run lacks one."""
    kinds = {exchange.kind for exchange in run.observation.exchanges} - {"side"}
    if not kinds:
        return ("asked",)
    return ("clean",) if "withheld" in kinds or kinds <= REFUSALS else ()


def _asked(run: Run) -> str:
    if run.own(ROOT):
        return ""
    if any(exchange.kind != "side" for exchange in run.observation.exchanges):
        return "the root never asked the model"
    if missed := [asked for asked in run.observation.missed if asked.startswith("POST ")]:
        return f"it asked {missed[0]}, where nothing is served: look at the wire's suffix in the profile"
    return f"the runtime {_left(run)} before it asked the model{_last_words(run)}"


def _left(run: Run) -> str:
    code, how = run.delivery.exit_code, _ENDINGS[run.delivery.ended]
    return f"{how} with {code}" if run.delivery.ended == "exited" and code is not None else how


def _last_words(run: Run) -> str:
    """Return the last line of standard error, harmless to print."""
    lines = run.delivery.stderr.strip().splitlines()
    line = "".join(letter if letter.isprintable() else " " for letter in lines[-1]) if lines else ""
    return f": {line[:_LONGEST]}" if line else ""


def _worked(run: Run) -> str:
    mark = first_work(run.case)
    if not mark:
        return "the case scripts no $work for the agent that begins"
    return "" if mark in run.observation.marks else f"the first $work left no mark ({mark})"


def _finished(run: Run) -> str:
    return "" if run.delivery.ended == "exited" else f"the run did not end by itself: {status_words(run.delivery)}"


def _clean(run: Run) -> str:
    refused = [exchange for exchange in run.observation.exchanges if exchange.kind in REFUSALS]
    if not refused:
        return ""
    first = next((exchange for exchange in refused if exchange.kind == "withheld"), refused[0])
    if first.kind == "withheld" and first.note:
        return first.note
    return f"request {serials(refused)} was refused ({first.kind}: {first.note})"


def _consumed(run: Run) -> str:
    left = {agent: count for agent in run.case.script if (count := _unasked(run, agent))}
    return ", ".join(f"{count} turns of {agent} were never asked for" for agent, count in left.items())


def _unasked(run: Run, agent: str) -> int:
    """Count script entries without a request; those of an agent that may stop early, and an optional tail, are none."""
    if not _must_come_to_its_end(run, agent):
        return 0
    asked = {exchange.turn for exchange in run.own(agent) if exchange.kind in ("turn", "fault")}
    turns = enumerate(run.case.script[agent], 1)
    return sum(number not in asked and not turn.repeat for number, turn in turns)


def _must_come_to_its_end(run: Run, agent: str) -> bool:
    status = run.expected(agent).status
    return status == "success" if agent != ROOT else status != "failed"


def _documented(run: Run) -> str:
    return "" if run.delivery.document is not MISSING else f"there is no result document: {run.delivery.problem}"


def _headless(run: Run) -> str:
    return "" if run.headless else "the root converses with a user"


def _conversing(run: Run) -> str:
    return "the root has no user to converse with" if run.headless else ""


def _spoke(run: Run) -> str:
    return "" if run.spoken(ROOT) else "no text of the root's was delivered"


def _replied(run: Run) -> str:
    if payload(run, ROOT) is MISSING:
        return "the case lets the root make no valid reply"
    return "" if valid_reply(run, ROOT) else "the root's reply was never delivered"


def _accepted(run: Run) -> str:
    missing = _replied(run)
    reply = valid_reply(run, ROOT)
    if missing or reply is None:
        return missing
    if run.status != "success" or accepted(run, reply) is False:
        return f"the root's reply was not accepted: the run ended as {status_words(run.delivery)}"
    return ""


def _unreplied(run: Run) -> str:
    return "the case lets the root make a valid reply" if payload(run, ROOT) is not MISSING else ""


def _nudged(run: Run) -> str:
    finishes = run.finishes(ROOT)
    if not finishes:
        return "the root never finished without a reply"
    return "" if any(nudged(run, finish) for finish in finishes) else "the root was never nudged"


def _answered(run: Run) -> str:
    """Tell whether a root without a return tool was delivered the last text of its script."""
    turns = run.case.script.get(ROOT, ())
    wanted = turns[-1].text if turns else None
    said = [finish.answer.text for finish in run.finishes(ROOT) if finish.answer]
    return "" if wanted is not None and wanted in said else "the root's answer was never delivered"


def _schema(run: Run) -> str:
    return "" if run.case.given.schema is not None else "the run asked for no schema"


def _faulted(run: Run) -> str:
    return "" if any(exchange.kind == "fault" for exchange in run.observation.exchanges) else "no fault was met"


def _child_asked(run: Run) -> str:
    silent = [child for child in run.children if not run.own(child)]
    return "" if run.children and not silent else f"no request of {', '.join(silent) or 'any child'} was seen"


def _child_replied(run: Run) -> str:
    returning = [child for child in run.children if run.expected(child).status == "success"]
    silent = [child for child in returning if valid_reply(run, child) is None]
    return "" if returning and not silent else f"no reply of {', '.join(silent) or 'any child'} was delivered"


def _child_failing(run: Run) -> str:
    failing = [child for child in run.children if run.expected(child).status == "failed"]
    silent = [child for child in failing if not run.own(child)]
    return "" if failing and not silent else f"no request of {', '.join(silent) or 'a child that fails'} was seen"


def _reported(run: Run) -> str:
    """Tell whether each report of an agent stands in the comment of its invocation, by a line that needs no change.

    Without a workflow nothing is posted: then the work must be done, and the result be handed over.
    """
    if run.case.given.handoff is None:
        return passing.lost(run)
    lost = [seen for seen in route.seen(run) if not route.reported(run, seen)]
    return f"the comment of invocation {lost[0].number} does not hold what its agent returned" if lost else ""


PREREQUISITES: Mapping[str, Prerequisite] = {
    "asked": _asked,
    "worked": _worked,
    "finished": _finished,
    "clean": _clean,
    "consumed": _consumed,
    "documented": _documented,
    "headless": _headless,
    "conversing": _conversing,
    "spoke": _spoke,
    "replied": _replied,
    "accepted": _accepted,
    "unreplied": _unreplied,
    "nudged": _nudged,
    "answered": _answered,
    "schema": _schema,
    "faulted": _faulted,
    "child-asked": _child_asked,
    "child-replied": _child_replied,
    "child-failing": _child_failing,
    "reported": _reported,
    "let-go": passing.stranded,
}
"""Name -> function; a check names what it needs."""
