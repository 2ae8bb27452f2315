"""What is said again and again is rendered once: a repeated turn costs a look-up and the digits of its serial."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from pytest_agentcontract.jsonvalue import point
from pytest_agentcontract.provider.body import rendered
from pytest_agentcontract.scenario.cursor import Answer
from pytest_agentcontract.wire.formats import WireFormat
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.turn import Turn

_DIGITS: Final = "90807060"
_SERIAL: Final = int(_DIGITS)
_MOST_KEPT = 256
_LONGEST_KEPT = 1_000


class Renderings:
    """Whole responses by what determines them, without the serial; one for each seat."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, bytes] = {}

    def whole(self, answer: Answer, turn: Turn, wire: WireFormat, *, chunked: bool) -> bytes:
        """Return a response as it is written if nothing goes wrong and nobody waits."""
        request, serial = answer.exchange.request, answer.exchange.serial
        asked = tuple(repr(point(request.body, pointer)) for pointer in wire.ECHOED)
        # Bound calls bear ids of their own, no two are the same; and what a client makes up is not kept at any length.
        if turn.calls or _tells_digits(turn, request) or len(request.model) + sum(map(len, asked)) > _LONGEST_KEPT:
            return rendered(turn, request, wire, serial, chunked=chunked).whole
        key = (wire.NAME, request.model, asked, turn, turn.deltas, request.stream, chunked)
        data = self._kept.get(key)
        if data is None:
            data = rendered(turn, request, wire, _SERIAL, chunked=chunked).whole
            self._keep(key, data)
        return data.replace(_DIGITS.encode(), b"%08d" % serial)

    def _keep(self, key: Hashable, data: bytes) -> None:
        while len(self._kept) >= _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = data


def _tells_digits(turn: Turn, request: Request) -> bool:
    """Tell whether an answer holds the digits that stand for its serial, so that they would be replaced."""
    told = (turn.prose, turn.thinking, turn.signature, request.model)
    return any(text is not None and _DIGITS in text for text in told)
