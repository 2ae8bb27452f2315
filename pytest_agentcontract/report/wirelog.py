"""What went over the wire, one line per exchange: who asked, with what, and what was answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.report.text import shortened
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.request import Message, Request
from pytest_agentcontract.wire.turn import Call, Turn

_WIDTH = 96


def tail(exchanges: Sequence[Exchange], last: int = 8) -> Iterator[str]:
    """Yield the end of a wire log under a heading."""
    shown = exchanges[-last:]
    of = f"last {len(shown)} of {len(exchanges)}" if len(shown) < len(exchanges) else str(len(shown))
    yield f"wire log ({of} exchanges):" if exchanges else "wire log: the runtime asked the model nothing"
    for exchange in shown:
        yield from entry(exchange)


def missed(paths: Sequence[str]) -> Iterator[str]:
    """Yield what was asked where nothing is served."""
    yield from (f"  {shortened(path, _WIDTH)}: nothing is served here" for path in paths)


def entry(exchange: Exchange) -> Iterator[str]:
    """Yield the two lines of one exchange: the request's end, and the answer."""
    request = exchange.request
    last = shortened(asking(request), _WIDTH)
    who = exchange.agent or "nobody"
    asked = f"{len(request.messages)} messages, {len(request.tools)} tools"
    yield f"  #{exchange.serial} {exchange.received_at:.2f}s {who} asks ({asked}): {last}"
    yield f"     {_answered(exchange)}"


def _answered(exchange: Exchange) -> str:
    what = f"{exchange.kind} {exchange.turn}" if exchange.turn else exchange.kind
    flags = ["again"] * exchange.retry + ["not delivered"] * (not exchange.delivered)
    head = ", ".join([what, *flags])
    answer = shortened(answering(exchange.answer), _WIDTH) if exchange.answer else ""
    return f"-> {head}: {answer or exchange.note or 'no content'}"


def asking(request: Request) -> str:
    """Return what the last message of a request says, and who says it."""
    return _message(request.messages[-1]) if request.messages else "no message"


def answering(turn: Turn) -> str:
    """Return what an answer says: thinking, text, refusal, calls."""
    parts = [f"(thinks) {turn.thinking}"] if turn.thinking else []
    parts += [dumps(turn.text)] if turn.text is not None else []
    parts += [f"(refuses) {turn.refusal}"] if turn.refusal is not None else []
    return " + ".join([*parts, *map(_call, turn.calls)])


def _message(message: Message) -> str:
    parts = [f"{result.text}{' (error)' * bool(result.is_error)}" for result in message.results]
    parts += [*message.texts, *map(_call, message.calls)]
    return f"{message.role}: {' | '.join(parts)}"


def _call(call: Call) -> str:
    return f"{call.name}({call.raw_arguments if call.raw_arguments is not None else dumps(call.arguments)})"
