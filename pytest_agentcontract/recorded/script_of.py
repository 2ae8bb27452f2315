"""Cassette -> script: the document that `agent-contract serve` plays, and what of each exchange it does not say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.cassette.exchange import Cassette
from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.recorded.agents import Agent, Cast, cast_of
from pytest_agentcontract.recorded.attempts import Note, Written, written
from pytest_agentcontract.recorded.conversations import Conversation, conversations
from pytest_agentcontract.recorded.reading import Reading, read_all

_BESIDE: Final = "asked beside the conversation: the provider answers it by itself"
_SEVERAL: Final = "begins a conversation that no mark tells from another one: played in the order of the recording"


@dataclass(frozen=True, slots=True)
class Imported:
    """A script and its account: every exchange is among the `kept` or has a note that says why it was dropped.

    Where nothing can be kept there is no script. `notes` are in the order of the exchanges.
    """

    script: JSONObject
    kept: tuple[int, ...]
    notes: tuple[Note, ...]

    @property
    def lost(self) -> tuple[Note, ...]:
        """What was kept, but for what these say."""
        return tuple(note for note in self.notes if not note.dropped)

    @property
    def dropped(self) -> tuple[Note, ...]:
        """What is no part of the script, each with the reason."""
        return tuple(note for note in self.notes if note.dropped)


def imported(cassette: Cassette, *, paced: bool = False) -> Imported:
    """Make a script of a cassette; `paced`, its answers come as slowly as they were recorded."""
    readings = read_all(cassette)
    cast = cast_of(conversations([reading for reading in readings if reading.request is not None]))
    parts = {agent.name: tuple(_written(agent, paced=paced)) for agent in cast.agents}
    notes = [*beside(readings), *_mixed(cast), *(note for part in parts.values() for one in part for note in one.notes)]
    dropped = {note.number for note in notes if note.dropped}
    kept = tuple(reading.number for reading in readings if reading.number not in dropped)
    turns = {name: [turn for one in part for turn in one.turns] for name, part in parts.items()}
    return Imported(_document(cast, turns), kept, tuple(sorted(notes, key=lambda note: note.number)))


def beside(readings: Iterable[Reading]) -> Iterator[Note]:
    """Name what is no model request, or none that can be read."""
    for reading in (reading for reading in readings if reading.request is None):
        yield Note(reading.number, _BESIDE if reading.kind == "side" else reading.problem, dropped=True)


def _written(agent: Agent, *, paced: bool) -> Iterator[Written]:
    """Write an agent's turns in the order in which they were asked for, whatever conversation they are of."""
    exchanges = (attempts for conversation in agent.conversations for attempts in conversation.exchanges)
    for attempts in sorted(exchanges, key=lambda attempts: attempts[0].number):
        yield written(attempts, paced=paced)


def _mixed(cast: Cast) -> Iterator[Note]:
    """Name the conversations that nothing tells from an earlier one."""
    numbers = dict.fromkeys(max(_first(one), _first(other)) for one, other in cast.mixed)
    yield from (Note(number, _SEVERAL) for number in numbers)


def _first(conversation: Conversation) -> int:
    return conversation.first.number


def _document(cast: Cast, turns: dict[str, list[JSONObject]]) -> JSONObject:
    if not any(turns.values()):
        return {}
    if cast.by == "sole":
        return {"turns": _listed(*turns.values())}
    agents: JSONObject = {name: _listed(of) for name, of in turns.items()}
    return {"agents": agents, **cast.attribution}


def _listed(turns: Iterable[JSONObject]) -> JSON:
    return [*turns]


def account(made: Imported) -> Iterator[str]:
    """Yield in words what was kept, and what is left out: the same of several exchanges in one line."""
    if made.kept:
        yield f"{_listing(made.kept)}: kept"
    for notes, verdict in ((made.lost, ""), (made.dropped, "left out: ")):
        for what in dict.fromkeys(note.what for note in notes):
            yield f"{_listing(_numbers(notes, what))}: {verdict}{what}"


def _numbers(notes: Iterable[Note], what: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(note.number for note in notes if note.what == what))


def _listing(numbers: tuple[int, ...]) -> str:
    return f"exchange{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
