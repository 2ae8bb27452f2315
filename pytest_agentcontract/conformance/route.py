"""A hand-off run as the judge reads it: what each invocation was asked for, who ran, and what was posted of it.

A run without a workflow is read as one invocation that posts nothing: the order of its agents is what it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pytest_agentcontract.conformance import handoff_reading as reading
from pytest_agentcontract.conformance import passing
from pytest_agentcontract.conformance.demands import in_words, unmet
from pytest_agentcontract.conformance.evidence import ANSWERS, Run, once
from pytest_agentcontract.conformance.handoff_reading import Posted
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, as_text
from pytest_agentcontract.scenario.case import RETURN, ExpectedInvocation
from pytest_agentcontract.scenario.observation import Exchange

_CALLED = re.compile(r"You were called by (?P<caller>\S+?)(?: — your result returns to (?P<back>\S+?))?\.?(?=\s|\Z)")
_PLAIN = re.compile(r"[\w .,()-]{8,}")


@dataclass(frozen=True, slots=True)
class Seen:
    """One invocation, counted from 1. `last` is the newest comment of the thread that holds a state.

    `order` and `unfinished` are read of a run without a workflow alone.
    """

    number: int
    expected: ExpectedInvocation
    exchanges: tuple[Exchange, ...]
    posted: tuple[Posted, ...]
    last: Posted | None
    order: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents whose requests the model answered, in order."""
        return tuple(
            dict.fromkeys(one.agent for one in self.exchanges if one.agent and one.kind in (*ANSWERS, "fault"))
        )

    @property
    def reports(self) -> tuple[Posted, ...]:
        """The posted comments of agents."""
        return tuple(comment for comment in self.posted if comment.agent)

    @property
    def notices(self) -> tuple[Posted, ...]:
        """The posted comments of the engine's own."""
        return tuple(comment for comment in self.posted if comment.notice)


@once
def seen(run: Run) -> tuple[Seen, ...]:
    """Return every invocation that happened, beside what is expected of it."""
    return tuple(_walked(run))


def field(one: Seen, name: str) -> JSON | Missing:
    """Return a field of an invocation, MISSING where nothing of it was posted."""
    return FIELDS[name](one)


def deviations(one: Seen, names: frozenset[str] | None = None) -> dict[str, str]:
    """Say, field by field, what is not as expected; of all fields where no names are given."""
    stated = one.expected.fields
    wrong = {name: unmet(stated[name], field(one, name)) for name in stated if names is None or name in names}
    return {name: f"{name}: {words}" for name, words in wrong.items() if words}


def expectation(one: Seen, names: frozenset[str]) -> str:
    """Say what is expected of some fields of an invocation."""
    stated = one.expected.fields
    return ", ".join(f"{name} {in_words(stated[name])}" for name in stated if name in names)


def reported(run: Run, one: Seen) -> bool:
    """Tell whether what an agent returned stands in its comment: by each line that a reader has no reason to change."""
    calls = (call for exchange in one.exchanges if exchange.delivered for call in run.scripted(exchange).calls)
    values = [call.value for call in calls if call.tool == RETURN and isinstance(call.value, str)]
    lines = [line for line in as_text(values[-1] if values else "").splitlines() if _PLAIN.fullmatch(line)]
    text = one.reports[-1].text if one.reports else ""
    return all(line in text for line in lines)


def _walked(run: Run) -> Iterator[Seen]:
    given = run.case.given.handoff
    if given is None:
        order, unfinished = passing.order(run), passing.unfinished(run)
        yield from (Seen(1, one, run.observation.exchanges, (), None, order, unfinished) for one in run.expect.route)
        return
    last = _with_state([reading.read(comment) for comment in given.thread])
    pairs = zip(run.observation.invocations, run.expect.route, strict=False)
    for number, (invocation, expected) in enumerate(pairs, 1):
        asked = frozenset(invocation.serials)
        exchanges = tuple(one for one in run.observation.exchanges if one.serial in asked)
        posted = tuple(map(reading.read, invocation.posted))
        last = _with_state(posted) or last
        yield Seen(number, expected, exchanges, posted, last)


def _with_state(comments: tuple[Posted, ...] | list[Posted]) -> Posted | None:
    return next((one for one in reversed(comments) if not isinstance(one.state, Missing)), None)


# -- the fields -------------------------------------------------------------------------------------------------------


def _agent(one: Seen) -> JSON:
    names: list[JSON] = [*one.agents]
    return names if len(names) > 1 else next(iter(names), None)


def _posted(one: Seen) -> JSON:
    return len(one.posted)


def _next(one: Seen) -> JSON | Missing:
    """Who runs at once; a state that is not running names who runs after a human."""
    running = _state("status")(one) == "running"
    return _state("next")(one) if running or one.last is None else None


def _state(*keys: str) -> Callable[[Seen], JSON | Missing]:
    return lambda one: one.last.of_state(*keys) if one.last else MISSING


def _reason(one: Seen) -> JSON | Missing:
    found = _state("dispatch", "reason")(one)
    return None if isinstance(found, Missing) and one.last else found


def _notice(one: Seen) -> JSON:
    """Whom the one notice mentions; where that is not one person by one notice, everybody by each."""
    names = [[*reading.mentions(notice.text)] for notice in one.notices]
    if not names:
        return None
    return names[0][0] if len(names) == 1 and len(names[0]) == 1 else [[*found] for found in names]


def _config(one: Seen) -> JSON | Missing:
    return one.reports[-1].config if one.reports else MISSING


def _text(one: Seen) -> JSON | Missing:
    return reading.visible(one.reports[-1].text) if one.reports else MISSING


def _told(part: str) -> Callable[[Seen], JSON | Missing]:
    """Read what the system prompts say of the caller: the same in each request, else each of it."""

    def look(one: Seen) -> JSON | Missing:
        prompts = [exchange.request.system for exchange in one.exchanges if exchange.agent]
        said: list[JSON] = [found[part] if (found := _CALLED.search(prompt)) else None for prompt in prompts]
        if not said:
            return MISSING
        return said[0] if all(words == said[0] for words in said) else said

    return look


def _shown(one: Seen) -> JSON | Missing:
    """Read everything that an agent's first request carries, whoever is said to have said it."""
    first = next((exchange.request for exchange in one.exchanges if exchange.agent), None)
    if first is None:
        return MISSING
    said = (text for message in first.messages for text in (*message.texts, *(one.text for one in message.results)))
    return "\n".join((first.system, *said))


FIELDS: Mapping[str, Callable[[Seen], JSON | Missing]] = {
    "agent": _agent,
    "posted": _posted,
    "next": _next,
    "status": _state("status"),
    "step": _state("step"),
    "dispatch": _state("dispatch", "status"),
    "origin": _state("dispatch", "origin"),
    "reason": _reason,
    "callback": _state("CONFIG_CALLBACK"),
    "called_by": _state("called_by"),
    "notice": _notice,
    "config": _config,
    "text": _text,
    "caller": _told("caller"),
    "returns_to": _told("back"),
    "shown": _shown,
    "order": lambda one: [*one.order],
    "unfinished": lambda one: [*one.unfinished],
}
"""Name -> how it is read: the words of `expect.route`."""
