"""What can go wrong with one delivery, in Python. Places are counted in pieces of content, on every wire alike."""

from __future__ import annotations

from typing import Final, get_args

from pytest_agentcontract.errors import ScriptError
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
    lines = {name.lower(): value for name, value in (headers or {}).items()}
    if retry_after is not None:
        lines["retry-after"] = f"{retry_after:g}"
    return StatusFault(_error_status(code), lines, message)


def cut(after: int = 0, ending: Ending = "fin", inside: Inside | None = None) -> CutFault:
    """Break off after so many pieces: by FIN, by RST, or `clean`, as if that had been all."""
    if ending not in ENDINGS:
        raise ScriptError(f"no connection ends by {ending!r}", remedy=f"Known: {', '.join(ENDINGS)}.")
    if inside not in (None, *INSIDES):
        raise ScriptError(f"nothing is cut inside {inside!r}", remedy=f"Known: {', '.join(INSIDES)}.")
    return CutFault(_place(after), ending, inside)


def malformed(after: int = 0) -> MalformedFault:
    """Send half of the JSON of the event after so many pieces."""
    return MalformedFault(_place(after))


def error(after: int = 0, status: int = 529, message: str = _MESSAGE) -> ErrorFault:
    """Report an error inside the stream, after so many pieces."""
    return ErrorFault(_place(after), _error_status(status), message)


def silence(after: int = 0) -> SilenceFault:
    """Say nothing more after so many pieces, and keep the line open."""
    return SilenceFault(_place(after))


def content_type(name: str) -> ContentTypeFault:
    """Send the answer whole, under a content type that is not its own."""
    if not name:
        raise ScriptError("a content type has a name")
    return ContentTypeFault(name)


def _place(after: int) -> int:
    if after < 0:
        raise ScriptError(f"after={after}: pieces are counted from 0")
    return after


def _error_status(code: int) -> int:
    if code not in _STATUSES:
        raise ScriptError(f"{code} is no error status", remedy="Statuses of errors are 400 to 599.")
    return code
