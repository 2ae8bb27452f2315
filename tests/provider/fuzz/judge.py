"""What a hostile client may get: well-formed HTTP, an error of the wire's own, and no turn that it has no right to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import h11

from tests.provider.fuzz.clients import TURNS, Attempt


@dataclass(frozen=True, slots=True)
class Found:
    """What a client got, how its connection ended, and how many turns of its agent were handed out."""

    data: bytes
    end: str
    turns: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One response, as a second parser reads it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


def texts(agent: str) -> list[str]:
    """Return what an agent's turns say: short enough to stand in one piece of a stream."""
    return [f"{agent}={number}" for number in range(1, TURNS + 1)]


def complete(data: bytes, method: str) -> bool:
    """Tell whether a final answer has come whole."""
    try:
        return any(answer.whole for answer in _answers(data, method, ended=False))
    except h11.RemoteProtocolError:
        return False


def judged(one: Attempt, agent: str, found: Found) -> tuple[list[str], list[int]]:
    """Return all that is wrong about what an attempt came to, and the statuses of its answers."""
    try:
        answers = list(_answers(found.data, one.method, ended=True))
    except h11.RemoteProtocolError as error:
        return [f"the answer is no HTTP: {error}: {found.data[:300]!r}"], []
    return list(_complaints(one, agent, found, answers)), [answer.status for answer in answers]


def _complaints(one: Attempt, agent: str, found: Found, answers: list[Answer]) -> Iterator[str]:
    least, most = one.span
    if not least <= found.turns <= most:
        yield f"{found.turns} turns served, not {least} to {most}: {found.data[:300]!r} {one.pieces[0][:300]!r}"
    told = [answer for answer in answers if f"{agent}=".encode() in answer.body]
    if len(told) > most or any(answer.status != 200 for answer in told):
        yield f"{len(told)} answers show a turn: {found.data[:300]!r}"
    if len(told) < least:
        yield f"only {len(told)} answers ({found.end}): {found.data[:300]!r}"
    if any(not answer.whole for answer in answers) and found.end not in ("rst", "wait"):
        yield f"an answer is cut short ({found.end}): {found.data[-300:]!r}"
    if found.end.endswith(")"):
        yield f"the connection hung: {found.end}"
    if not answers and (one.native or (one.due and found.end != "rst")):
        yield f"no answer ({found.end})"
    if one.native:
        yield from (complaint for answer in answers for complaint in _unlike_the_wire(one, answer))
    elif any(answer.status >= 500 and answer.status not in (501, 505) for answer in answers):
        yield f"an error of ours: {found.data[:300]!r}"


def _unlike_the_wire(one: Attempt, answer: Answer) -> Iterator[str]:
    if answer.status == 200:
        return
    if (answer.status, answer.headers.get("x-should-retry")) != (400, "false"):
        yield f"status {answer.status} and {dict(answer.headers)}"
    try:
        error = json.loads(answer.body)["error"]
        right = isinstance(error["message"], str) and _ERRORS[one.wire](json.loads(answer.body), error)
    except (ValueError, KeyError, TypeError) as fault:
        yield f"no error body ({fault!r}): {answer.body[:300]!r}"
    else:
        if not right:
            yield f"not the wire's error body: {answer.body[:300]!r}"


_FRAMED = {"content-length", "transfer-encoding"}


def _openai(_body: Any, error: Any) -> bool:
    return bool(error["type"] == "invalid_request_error" and error["param"] is None and "code" in error)


_ERRORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "anthropic-messages": lambda body, error: body["type"] == "error" and error["type"] == "invalid_request_error",
    "openai-chat": _openai,
    "openai-responses": _openai,
    "gemini-generate": lambda _body, error: error["code"] == 400 and error["status"] == "INVALID_ARGUMENT",
}


def _answers(data: bytes, method: str, *, ended: bool) -> Iterator[Answer]:
    """Read responses one after the other; raise h11's error for what is no HTTP."""
    while data:
        reader = h11.Connection(h11.CLIENT)
        reader.send(h11.Request(method=method, target="/", headers=[("host", "x"), ("connection", "close")]))
        reader.send(h11.EndOfMessage())
        reader.receive_data(data)
        answer, data = _one(reader, ended=ended)
        if answer is not None:
            yield answer


def _one(reader: h11.Connection, *, ended: bool) -> tuple[Answer | None, bytes]:
    """Read one final response, and return what stands behind it; `ended`: the connection is, and nothing more comes."""
    status, headers, body, whole = 0, {}, b"", False
    while not whole:
        event = reader.next_event()
        if isinstance(event, h11.Response):
            status = event.status_code
            headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            whole = True
        elif event is h11.NEED_DATA and ended and status and not _FRAMED & headers.keys():
            reader.receive_data(b"")  # such an answer is whole once the connection is closed
        elif not isinstance(event, h11.InformationalResponse):
            break
    rest = reader.trailing_data[0] if whole else b""
    return (Answer(status, headers, body, whole) if status else None), rest
