"""Recorded exchange -> what it says: whose wire format it speaks, the request, the turn that answers it, what broke.

A stream is read as far as it goes; what struck it is told as the fault that a script would give in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pytest_agentcontract.cassette.exchange import Cassette, Recorded
from pytest_agentcontract.cassette.exchange import Ending as RecordedEnding
from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON, as_list, as_object, loads
from pytest_agentcontract.recorded.failing import error_of, message_of, reports
from pytest_agentcontract.wire.faults import (
    ContentTypeFault,
    CutFault,
    Ending,
    Fault,
    MalformedFault,
    SilenceFault,
    StatusFault,
)
from pytest_agentcontract.wire.formats import FORMATS, WireFormat
from pytest_agentcontract.wire.request import Request
from pytest_agentcontract.wire.sse import Frame, Reader
from pytest_agentcontract.wire.turn import Turn

Kind: TypeAlias = Literal["model", "side", "other"]
"""A model request, what clients ask beside those (token counts, lists of models), or what no wire format owns."""

KEPT_HEADERS: Final[tuple[str, ...]] = ("retry-after", "retry-after-ms", "x-should-retry")
"""The headers of an error that change what a client does next."""

_OK, _ERRORS = range(200, 300), range(400, 600)
_STREAM = "text/event-stream"
_DONE = "[DONE]"
_CUTS: Final[Mapping[RecordedEnding, Ending]] = {"reset": "rst", "closed": "fin", "whole": "clean"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One exchange, read. `number` counts from 0, as everywhere; `wire` is a name, "" for what is no model request.

    `turn` is what was said, as far as it came: None where nothing can be read. `fault` is what struck the answer; its
    place is left open (0), for `turn` says how far it went. `problem` says why the request or the answer can't be read.
    """

    number: int
    recorded: Recorded
    kind: Kind
    wire: str = ""
    request: Request | None = None
    turn: Turn | None = None
    fault: Fault | None = None
    problem: str = ""

    @property
    def format(self) -> WireFormat:
        """The wire format of a model request."""
        return FORMATS[self.wire]

    @property
    def asked(self) -> Request:
        """The request, where it could be read."""
        if self.request is None:
            raise WireError(self.problem)
        return self.request


def read_all(cassette: Cassette) -> tuple[Reading, ...]:
    """Read every exchange of a cassette; nothing is too strange for that."""
    upstreams = tuple(cassette.origin.upstreams.values())
    return tuple(read(number, recorded, upstreams) for number, recorded in enumerate(cassette.exchanges))


def read(number: int, recorded: Recorded, upstreams: tuple[str, ...] = ()) -> Reading:
    """Read one exchange; `upstreams` are the base URLs that it may stand below."""
    for path in _paths(recorded.url, upstreams):
        owner = next((wire for wire in FORMATS.values() if wire.owns(recorded.method, path)), None)
        if owner is not None:
            return answered(_request(Reading(number, recorded, "model", owner.NAME), path))
        if recorded.method == "HEAD" or any(_is_side(wire, recorded, path) for wire in FORMATS.values()):
            return Reading(number, recorded, "side")
    return Reading(number, recorded, "other", problem=f"no wire format knows {recorded.method} {recorded.url}")


def _is_side(wire: WireFormat, recorded: Recorded, path: str) -> bool:
    return wire.side_answer(recorded.method, path, recorded.request_body) is not None


def _paths(url: str, upstreams: tuple[str, ...]) -> Iterator[str]:
    """Yield what may be the path below a base URL: below one that is known, else every end of the path."""
    path = urlsplit(url).path
    for base in upstreams:
        if url.startswith(f"{base.rstrip('/')}/"):
            yield path[len(urlsplit(base).path.rstrip("/")) :]
            return
    yield from (path[at:] for at, character in enumerate(path) if character == "/")


def _request(reading: Reading, path: str) -> Reading:
    recorded = reading.recorded
    query = urlsplit(recorded.url).query
    try:
        body = loads(recorded.request_body.decode())
        return replace(reading, request=reading.format.decode_request(body, f"{path}?{query}" if query else path))
    except (ValueError, WireError) as error:
        return replace(reading, problem=f"the request can't be read: {_one_line(error)}")


# -- answers ----------------------------------------------------------------------------------------------------------


def answered(reading: Reading) -> Reading:
    """Read the answer of a model request whose request is read already."""
    recorded, status = reading.recorded, reading.recorded.status
    if reading.request is None:
        return reading
    if status == 0:
        return replace(reading, turn=Turn(), fault=_broken(recorded.ending))
    if status in _ERRORS:
        return replace(reading, fault=_status(recorded))
    if status not in _OK:
        return replace(reading, problem=f"status {status} is neither an answer nor an error")
    return _streamed(reading) if _is_stream(reading) else _whole(reading)


def _broken(ending: RecordedEnding) -> Fault:
    """Return the fault that ends an answer so; of a client that left nobody knows what it would have been sent."""
    return SilenceFault(0) if ending == "hung-up" else CutFault(0, _CUTS[ending])


def _status(recorded: Recorded) -> StatusFault:
    told = {name.lower(): value for name, value in recorded.headers}
    headers = {name: told[name] for name in KEPT_HEADERS if name in told}
    return StatusFault(recorded.status, headers, message_of(_document(recorded.body)))


def _document(data: bytes) -> JSON:
    try:
        return loads(data)
    except ValueError:
        return None


def content_type(recorded: Recorded) -> str:
    """Return the content type of an answer, without its parameters."""
    kinds = [value for name, value in recorded.headers if name.lower() == "content-type"]
    return kinds[-1].partition(";")[0].strip().lower() if kinds else ""


def _is_stream(reading: Reading) -> bool:
    """Tell whether an answer is to be read as a stream: as it was asked for, unless it is a document all the same."""
    asked, kind = reading.asked.stream, content_type(reading.recorded)
    if kind == _STREAM or not asked:
        return kind == _STREAM or asked
    return _document(reading.recorded.body) is None


def _whole(reading: Reading) -> Reading:
    recorded = reading.recorded
    body = _document(recorded.body)
    if body is None:
        return _half(reading)
    try:
        turn = reading.format.decode_whole(body)
    except WireError as error:
        if message_of(body):
            return replace(reading, turn=Turn(), fault=error_of(reading.format, body, streamed=False))
        return replace(reading, problem=f"the answer can't be read: {_one_line(error)}")
    return replace(reading, turn=turn, fault=_mislabelled(reading, "application/json"))


def _half(reading: Reading) -> Reading:
    """Read a document that can't be read: what it was going to say is unknown."""
    recorded = reading.recorded
    begun = recorded.body.lstrip().startswith(b"{")
    if recorded.ending == "whole" and recorded.body and not begun:
        words = content_type(recorded) or "no JSON"
        return replace(reading, problem=f"the answer can't be read: {words} stands where a document is asked for")
    fault = MalformedFault(0) if recorded.ending == "whole" and begun else _broken(recorded.ending)
    return replace(reading, turn=Turn(), fault=fault)


def _streamed(reading: Reading) -> Reading:
    recorded, wire = reading.recorded, reading.format
    reader = Reader()
    try:
        frames = reader.feed(recorded.body)
        spoilt = next((at for at, frame in enumerate(frames) if _spoilt(frame)), None)
        failed = next((at for at, frame in enumerate(frames) if _failure(frame) is not None), None)
        said = frames[: min(at for at in (spoilt, failed, len(frames)) if at is not None)]
        turn = wire.decode_stream(said)
    except (UnicodeDecodeError, WireError) as error:
        return replace(reading, problem=f"the answer can't be read: {_one_line(error)}")
    if failed is not None and (spoilt is None or failed < spoilt):
        return replace(reading, turn=turn, fault=error_of(wire, _failure(frames[failed]), streamed=True))
    if spoilt is not None:
        return replace(reading, turn=turn, fault=MalformedFault(0))
    unmarked = bool(frames) and recorded.ending == "whole" and wire.NAME in _UNMARKED
    if unmarked or any(_ends(wire.NAME, frame) for frame in frames):
        return replace(reading, turn=turn, fault=_mislabelled(reading, _STREAM))
    kind = content_type(recorded)
    if not frames and recorded.ending == "whole" and recorded.body and kind != _STREAM:
        return replace(reading, problem=f"the answer can't be read: {kind or 'no event'} stands where a stream is")
    fault = _broken(recorded.ending)
    if isinstance(fault, CutFault) and recorded.body and (reader.unfinished or not _says(turn)):
        fault = replace(fault, inside="event")
    return replace(reading, turn=turn, fault=fault)


def _mislabelled(reading: Reading, kind: str) -> Fault | None:
    """Return the fault of an answer that is good and bears a content type that is not its own."""
    given = content_type(reading.recorded)
    return ContentTypeFault(given) if given and given != kind else None


def documents(reading: Reading) -> tuple[JSON, ...]:
    """Return the JSON documents that an answer is made of, the unreadable left out: one, or one for each event."""
    if reading.request is None or not _is_stream(reading):
        return (_document(reading.recorded.body),)
    try:
        frames = Reader().feed(reading.recorded.body)
    except UnicodeDecodeError:
        return ()
    return tuple(_document(frame.data.encode("utf-8", "surrogatepass")) for frame in frames)


def reported(reading: Reading) -> JSON:
    """Return the body of the error that an answer reports, None if it reports none."""
    if isinstance(reading.fault, StatusFault):
        return _document(reading.recorded.body)
    return next((body for body in documents(reading) if reports(body)), None)


def _spoilt(frame: Frame) -> bool:
    return frame.data != _DONE and _document(frame.data.encode("utf-8", "surrogatepass")) is None


def _failure(frame: Frame) -> JSON:
    """Return the body of the error that an event reports, None if it reports none."""
    body = _document(frame.data.encode("utf-8", "surrogatepass"))
    return body if reports(body) else None


def _says(turn: Turn) -> bool:
    return bool(turn.prose or turn.thinking or turn.calls)


_ENDS: Final[Mapping[str, Callable[[Frame, Mapping[str, JSON]], bool]]] = {
    "anthropic-messages": lambda _, body: body.get("type") == "message_stop",
    "openai-chat": lambda frame, _: frame.data == _DONE,
    "openai-responses": lambda _, body: body.get("type") in ("response.completed", "response.incomplete"),
    "gemini-generate": lambda _, body: any("finishReason" in as_object(one) for one in as_list(body.get("candidates"))),
}
"""What the last event of a whole stream says."""

_UNMARKED: Final = frozenset({"gemini-generate"})
"""Formats whose streams end without a word of it where the model says no reason to stop."""


def _ends(wire: str, frame: Frame) -> bool:
    return _ENDS[wire](frame, as_object(_document(frame.data.encode("utf-8", "surrogatepass"))))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
