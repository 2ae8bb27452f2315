"""How a parent waits for its child where one tool starts it and another one waits: the turn that is put in between.

That call names the child by what the first one was answered (an agent id, say), so it can't be written down beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_agentcontract.scenario.binding import Places, filled
from pytest_agentcontract.scenario.case import SPAWN, ScriptedTurn
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.scenario.profile import Binding
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Call, Turn


def waiting_id(started: str) -> str:
    """Return the id of the call that waits for the child that the call of a given id has started."""
    return f"{started}_await"


def waiting(
    binding: Binding | None,
    child: str,
    request: Request,
    entries: Sequence[ScriptedTurn],
    exchanges: Iterable[Exchange],
    places: Places,
) -> Turn | None:
    """Return the turn that waits for a child, once: None where nothing does, or what it takes is not known.

    `entries` and `exchanges` are those of the agent whose request this is.
    """
    if binding is None or binding.name not in request.tool_names:
        return None
    said = [exchange for exchange in exchanges if exchange.answer is not None]
    started = _started(child, entries, said)
    captured = _captured(binding.captures, _answer_to(started, request))
    if captured is None or any(call.id == waiting_id(started) for one in said for call in _calls(one)):
        return None
    arguments = filled(binding.arguments, {"agent": child, **captured}, places)
    return Turn(calls=(Call(binding.name, arguments, id=waiting_id(started)),))


def _started(child: str, entries: Sequence[ScriptedTurn], said: Iterable[Exchange]) -> str:
    """Return the id of the call that started a child; empty where none did."""
    turns = ((entries[one.turn - 1], one) for one in said if one.kind == "turn")
    pairs = (pair for entry, one in turns for pair in zip(entry.calls, _calls(one), strict=False))
    return next((call.id for scripted, call in pairs if (scripted.tool, scripted.agent) == (SPAWN, child)), "")


def _calls(exchange: Exchange) -> tuple[Call, ...]:
    return exchange.answer.calls if exchange.answer else ()


def _answer_to(call_id: str, request: Request) -> str | None:
    results = (result for message in request.messages for result in message.results)
    return next((result.text for result in results if result.call_id == call_id), None)


def _captured(patterns: Mapping[str, str], text: str | None) -> dict[str, str] | None:
    found = {name: re.search(pattern, text) for name, pattern in patterns.items()} if text is not None else None
    if found is None or None in found.values():
        return None
    return {name: match[1] for name, match in found.items() if match}
