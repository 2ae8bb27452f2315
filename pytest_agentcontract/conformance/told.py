"""What a parent was told of its children: payloads raw or as JSON text, and whose they are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_agentcontract.conformance.evidence import Run, heard, news
from pytest_agentcontract.conformance.replies import Delivered, delivered_calls, result_of
from pytest_agentcontract.jsonvalue import JSON, as_object, dumps, equal
from pytest_agentcontract.scenario.awaiting import waiting_id
from pytest_agentcontract.scenario.case import SPAWN
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.request import ToolResult

_MOST_OPENINGS = 2000


@dataclass(frozen=True, slots=True)
class Block:
    """One text that a request carries; `call_id` is set for a tool result."""

    text: str
    call_id: str = ""


def later(run: Run, agent: str, serial: int) -> tuple[Exchange, ...]:
    """Return an agent's requests that arrived after a given one of anybody's."""
    return tuple(exchange for exchange in run.own(agent) if exchange.serial > serial)


def last_of(run: Run, agent: str) -> int:
    """Return the serial number of an agent's last request; 0 where it made none."""
    return max((exchange.serial for exchange in run.own(agent)), default=0)


def blocks(exchange: Exchange) -> Iterator[Block]:
    """Yield the texts and tool results of a request, the agent's own words left out."""
    for message in exchange.request.messages:
        if message.role != "assistant":
            yield from (Block(text) for text in message.texts)
            yield from (Block(result.text, result.call_id) for result in message.results)


def spawn(run: Run, child: str) -> Delivered | None:
    """Return the delivered call that started a child."""
    calls = delivered_calls(run, run.parent(child))
    return next((call for call in calls if call.scripted.tool == SPAWN and call.scripted.agent == child), None)


def holds_raw(exchange: Exchange, value: str) -> bool:
    """Tell whether some block of a request holds a string in one piece."""
    return any(value in text for text in heard(exchange.request))


def holds_escaped(exchange: Exchange, value: str) -> bool:
    """Tell whether some block holds a string as the inside of a JSON string: double encoded."""
    return any(form in text for text in heard(exchange.request) for form in _escaped(value))


def spans(exchange: Exchange, value: JSON) -> Iterator[str]:
    """Yield the pieces of a request's texts that are JSON documents equal to a value."""
    for text in heard(exchange.request):
        yield from (piece for piece, document in documents(text) if equal(document, value))


def documents(text: str) -> Iterator[tuple[str, JSON]]:
    """Yield the JSON objects and arrays that stand in a text, outermost first, each with the piece it was read from."""
    decoder, at = json.JSONDecoder(), 0
    for _ in range(_MOST_OPENINGS):
        opening = re.compile(r"[{\[]").search(text, at)
        if opening is None:
            return
        try:
            found, at = decoder.raw_decode(text, opening.start())
            yield text[opening.start() : at], found
        except (ValueError, RecursionError):
            at = opening.end()


def news_of(run: Run, child: str) -> tuple[str, ...]:
    """Return what its parent was told after the child's last request, by its own call or none."""
    parent, end = run.parent(child), last_of(run, child)
    before = [exchange for exchange in run.own(parent) if exchange.serial < end]
    after = later(run, parent, end)
    if not before or not after:
        return ()
    own = spawn(run, child)
    other = Counter(block.text for block in blocks(after[-1]) if block.call_id and not _answers(block, own))
    told = Counter(news(before[-1].request, after[-1].request)) - other
    return tuple(text for text in told.elements() if text.strip())


def spawn_results(run: Run, child: str) -> tuple[ToolResult, ...]:
    """Return the results of the calls which started a child and waited for it, request by request."""
    own = spawn(run, child)
    if own is None:
        return ()
    after = later(run, own.exchange.agent, own.exchange.serial)
    found = [result for exchange in after for result in (result_of(exchange.request, own), _awaited(exchange, own))]
    return tuple(result for result in found if result is not None)


def told_of_error(run: Run, child: str) -> bool:
    """Tell whether the call that started a child was answered by a tool error."""
    return any(result.is_error for result in spawn_results(run, child))


def prose_told(run: Run, child: str) -> str:
    """Return the first stray text, or text that a child's model said, that its parent was told; empty for none."""
    prose = (*run.expect.stray, *run.spoken(child))
    heard_by_parent = [text for exchange in run.own(run.parent(child)) for text in heard(exchange.request)]
    return next((text for text in prose if any(text in told for told in heard_by_parent)), "")


def marks_of(run: Run, children: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Return, for each child, the words that name it alone, from the call that started it and that call's result."""
    words = {child: _words_about(run, child) for child in children}
    counts = Counter(word for found in words.values() for word in found)
    return {child: frozenset(word for word in found if counts[word] == 1) for child, found in words.items()}


def owner(text: str, at: int, marks: dict[str, frozenset[str]]) -> str:
    """Tell which child is named nearest before a place in a text; empty where none is."""
    owners = {word: child for child, words in marks.items() for word in words}
    return next((owners[word] for word in reversed(_words(text[:at])) if word in owners), "")


def _words_about(run: Run, child: str) -> frozenset[str]:
    own = spawn(run, child)
    if own is None:
        return frozenset()
    results = [result.text for result in spawn_results(run, child)]
    given = [text for text in as_object(own.call.arguments).values() if isinstance(text, str)]
    texts = [own.call.id, *given, *results[:1]]
    return frozenset(word for text in texts for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w[\w.-]*", text)


def _awaited(exchange: Exchange, own: Delivered) -> ToolResult | None:
    results = (result for message in exchange.request.messages for result in message.results)
    return next((result for result in results if result.call_id == waiting_id(own.call.id)), None)


def _answers(block: Block, own: Delivered | None) -> bool:
    return own is not None and block.call_id in (own.call.id, waiting_id(own.call.id))


def _escaped(value: str) -> set[str]:
    return {dumps(value)[1:-1], json.dumps(value)[1:-1]} - {value}
