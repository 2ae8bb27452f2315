"""The hand-off parts of a case file: workflow, thread and events, and what must come of each invocation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, as_list, as_object, as_text
from pytest_agentcontract.scenario.case import ExpectedInvocation, Handoff

OF_ONE_RUN = frozenset({"order", "unfinished"})
"""What is expected of a run without a workflow, in place of what an engine posts."""

_NO_FIELDS = frozenset({"should", "covers"})
_LISTED = "`order` and `unfinished`"


def handoff(data: JSONObject) -> Handoff:
    """Read what a hand-off is given."""
    thread = (_comment(number, as_object(comment)) for number, comment in enumerate(as_list(data["thread"])))
    events = (_event(as_object(event)) if event else None for event in as_list(data["events"]))
    return Handoff(as_object(data["workflow"]), tuple(thread), tuple(events))


def _comment(number: int, data: JSONObject) -> JSONObject:
    """Complete a comment: one that names an agent is the engine's, and each is a minute younger than the last."""
    by_engine = "agent" in data
    return {
        "id": data["id"],
        "author": {"name": data.get("author", "engine"), "kind": "engine" if by_engine else "human"},
        "agent": data.get("agent"),
        "body": long_text(data["body"]) or "",
        "created": data.get("created", f"2026-01-01T00:{number:02}:00Z"),
    }


def _event(data: JSONObject) -> JSONObject:
    return {"action": "created", **data}


def invocation(data: JSONObject) -> ExpectedInvocation:
    """Read what must come of one invocation."""
    fields = {name: value for name, value in data.items() if name not in _NO_FIELDS}
    return ExpectedInvocation(fields, words(data.get("should")), words(data.get("covers")))


def loose_ends(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield what does not belong together in a hand-off: a JSON pointer into the case, and a complaint."""
    given, script = as_object(as_object(data.get("given")).get("handoff")), as_object(data.get("script"))
    strangers = script.keys() - as_object(as_object(given.get("workflow")).get("agents")).keys()
    if strangers:
        yield "/script", f"the workflow knows no agent {', '.join(sorted(strangers))}"
    known = {as_text(as_object(comment).get("id")) for comment in as_list(given.get("thread"))}
    events = as_list(given.get("events"))
    for at, comment in ((at, as_text(as_object(event).get("comment"))) for at, event in enumerate(events) if event):
        if comment not in known:
            yield f"/given/handoff/events/{at}", f"there is no comment {comment!r}"
    route = _route(data)
    if len(route) != len(events):
        yield "/expect/route", "holds what must come of each event, so it is as long as `events`"
    if any(one.keys() & OF_ONE_RUN for one in route):
        yield "/expect/route", f"{_LISTED} are of a run without a workflow"


def loose_order(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield what can't come of a run without a workflow: it is one invocation, known by the order of its agents."""
    route = _route(data)
    if not route:
        return
    if len(route) > 1 or "order" not in route[0] or route[0].keys() - OF_ONE_RUN - _NO_FIELDS:
        yield "/expect/route", f"a run without a workflow is one invocation, of {_LISTED}; `order` is never left out"
    for order in _orders(route[0].get("order")):
        strangers = frozenset(order) - as_object(data.get("script")).keys()
        if strangers:
            yield "/expect/route", f"no agent {', '.join(sorted(strangers))} has a script"
        if order[:1] != ("root",) or any(one == after for one, after in pairwise(order)):
            yield "/expect/route", "an order begins with `root`, and no agent follows itself"


def _route(data: JSONObject) -> list[JSONObject]:
    return list(map(as_object, as_list(as_object(data.get("expect")).get("route"))))


def _orders(value: JSON | Missing) -> Iterator[tuple[str, ...]]:
    """Yield each list of agents that an expected order names."""
    lists = as_list(value.get("any_of", [value.get("begins")])) if isinstance(value, dict) else [value]
    yield from (tuple(map(as_text, as_list(one))) for one in lists if one is not None)


def long_text(value: JSON | Missing) -> str | None:
    """Read a text that may be written as lines; None where there is none."""
    if isinstance(value, dict):
        return "\n".join(map(as_text, as_list(value.get("lines"))))
    return value if isinstance(value, str) else None


def words(value: JSON | Missing) -> frozenset[str]:
    """Read a list of words."""
    return frozenset(map(as_text, as_list(value)))
