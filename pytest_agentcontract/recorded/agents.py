"""Conversations -> agents: by which mark they are told apart, so that each has a script of its own, without a guess.

A cassette does not say which requests were on their way at the same time. So conversations are told apart wherever a
mark can do it; those that no mark tells apart are one agent, in the order of the recording, and are named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.recorded.conversations import Conversation
from pytest_agentcontract.recorded.reading import Reading
from pytest_agentcontract.scenario.profile import Attribution
from pytest_agentcontract.scripted.playbook import ONLY

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HEADER = "x-agent"
_SCRUBBED = "SCRUBBED-"
_MARK_LENGTHS = (16, 32, 64, 128)
_LONGEST_MARK = 200


@dataclass(frozen=True, slots=True)
class Agent:
    """Whose conversations have a script of their own; `mark` is what their requests carry, "" for a sole agent."""

    name: str
    mark: str
    conversations: tuple[Conversation, ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """All agents, by what they are told apart, and the pairs of conversations that nothing tells apart."""

    agents: tuple[Agent, ...]
    by: Attribution = "sole"
    mixed: tuple[tuple[Conversation, Conversation], ...] = ()

    @property
    def attribution(self) -> JSONObject:
        """Return what a script says of it: the marks that are not the default."""
        marks: JSONObject = {agent.name: agent.mark for agent in self.agents if agent.mark != _default(self.by, agent)}
        if self.by == "sole":
            return {}
        return {"attribution": {"by": self.by, "marks": marks} if marks else self.by}


def cast_of(conversations: Sequence[Conversation]) -> Cast:
    """Tell the agents of some conversations apart, by the weakest mark that leaves the fewest of them mixed up."""
    casts = [cast for by in _SIGNS if (cast := _by(by, conversations)) is not None]
    return min(casts, key=lambda cast: (sum(_interleaved(*pair) for pair in cast.mixed), len(cast.mixed)))


def _by(by: Attribution, conversations: Sequence[Conversation]) -> Cast | None:
    """Tell agents apart by one kind of mark; None where a request bears none, or one that is not its agent's alone."""
    read = _SIGNS[by]
    groups: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        groups.setdefault(read(conversation.first), []).append(conversation)
    if by != "sole" and ("" in groups or len(groups) == 1):
        return None
    signs = {sign: _signs_of(read, group) for sign, group in groups.items()}
    marks: dict[str, str] = {}
    for sign, own in signs.items():
        others = [text for other, texts in signs.items() if other != sign for text in texts]
        mark = _MARKERS[by](own, others)
        if mark is None:
            return None
        marks[sign] = mark
    names = _names(by, tuple(groups))
    agents = tuple(Agent(names[sign], marks[sign], tuple(group)) for sign, group in groups.items())
    mixed = (pair for group in groups.values() for pair in combinations(group, 2))
    return Cast(agents, by, tuple(mixed))


def _signs_of(read: Callable[[Reading], str], group: Sequence[Conversation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(read(reading) for conversation in group for reading in conversation.attempts))


def _interleaved(one: Conversation, other: Conversation) -> bool:
    """Tell whether one conversation went on after the other had begun, and the other way round."""
    return one.first.number < other.last.number and other.first.number < one.last.number


def _names(by: Attribution, signs: Sequence[str]) -> dict[str, str]:
    """Name agents by a mark that is a name itself; else the first one is the root, and the others are numbered."""
    own = by in ("model", "header") and all(map(_NAME.fullmatch, signs))
    return {sign: sign if own else f"agent-{number}" if number > 1 else ONLY for number, sign in enumerate(signs, 1)}


def _default(by: Attribution, agent: Agent) -> str:
    return {"model": agent.name, "header": f"{_HEADER}: {agent.name}"}.get(by, "")


# -- what a request bears ---------------------------------------------------------------------------------------------


def _header(reading: Reading) -> str:
    lines = [value.strip() for name, value in reading.recorded.request_headers if name.lower() == _HEADER]
    return lines[-1] if lines and _SCRUBBED not in lines[-1] else ""


_SIGNS: Final[Mapping[Attribution, Callable[[Reading], str]]] = {
    "sole": lambda _: "",
    "model": lambda reading: reading.asked.model,
    "header": _header,
    "system": lambda reading: reading.asked.system,
    "token": lambda reading: reading.asked.opening,
}
"""What may tell a request's agent, from the weakest to the strongest."""


def _whole(own: Sequence[str], others: Sequence[str]) -> str | None:
    """Return the one sign that all bear, if nobody else does."""
    return own[0] if len(own) == 1 and own[0] not in others else None


def _line(own: Sequence[str], others: Sequence[str]) -> str | None:
    sign = _whole(own, others)
    return None if sign is None else f"{_HEADER}: {sign}"


def _part(own: Sequence[str], others: Sequence[str]) -> str | None:
    """Return a short part of a text that all bear and nobody else does; one without figures, which may be a date."""
    dated = None
    for part in _parts(own[0]):
        if _SCRUBBED in part or any(part in text for text in others) or not all(part in text for text in own):
            continue
        if not any(map(str.isdecimal, part)):
            return part
        dated = dated or part
    return dated


def _parts(text: str) -> Iterator[str]:
    """Yield parts of a text that are fit for a mark, the best ones first: beginnings of lines, lines, all of it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for length in _MARK_LENGTHS:
        yield from (cut for line in lines if len(line) > length and (cut := line[:length].rpartition(" ")[0]))
        yield from (line for line in lines if length // 2 <= len(line) <= length)
    yield from (line for line in lines if len(line) <= _LONGEST_MARK)
    yield from lines
    if text:
        yield text


_MARKERS: Final[Mapping[Attribution, Callable[[Sequence[str], Sequence[str]], str | None]]] = {
    "sole": lambda _own, _others: "",
    "model": _whole,
    "header": _line,
    "system": _part,
    "token": _part,
}
