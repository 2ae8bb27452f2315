"""An error of ours to a client of some provider, in the words of that provider: asking again is of no use."""

from __future__ import annotations

from pytest_agentcontract.cassette.upstreams import wire_of
from pytest_agentcontract.provider.plan import FINAL, document
from pytest_agentcontract.wire.formats import FORMATS


def refusal(path: str, status: int, message: str, *, head_only: bool = False) -> bytes:
    """Render the response to what was asked at a path below a recording's base URL; to HEAD, without its body."""
    whole = document(status, FORMATS[wire_of(path)].encode_error(status, message), FINAL)
    return b"".join(whole.partition(b"\r\n\r\n")[:2]) if head_only else whole
