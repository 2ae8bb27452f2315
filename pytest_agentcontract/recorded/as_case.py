"""Cassette -> case: the script of one run of a runtime, its own tools named by their parts as its profile binds them.

What the run was started with is what its first conversation opens with. Each other conversation is that of a child, if
an earlier answer starts it: its prompt stands in the call. A turn waits for a child whose report its request brought;
other orders of agents at the same time are not told. What must come of the case is not in a recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_agentcontract.cassette.exchange import Cassette
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, as_list, as_object, as_text, dumps, is_empty
from pytest_agentcontract.recorded.attempts import Note, written
from pytest_agentcontract.recorded.conversations import Conversation, conversations
from pytest_agentcontract.recorded.parts import as_return, as_work, opened
from pytest_agentcontract.recorded.reading import Reading, read_all
from pytest_agentcontract.recorded.script_of import Imported, beside
from pytest_agentcontract.scenario.case import RETURN, SPAWN
from pytest_agentcontract.scenario.conditions import shows
from pytest_agentcontract.scenario.nearest import news
from pytest_agentcontract.scenario.profile import Profile

_ROOT: Final = "root"
_UNSTARTED: Final = "begins a conversation that no call before it starts"
_WHY: Final = "A recorded run: {}. What must come of it is still to be said."


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn of the case, and the exchange that it is made of."""

    reading: Reading
    turn: JSONObject


@dataclass(slots=True)
class _Run:
    """What is known so far: the calls of the children by their prompts, and the names of marks and of other tools."""

    profile: Profile
    started: dict[str, str] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)


def as_case(cassette: Cassette, profile: Profile, covers: Sequence[str]) -> Imported:
    """Make a case of a recording of this runtime; `covers` names the requirements that it is to judge.

    What can't be said is named: a conversation that nothing starts is dropped, a call that is no part of a case keeps
    its tool's own name.
    """
    readings = read_all(cassette)
    notes = [*beside(readings)]
    threads = conversations([reading for reading in readings if reading.request is not None])
    run, told = _Run(profile), dict[str, list[_Told]]()
    _name_children(run, threads)
    for number, thread in enumerate(threads):
        agent = _agent_of(run, thread) if number else _ROOT
        if not agent or agent in told:
            notes += (Note(reading.number, _UNSTARTED, dropped=True) for reading in thread.attempts)
            continue
        told[agent] = []
        for attempts in thread.exchanges:
            made = written(attempts)
            told[agent] += (_Told(attempts[-1], _turn(run, turn)) for turn in made.turns)
            notes += made.notes
    notes += (Note(one.reading.number, what) for of in told.values() for one in of for what in _odd(one.turn))
    dropped = {note.number for note in notes if note.dropped}
    kept = tuple(reading.number for reading in readings if reading.number not in dropped)
    script = {agent: [one.turn | _awaited(one, told) for one in of] for agent, of in told.items()}
    document = _document(cassette, threads, script, covers) if any(script.values()) else {}
    return Imported(document, kept, tuple(sorted(notes, key=lambda note: note.number)))


def _awaited(one: _Told, told: Mapping[str, Sequence[_Told]]) -> JSONObject:
    """Return what a turn waits for: a child whose report its request brought as news, the last one of several."""
    texts = [text for _, text in news(one.reading.asked)]
    reports = {
        agent: value for agent, of in told.items() if agent != _ROOT for value in _reports(of, one.reading.number)
    }
    heard = [agent for agent, value in reports.items() if any(shows(value, text) for text in texts)]
    return {"when": {"sees": heard[-1]}} if heard else {}


def _reports(of: Sequence[_Told], before: int) -> Iterator[JSON]:
    """Yield what a child has returned before an exchange; what is empty can't be seen."""
    for call in (
        as_object(call) for one in of if one.reading.number < before for call in as_list(one.turn.get("calls"))
    ):
        if call["tool"] == RETURN and not is_empty(call.get("value", MISSING)):
            yield call["value"]


def _name_children(run: _Run, threads: Sequence[Conversation]) -> None:
    """Name every child that a call starts and a conversation belongs to, in the order of the calls."""
    openings = [thread.first.asked.opening for thread in threads[1:]]
    for prompt in _prompts(run.profile, threads):
        if prompt not in run.started and any(prompt in opening for opening in openings):
            run.started[prompt] = f"child-{len(run.started) + 1}"


def _prompts(profile: Profile, threads: Sequence[Conversation]) -> Iterator[str]:
    binding = profile.tools.get("spawn")
    for attempts in (attempts for thread in threads for attempts in thread.exchanges):
        for call in (as_object(call) for turn in written(attempts).turns for call in as_list(turn.get("calls"))):
            found = opened(binding, call) if binding else None
            if found and found.get("child_prompt"):
                yield found["child_prompt"]


def _agent_of(run: _Run, thread: Conversation) -> str:
    """Return the child whose prompt opens a conversation, the longest one that does; "" if none does."""
    prompts = [prompt for prompt in run.started if prompt in thread.first.asked.opening]
    return run.started[max(prompts, key=len)] if prompts else ""


def _turn(run: _Run, turn: JSONObject) -> JSONObject:
    if "calls" not in turn:
        return turn
    return turn | {"calls": [_call(run, as_object(call)) for call in as_list(turn["calls"])]}


def _call(run: _Run, call: JSONObject) -> JSONObject:
    tools = run.profile.tools
    spawned = opened(tools["spawn"], call) if "spawn" in tools else None
    if spawned is not None and spawned.get("child_prompt") in run.started:
        return {"tool": SPAWN, "agent": run.started[spawned["child_prompt"]]}
    handed = as_return(tools["return"], call) if "return" in tools else None
    worked = as_work(tools["work"], call, run.marks) if "work" in tools else None
    return handed or worked or call


def _odd(turn: JSONObject) -> Iterator[str]:
    """Yield what of a turn is no part of a case, or means something else there."""
    for name in (as_text(as_object(call).get("tool")) for call in as_list(turn.get("calls"))):
        if not name.startswith("$"):
            yield f"calls {name}, which is bound to no part of a case so: it keeps its name"
    if "{nonce}" in dumps(turn):
        yield "not said: the text {nonce}, which a case replaces"


def _document(
    cassette: Cassette, threads: Sequence[Conversation], script: dict[str, list[JSONObject]], covers: Sequence[str]
) -> JSONObject:
    note = cassette.origin.note or "imported from a cassette"
    return {
        "title": "A recorded run",
        "why": _WHY.format(note),
        "covers": [*covers],
        "given": {"mode": "json", "prompt": threads[0].first.asked.opening},
        "script": {agent: [*turns] for agent, turns in script.items()},
    }
