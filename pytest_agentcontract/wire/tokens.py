"""How many tokens a request has: nobody compares this number, but clients ask for one and plan by it."""

from __future__ import annotations

_BYTES_OF_A_TOKEN = 4


def estimate(body: bytes) -> int:
    """Return about how many tokens a request body comes to, at least one."""
    return len(body) // _BYTES_OF_A_TOKEN + 1
