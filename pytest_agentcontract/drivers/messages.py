"""The stdio protocol as values: our requests to lines, an adapter's lines to answers, and whose fault a bad one is.

Both directions are held to the shipped schemas. What breaks them on our side is a DriverError that says so; what breaks
them on the adapter's side is a `Broken` value, which whoever knows the place in the output makes an error of.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.errors import DriverError
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, as_object, as_text, loads
from pytest_agentcontract.scenario.quick import surely_conforms
from pytest_agentcontract.scenario.schemas import complaints

PROTOCOLS: Final = (1,)
"""The versions of the protocol that the suite speaks."""

OPERATIONS: Final = ("parse", "render", "model", "route", "inert", "notice", "team")
"""The pure operations of the hand-off contract: an input is answered by an output."""

REQUEST: Final = "stdio-request"
RESPONSE: Final = "stdio-response"
_SHOWN = 60
_TOLD = 300


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an operation: its output, an honest "not supported", or the adapter's own words for an error."""

    output: JSON | Missing = MISSING
    unsupported: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A message that breaks the protocol, the JSON path in it, and how to mend it."""

    what: str
    place: str = ""
    remedy: str = "Compare it with the page `protocol` of the documentation."


def encode(message: JSONObject) -> bytes:
    """Write a message as a line of ASCII; raise DriverError where it is the suite that breaks the protocol."""
    try:
        line = json.dumps(message, allow_nan=False).encode("ascii")
        fault = _fault(REQUEST, message)
    except (ValueError, RecursionError) as error:
        raise _ours(f"it can't be written as JSON: {type(error).__name__}: {error}") from error
    if fault is not None:
        raise _ours(f"{fault[0]}: {shortened(fault[1])}")
    return line + b"\n"


def decode(line: bytes, cmd: str, seq: int) -> JSONObject | Broken:
    """Read the answer to a request, or an event on the way to it; strict JSON, and the shape that `cmd` asks for."""
    message = _document(line)
    if isinstance(message, Broken):
        return message
    return _misnumbered(message, seq) or _misshapen(message, cmd) or message


def answered(message: JSONObject) -> Answer:
    """Read the answer to an operation out of a message that `decode` let pass."""
    if message["ok"] is True:
        return Answer(message.get("output", MISSING))
    words = as_text(as_object(message.get("error")).get("message"))
    return Answer(unsupported=message.get("unsupported") is True, error=words)


def shortened(text: str) -> str:
    """Return a message fit for a person, however large the value is that it quotes."""
    return text if len(text) <= _TOLD else f"{text[: _TOLD // 2]} ... {text[-_TOLD // 2 :]}"


def _document(line: bytes) -> JSONObject | Broken:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return Broken(f"not UTF-8 (byte {error.start + 1} of the line)", remedy="Write standard output as UTF-8.")
    shown = f"{text[:_SHOWN]!r}{' ...' if len(text) > _SHOWN else ''}"
    try:
        message = loads(text)
    except ValueError as error:
        remedy = "Write nothing but messages to standard output, one on each line; other words go to standard error."
        return Broken(f"not JSON ({shortened(str(error))}): {shown}", remedy=remedy)
    return message if isinstance(message, dict) else Broken(f"not a JSON object: {shown}")


def _misnumbered(message: JSONObject, seq: int) -> Broken | None:
    given = message.get("seq", MISSING)
    unread = given is None and message.get("ok") is False
    if unread or (isinstance(given, int) and not isinstance(given, bool) and given == seq):
        return None
    said = "no seq" if given is MISSING else f"seq {json.dumps(given)[:_SHOWN]}"
    remedy = "Give each answer the seq of the request it answers, and answer each request once."
    return Broken(f"{said} in the answer to request {seq}", "$.seq", remedy)


def _misshapen(message: JSONObject, cmd: str) -> Broken | None:
    part = cmd if message.get("ok") is True and "event" not in message else "message"
    fault = _fault(RESPONSE, message, "message") or _fault(RESPONSE, message, part)
    return Broken(shortened(fault[1]), fault[0]) if fault else None


def _fault(schema: str, message: JSONObject, part: str = "") -> tuple[str, str] | None:
    """Return the place and the complaint of the first fault; a message without one is never shown to jsonschema."""
    return None if surely_conforms(schema, message, part) else next(complaints(schema, message, part), None)


def _ours(what: str) -> DriverError:
    return DriverError(
        f"a request of the suite breaks the suite's own protocol: {what}",
        where="the stdio driver",
        remedy="The adapter is not at fault. Look at the case or vector that is asked; else please report this.",
    )
