"""Each fault, byte by byte on the wire; and what the official SDKs make of it: their own typed errors."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
import pytest

from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.wire.faults import (
    ContentTypeFault,
    CutFault,
    ErrorFault,
    Fault,
    MalformedFault,
    Pace,
    SilenceFault,
    StatusFault,
)
from tests.provider.test_clients import chat, messages

Play = Callable[..., Any]

TEXT = "größer, länger, später ünd " * 4
ASK = {"anthropic-messages": messages, "openai-chat": chat}
WIRES = pytest.mark.parametrize("wire", ASK)
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
ENDINGS = pytest.mark.parametrize("ending", ["fin", "rst"])
LAST = {"anthropic-messages": b"message_stop", "openai-chat": b"[DONE]"}
STATUSES = (400, 401, 403, 404, 413, 429, 500, 503, 529)


@dataclass(frozen=True)
class Got:
    """One response as a client without mercy reads it; `whole` says that HTTP found nothing missing."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool
    end: str

    @property
    def frames(self) -> list[bytes]:
        """The finished events of a stream; what is no finished event is none."""
        return self.body.split(b"\n\n")[:-1]

    @property
    def texts(self) -> list[str]:
        """The pieces of text that arrived, in order."""
        found = (re.search(rb'"(?:text|content)": ?("(?:[^"\\]|\\.)+")', frame) for frame in self.frames)
        return [json.loads(text[1]) for text in found if text]


def got(table: Any, **extra: object) -> Got:
    """Ask over a bare connection that is to be closed after the answer, and take the answer apart."""
    line = table.raw(table.request(**extra).replace(b"host: x", b"host: x\r\nconnection: close"))
    head, _, rest = line.read_to_end().partition(b"\r\n\r\n")
    if not head:
        return Got(0, {}, b"", whole=False, end=line.end)
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (text.partition(":") for text in lines)}
    if "chunked" not in headers.get("transfer-encoding", ""):
        whole = len(rest) == int(headers["content-length"])
        return Got(int(first.split()[1]), headers, rest, whole, line.end)
    body, whole = dechunked(rest)
    return Got(int(first.split()[1]), headers, body, whole, line.end)


def dechunked(data: bytes) -> tuple[bytes, bool]:
    """Read chunks as far as they go, and say whether the last one came."""
    body = b""
    while (size := data.partition(b"\r\n"))[1]:
        length = int(size[0], 16)
        if not length:
            return body, True
        body, data = body + size[2][:length], size[2][length + 2 :]
    return body, False


def struck(play: Play, wire: str, fault: Fault | None, **more: Any) -> Any:
    """Seat a turn whose first delivery is struck by a fault."""
    return play(ScriptedTurn(text=TEXT, fault=fault, **more), wire=wire)


def undisturbed(play: Play, wire: str, *, stream: bool) -> Got:
    """Return what would have been sent."""
    return got(struck(play, wire, None), stream=stream)


# ---- on the wire


@WIRES
@STREAM
@pytest.mark.parametrize("status", STATUSES)
def test_a_status_bears_the_native_error_and_the_scripted_headers(
    play: Play, wire: str, status: int, *, stream: bool
) -> None:
    """Asked for a stream or not, an error is a document."""
    answer = got(struck(play, wire, StatusFault(status, {"retry-after": "7"}, "no luck")), stream=stream)
    assert (answer.status, answer.whole) == (status, True)
    assert (answer.headers["content-type"], answer.headers["retry-after"]) == ("application/json", "7")
    assert json.loads(answer.body)["error"]["message"] == "no luck"


@WIRES
@STREAM
@ENDINGS
def test_a_cut_before_the_first_byte_leaves_nothing(play: Play, wire: str, ending: Any, *, stream: bool) -> None:
    """Not even a status line."""
    assert got(struck(play, wire, CutFault(0, ending)), stream=stream) == Got(0, {}, b"", whole=False, end=ending)


@WIRES
@ENDINGS
def test_a_cut_stream_ends_after_its_deltas(play: Play, wire: str, ending: Any) -> None:
    """What was sent is what would have been sent, up to there; the last chunk never comes."""
    full = undisturbed(play, wire, stream=True)
    answer = got(struck(play, wire, CutFault(3, ending)), stream=True)
    assert (answer.status, answer.whole, answer.end) == (200, False, ending)
    assert answer.texts == full.texts[:3]
    assert full.body.startswith(answer.body)
    assert answer.body.endswith(b"\n\n")


@WIRES
@ENDINGS
def test_a_cut_document_is_shorter_than_its_length_says(play: Play, wire: str, ending: Any) -> None:
    """It counts as one delta, so any number cuts it in its middle."""
    full = undisturbed(play, wire, stream=False)
    answer = got(struck(play, wire, CutFault(1, ending)))
    assert (answer.status, answer.whole, answer.end) == (200, False, ending)
    assert full.body.startswith(answer.body)
    assert 0 < len(answer.body) < len(full.body)


@WIRES
@STREAM
def test_a_clean_cut_of_everything_is_a_success_that_holds_nothing(play: Play, wire: str, *, stream: bool) -> None:
    """HTTP finds nothing wrong with it."""
    full = undisturbed(play, wire, stream=stream)
    answer = got(struck(play, wire, CutFault(0, "clean")), stream=stream)
    assert (answer.status, answer.body, answer.whole, answer.end) == (200, b"", True, "fin")
    assert answer.headers["content-type"] == full.headers["content-type"]


@WIRES
@pytest.mark.parametrize("deltas", [3, 8, 99])
def test_a_clean_cut_leaves_out_the_end_of_the_stream(play: Play, wire: str, deltas: int) -> None:
    """The framing is whole, the answer is not: nothing that says that it is over."""
    full = undisturbed(play, wire, stream=True)
    answer = got(struck(play, wire, CutFault(deltas, "clean")), stream=True)
    assert (answer.whole, answer.texts) == (True, full.texts[:deltas])
    assert LAST[wire] in full.body
    assert LAST[wire] not in answer.body
    assert full.body.startswith(answer.body)


@WIRES
@ENDINGS
def test_a_cut_inside_an_event_leaves_half_of_it(play: Play, wire: str, ending: Any) -> None:
    """The next delta's event has begun, and its blank line never comes."""
    full = undisturbed(play, wire, stream=True)
    answer = got(struck(play, wire, CutFault(3, ending, "event")), stream=True)
    assert (answer.whole, answer.texts, answer.end) == (False, full.texts[:3], ending)
    assert full.body.startswith(answer.body)
    assert not answer.body.endswith(b"\n")
    answer.body.decode()


@WIRES
def test_a_cut_inside_a_character_leaves_no_text(play: Play, wire: str) -> None:
    """The last byte is the first of several."""
    full = undisturbed(play, wire, stream=True)
    answer = got(struck(play, wire, CutFault(3, "fin", "character")), stream=True)
    assert (answer.whole, answer.texts) == (False, full.texts[:3])
    assert full.body.startswith(answer.body)
    with pytest.raises(UnicodeDecodeError, match="unexpected end of data"):
        answer.body.decode()


@WIRES
@pytest.mark.parametrize("deltas", [0, 3, 7, 99])
def test_a_malformed_event_stands_among_good_ones(play: Play, wire: str, deltas: int) -> None:
    """One event is no JSON; all others are what they would have been, to the last."""
    full = undisturbed(play, wire, stream=True)
    answer = got(struck(play, wire, MalformedFault(deltas)), stream=True)
    odd = [(ours, theirs) for ours, theirs in zip(answer.frames, full.frames, strict=True) if ours != theirs]
    assert answer.whole
    assert len(odd) == 1
    assert full.texts[min(deltas, 7)] in odd[0][1].decode()
    with pytest.raises(ValueError, match=r".+"):
        json.loads(odd[0][0].partition(b"data: ")[2])


@WIRES
def test_a_malformed_document_is_half_of_one(play: Play, wire: str) -> None:
    """Its length is right, its JSON is not."""
    answer = got(struck(play, wire, MalformedFault()))
    assert (answer.status, answer.whole) == (200, True)
    with pytest.raises(ValueError, match=r".+"):
        json.loads(answer.body)


@WIRES
def test_an_error_event_ends_a_stream_that_began_well(play: Play, wire: str) -> None:
    """Status 200, three pieces, then the error in the wire's own words, and nothing after it."""
    full = undisturbed(play, wire, stream=True)
    answer = got(struck(play, wire, ErrorFault(3, 529, "too much")), stream=True)
    assert (answer.status, answer.whole, answer.texts) == (200, True, full.texts[:3])
    assert json.loads(answer.frames[-1].partition(b"data: ")[2])["error"]["message"] == "too much"
    assert LAST[wire] not in answer.body


@WIRES
def test_an_error_in_a_whole_answer_is_its_status(play: Play, wire: str) -> None:
    """There is no stream to report it in."""
    answer = got(struck(play, wire, ErrorFault(3, 503, "too much")))
    assert (answer.status, json.loads(answer.body)["error"]["message"]) == (503, "too much")


@WIRES
@STREAM
def test_silence_keeps_the_line_open_and_says_nothing(play: Play, wire: str, *, stream: bool) -> None:
    """Not a byte comes until the run is over; then the line is closed."""
    table = struck(play, wire, SilenceFault())
    line = table.raw(table.request(stream=stream))
    line.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        line.socket.recv(1)
    line.socket.settimeout(5)
    table.seat.over()
    assert (line.read_to_end(), line.end) == (b"", "fin")


@WIRES
def test_silence_falls_after_its_deltas(play: Play, wire: str) -> None:
    """Three pieces come at once, the fourth never."""
    full = undisturbed(play, wire, stream=True)
    table = struck(play, wire, SilenceFault(3))
    line = table.raw(table.request(stream=True))
    heard = line.read_until(full.frames[[TEXT[:2] in f.decode() for f in full.frames].index(True) + 2])
    line.socket.settimeout(0.1)
    with pytest.raises(TimeoutError):
        line.socket.recv(4096)
    line.socket.settimeout(5)
    table.seat.over()
    rest = line.read_to_end()
    body, whole = dechunked(heard.partition(b"\r\n\r\n")[2] + rest)
    assert (Got(200, {}, body, whole, line.end).texts, whole, line.end) == (full.texts[:3], False, "fin")


@WIRES
@STREAM
def test_a_wrong_label_changes_the_label_alone(play: Play, wire: str, *, stream: bool) -> None:
    """The whole answer comes under a content type that is not its own."""
    full = undisturbed(play, wire, stream=stream)
    answer = got(struck(play, wire, ContentTypeFault("text/html")), stream=stream)
    assert (answer.headers.pop("content-type"), full.headers.pop("content-type")) == (
        "text/html",
        "text/event-stream" if stream else "application/json",
    )
    assert answer == full


@WIRES
@STREAM
def test_a_pace_slows_an_answer_down_and_changes_nothing_else(play: Play, wire: str, *, stream: bool) -> None:
    """Seconds pass before the first byte, and between two events; a document has no between."""
    full = undisturbed(play, wire, stream=stream)
    table = struck(play, wire, None, pace=Pace(first=0.1, between=0.02))
    begun = time.monotonic()
    answer = got(table, stream=stream)
    least = 0.1 + 0.02 * (len(full.frames) - 1 if stream else 0)
    assert answer == full
    assert time.monotonic() - begun >= least


@WIRES
@pytest.mark.parametrize(
    "fault",
    [CutFault(0, "clean"), CutFault(3, "clean"), MalformedFault(3), ErrorFault(3), ContentTypeFault("text/html")],
    ids=str,
)
def test_a_connection_outlives_what_http_finds_nothing_wrong_with(play: Play, wire: str, fault: Fault) -> None:
    """The same request again, over the same connection, gets the whole answer."""
    table = struck(play, wire, fault)
    line = table.raw(table.request(stream=True))
    line.read_until(b"0\r\n\r\n")
    line.socket.sendall(table.request(stream=True))
    assert LAST[wire] in line.read_until(LAST[wire])
    assert [(one.kind, one.delivered, one.retry) for one in table.close()] == [
        ("fault", False, False),
        ("turn", True, True),
    ]


# ---- what the official SDKs make of it

ERRORS: dict[str, Any] = {"anthropic-messages": anthropic, "openai-chat": openai}
NAMES = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    404: "NotFoundError",
    413: "APIStatusError",
    429: "RateLimitError",
    500: "InternalServerError",
    503: "InternalServerError",
    529: "InternalServerError",
}


def caught(play: Play, wire: str, fault: Fault, *, stream: bool) -> Exception:
    """Return what an SDK raises that asks once and is not patient."""
    with pytest.raises(Exception, match=r"(?s).*") as error:
        ASK[wire](struck(play, wire, fault), stream=stream, max_retries=0, timeout=0.4)
    return error.value


@WIRES
@STREAM
@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_the_sdks_own_error(play: Play, wire: str, status: int, *, stream: bool) -> None:
    """By its class, with status, message and the header that says when to come again."""
    error: Any = caught(play, wire, StatusFault(status, {"retry-after": "7"}, "no luck"), stream=stream)
    assert isinstance(error, getattr(ERRORS[wire], NAMES[status]))
    assert (error.status_code, error.response.headers["retry-after"]) == (status, "7")
    assert "no luck" in str(error)
    assert error.request_id.startswith("req_")


@WIRES
@STREAM
@ENDINGS
def test_a_cut_before_the_first_byte_is_a_connection_error(play: Play, wire: str, ending: Any, *, stream: bool) -> None:
    """And no other kind."""
    error = caught(play, wire, CutFault(0, ending), stream=stream)
    assert isinstance(error, ERRORS[wire].APIConnectionError)
    assert not isinstance(error, ERRORS[wire].APITimeoutError)


def of_the_transport(error: Exception, wire: str, kind: str) -> bool:
    """Tell whether an error is the SDK's own, or that of the HTTP client below: streams are read without a wrapper."""
    names = {kind_.__name__ for kind_ in type(error).__mro__}
    return isinstance(error, ERRORS[wire].APIConnectionError) or kind in names


@WIRES
@STREAM
@pytest.mark.parametrize(
    "fault", [CutFault(2), CutFault(2, "rst"), CutFault(2, "fin", "event"), CutFault(2, "fin", "character")], ids=str
)
def test_a_cut_in_the_middle_is_an_error_of_the_connection(
    play: Play, wire: str, fault: Fault, *, stream: bool
) -> None:
    """No SDK takes it for the answer."""
    assert of_the_transport(caught(play, wire, fault, stream=stream), wire, "TransportError")


@WIRES
@STREAM
@pytest.mark.parametrize("deltas", [0, 2])
def test_silence_is_a_time_out(play: Play, wire: str, deltas: int, *, stream: bool) -> None:
    """Before the first byte it is the SDK's own error; in the middle of a stream it may be that of the HTTP client."""
    error = caught(play, wire, SilenceFault(deltas), stream=stream)
    if not (stream and deltas):
        assert isinstance(error, ERRORS[wire].APITimeoutError)
    assert of_the_transport(error, wire, "TimeoutException")


@WIRES
@pytest.mark.parametrize("deltas", [0, 2])
def test_an_error_event_is_the_sdks_own_error(play: Play, wire: str, deltas: int) -> None:
    """With the message that the provider gave."""
    error = caught(play, wire, ErrorFault(deltas, 529, "too much"), stream=True)
    assert isinstance(error, ERRORS[wire].APIError)
    assert "too much" in str(error)


@WIRES
@STREAM
def test_what_is_malformed_is_no_answer(play: Play, wire: str, *, stream: bool) -> None:
    """It is no JSON, or no UTF-8 where a document was cut in two."""
    assert isinstance(caught(play, wire, MalformedFault(2), stream=stream), ValueError)


@WIRES
def test_a_success_that_holds_nothing_is_no_answer(play: Play, wire: str) -> None:
    """The helpers for streams find no message in it."""
    assert isinstance(caught(play, wire, CutFault(0, "clean"), stream=True), Exception)


@WIRES
def test_the_helpers_take_a_stream_without_its_end_for_whole(play: Play, wire: str) -> None:
    """Which is why a runtime has to look for the end itself: a fragment comes back without any error."""
    text, _ = ASK[wire](struck(play, wire, CutFault(2, "clean")), stream=True, max_retries=0)
    assert TEXT.startswith(text)
    assert len(text) < len(TEXT)


@WIRES
@STREAM
def test_the_sdks_do_not_look_at_the_label(play: Play, wire: str, *, stream: bool) -> None:
    """The answer is read as it was asked for."""
    assert ASK[wire](struck(play, wire, ContentTypeFault("text/html")), stream=stream, max_retries=0) == (TEXT, [])


@WIRES
@STREAM
@pytest.mark.parametrize(
    "fault", [StatusFault(429, {"retry-after-ms": "1"}), StatusFault(503), CutFault(0), CutFault(0, "rst")], ids=str
)
def test_the_sdks_retry_what_passes_and_get_the_turn(play: Play, wire: str, fault: Fault, *, stream: bool) -> None:
    """Their own retry is served the very turn that was struck."""
    table = struck(play, wire, fault)
    assert ASK[wire](table, stream=stream) == (TEXT, [])
    assert [(one.kind, one.turn, one.retry, one.delivered) for one in table.close()] == [
        ("fault", 1, False, False),
        ("turn", 1, True, True),
    ]
