"""Recorded requests -> conversations: a request goes on where its messages extend an earlier one's by that answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from pytest_agentcontract.jsonvalue import as_object
from pytest_agentcontract.recorded.reading import Reading
from pytest_agentcontract.wire.request import Message, Request
from pytest_agentcontract.wire.turn import Turn


@dataclass(slots=True)
class Conversation:
    """The exchanges of one conversation in order, each with its attempts: all but the last of them failed."""

    exchanges: list[list[Reading]] = field(default_factory=list)

    @property
    def attempts(self) -> tuple[Reading, ...]:
        """Every exchange, failed ones included."""
        return tuple(reading for attempts in self.exchanges for reading in attempts)

    @property
    def first(self) -> Reading:
        """The exchange that began it."""
        return self.exchanges[0][0]

    @property
    def last(self) -> Reading:
        """The exchange that it ends with so far."""
        return self.exchanges[-1][-1]

    @property
    def ends(self) -> tuple[Reading, ...]:
        """What may be gone on from: the last exchange, and the last one before it that was answered if it was not."""
        ended = (attempts[-1] for attempts in reversed(self.exchanges))
        answered = next((one for one in ended if one.turn is not None and one.fault is None), self.last)
        return self.last, answered


def conversations(readings: Sequence[Reading]) -> tuple[Conversation, ...]:
    """Sort model requests, in order of arrival, into the conversations that they are part of."""
    found: list[Conversation] = []
    for reading in readings:
        again = next((one for one in reversed(found) if _is_retry(one.last, reading)), None)
        if again is not None:
            again.exchanges[-1].append(reading)
            continue
        of = _continued(found, reading.asked)
        if of is None:
            of = Conversation()
            found.append(of)
        of.exchanges.append([reading])
    return tuple(found)


def _is_retry(before: Reading, reading: Reading) -> bool:
    """Tell whether a request asks again for an answer that did not arrive whole."""
    return before.fault is not None and (before.wire, before.asked.digest) == (reading.wire, reading.asked.digest)


def _continued(found: Sequence[Conversation], request: Request) -> Conversation | None:
    """Return the conversation that a request goes on: surely by all of its messages, else by the model's last words."""
    for extends in (_extends, _answers):
        of = [one for one in found if any(extends(end, request) for end in one.ends)]
        if of:
            return max(of, key=lambda one: (len(one.last.asked.messages), one.last.number))
    return None


def _extends(before: Reading, request: Request) -> bool:
    if _names(request, before):
        return True
    said, known = request.messages, before.asked.messages
    if request.wire != before.wire or len(said) <= len(known) or said[: len(known)] != known:
        return False
    if before.turn is not None and not before.turn.prose and not before.turn.calls:
        return True  # there is nothing to be handed back
    return said[len(known)].role == "assistant" and _repeats(said[len(known)], before.turn)


def _answers(before: Reading, request: Request) -> bool:
    """Tell whether a client that rewrites what came before still hands this answer back as the last one."""
    trailing = tuple(takewhile(lambda message: message.role != "assistant", reversed(request.messages)))
    at = len(request.messages) - len(trailing) - 1
    if at < 0 or request.wire != before.wire or before.turn is None:
        return False
    # Calls bear ids; words alone may be said in several conversations.
    known = bool(before.turn.calls) or request.opening == before.asked.opening
    return known and _repeats(request.messages[at], before.turn)


def _repeats(message: Message, turn: Turn | None) -> bool:
    """Tell whether a message says what a turn said; clients may leave out thinking, and space around a text."""
    if turn is None:
        return False
    if turn.calls:
        return [(call.name, call.id) for call in message.calls] == [(call.name, call.id) for call in turn.calls] or (
            not any(call.id for call in turn.calls)
            and [(call.name, call.arguments) for call in message.calls]
            == [(call.name, call.arguments) for call in turn.calls]
        )
    return bool(turn.prose) and "".join(message.texts).strip() == (turn.prose or "").strip()


def _names(request: Request, before: Reading) -> bool:
    """Tell whether a request names the earlier answer as the one that it follows, and leaves the rest to the server."""
    wanted = as_object(request.body).get("previous_response_id")
    return isinstance(wanted, str) and bool(wanted) and wanted == _response_id(before)


def _response_id(reading: Reading) -> str:
    needle = b'"id":'
    data = reading.recorded.body
    at = data.find(b"resp_")
    before = data.rfind(needle, 0, at) if at >= 0 else -1
    return data[at : data.find(b'"', at)].decode("ascii", "replace") if before >= 0 else ""
