"""A hand-off case as it runs: a thread on disk, and one invocation of a fresh engine for each of its events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pytest_agentcontract.jsonvalue import JSONObject, as_object, as_text, dumps, equal, loads
from pytest_agentcontract.scenario.case import Handoff
from pytest_agentcontract.scenario.observation import Delivery, Exchange, Invocation, Observation
from pytest_agentcontract.scenario.start import HandoffPaths

Drive = Callable[[HandoffPaths], tuple[Delivery, tuple[Exchange, ...]]]
"""Carries out one invocation; returns what was delivered, and every exchange of the case so far."""


def invoke_all(given: Handoff, room: Path, drive: Drive) -> Observation:
    """Invoke the engine once for each event, as long as it ends by itself; what it posts is found in the folder."""
    thread = room / "comments"
    thread.mkdir(parents=True)
    workflow = room / "workflow.json"
    _write(workflow, given.workflow)
    invocations: list[Invocation] = []
    exchanges: tuple[Exchange, ...] = ()
    for number, event in enumerate(given.events):
        for comment in _due(given, number):
            _put(thread, comment)
        before, asked = _comments(thread), len(exchanges)
        path = _event_file(room, number, event)
        delivery, exchanges = drive(HandoffPaths(workflow, thread, path))
        after = _comments(thread)
        posted = tuple(comment for name, comment in after.items() if name not in before)
        serials = tuple(exchange.serial for exchange in exchanges[asked:])
        invocations.append(Invocation(delivery, posted, serials, tuple(_altered(before, after))))
        if delivery.ended != "exited":
            break
    return Observation(exchanges, invocations[-1].delivery, invocations=tuple(invocations))


def _altered(before: dict[str, JSONObject], after: dict[str, JSONObject]) -> Iterator[str]:
    """Say of each comment that was there before what has become of it, where that is not the same comment."""
    for name, comment in before.items():
        called = f"comment {dumps(comment['id'])} ({name})" if "id" in comment else name
        if name not in after:
            yield f"{called} is gone"
        elif not equal(comment, after[name]):
            keys = sorted(key for key in comment.keys() | after[name].keys() if not _same(comment, after[name], key))
            yield f"{called} has another {', '.join(keys)}"


def _same(before: JSONObject, after: JSONObject, key: str) -> bool:
    return key in before and key in after and equal(before[key], after[key])


def _due(given: Handoff, number: int) -> Iterator[JSONObject]:
    """Yield the comments that are posted before an event: its own, and at the beginning those that no event names.

    A comment that stands in the thread again is its next version, posted before the next event that says so.
    """
    event, earlier = given.events[number], given.events[:number]
    if number == 0:
        named = {as_text(one["comment"]) for one in given.events if one} - {event and event["comment"]}
        yield from (one for one in _first_versions(given) if one["id"] not in named)
        return
    if event is None:
        return
    versions = [one for one in given.thread if one["id"] == event["comment"]]
    edits = sum(1 for one in earlier if one and one["comment"] == event["comment"] and one["action"] == "edited")
    named_before = any(one and one["comment"] == event["comment"] for one in earlier)
    if not named_before:
        yield versions[0]
    elif event["action"] == "edited" and edits + 1 < len(versions):
        yield versions[edits + 1]


def _first_versions(given: Handoff) -> Iterator[JSONObject]:
    seen: set[str] = set()
    for comment in given.thread:
        name = as_text(comment["id"])
        if name not in seen:
            yield comment
        seen.add(name)


def _put(thread: Path, comment: JSONObject) -> None:
    """Post a comment after all others, or write its next version over the one before."""
    there = _comments(thread)
    earlier = next((name for name, found in there.items() if found.get("id") == comment["id"]), None)
    _write(thread / (earlier or f"{1 + max(map(_number, there), default=0):04}.json"), comment)


def _comments(thread: Path) -> dict[str, JSONObject]:
    """Read the folder in the order of the numbers in its names; what is no comment counts as an empty one."""
    names = (path.name for path in thread.glob("*.json") if not path.name.startswith("."))
    return {name: _read(thread / name) for name in sorted(names, key=lambda name: (_number(name), name))}


def _number(name: str) -> int:
    found = re.search("[0-9]+", name)
    return int(found[0]) if found else 0


def _read(path: Path) -> JSONObject:
    try:
        return as_object(loads(path.read_bytes())) if path.is_file() else {}  # a pipe would never end
    except (OSError, ValueError):
        return {}


def _event_file(room: Path, number: int, event: JSONObject | None) -> Path | None:
    if event is None:
        return None
    path = room / f"event-{number + 1}.json"
    _write(path, event)
    return path


def _write(path: Path, value: JSONObject) -> None:
    path.write_text(dumps(value, indent=2) + "\n", encoding="utf-8")
