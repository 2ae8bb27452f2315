"""What can go wrong with one delivery, in Python. Places are counted in pieces of content, on every wire alike."""

from __future__ import annotations

from typing import Final, get_args

from pytest_agentcontract.scripted import demands
from pytest_agentcontract.scripted.demands import demand
from pytest_agentcontract.wire.faults import (
    ContentTypeFault,
    CutFault,
    Ending,
    ErrorFault,
    Inside,
    MalformedFault,
    SilenceFault,
    StatusFault,
)

ENDINGS: Final[tuple[str, ...]] = get_args(Ending)
INSIDES: Final[tuple[str, ...]] = get_args(Inside)
_MESSAGE = "scripted fault"
_STATUSES = range(400, 600)


def status(
    code: int, message: str = _MESSAGE, *, retry_after: float | None = None, headers: dict[str, str] | None = None
) -> StatusFault:
    """Answer with this error status, in the provider's own words; `retry_after` seconds go into that header."""
    demand(isinstance(headers or {}, dict), f"headers={headers!r} is no mapping", "Use {'name': 'value'}.")
    lines = {str(name).lower(): demands.header(name, value) for name, value in (headers or {}).items()}
    if retry_after is not None:
        lines["retry-after"] = f"{demands.seconds('retry_after', retry_after):g}"
    return StatusFault(_error_status(code), lines, demands.text("message", message))


def cut(after: int = 0, ending: Ending = "fin", inside: Inside | None = None) -> CutFault:
    """Break off after so many pieces: by FIN, by RST, or `clean`, as if that had been all."""
    demand(ending in ENDINGS, f"no connection ends by {ending!r}", f"Known: {', '.join(ENDINGS)}.")
    demand(inside in (None, *INSIDES), f"nothing is cut inside {inside!r}", f"Known: {', '.join(INSIDES)}.")
    return CutFault(_place(after), ending, inside)


def malformed(after: int = 0) -> MalformedFault:
    """Send half of the JSON of the event after so many pieces."""
    return MalformedFault(_place(after))


def error(after: int = 0, status: int = 529, message: str = _MESSAGE) -> ErrorFault:
    """Report an error inside the stream, after so many pieces."""
    return ErrorFault(_place(after), _error_status(status), demands.text("message", message))


def silence(after: int = 0) -> SilenceFault:
    """Say nothing more after so many pieces, and keep the line open."""
    return SilenceFault(_place(after))


def content_type(name: str) -> ContentTypeFault:
    """Send the answer whole, under a content type that is not its own."""
    demand(name, "a content type has a name")
    return ContentTypeFault(demands.header("content-type", name))


def _place(after: int) -> int:
    demand(demands.whole("after", after) >= 0, f"after={after}: pieces are counted from 0")
    return after


def _error_status(code: int) -> int:
    demand(demands.whole("status", code) in _STATUSES, f"{code} is no error status", "Statuses are 400 to 599.")
    return code
