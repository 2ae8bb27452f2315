"""Text of strangers made fit for a terminal, a file and a pipe."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_OPEN_END = re.compile(r"(?<=[^\s.:;,!?])\n\s+(?=[A-Z])")  # a remedy stands on a line of its own


def harmless(text: str) -> str:
    """Return `text` with lone surrogates and control characters written as escapes; tabs and newlines stay."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shortened(text: str, limit: int) -> str:
    """Return `text` on one line and no longer than `limit`: the beginning and the end of it."""
    line = " ".join(_OPEN_END.sub(". ", text).split())
    if len(line) <= limit:
        return line
    half = (limit - 5) // 2
    return f"{line[:half]} ... {line[-half:]}"


def indented(text: str, prefix: str = "    ") -> str:
    """Return `text` with `prefix` before each of its lines."""
    return "\n".join(prefix + line for line in text.split("\n"))


def counted(number: int, noun: str) -> str:
    """Return `0 faults`, `1 fault`, `2 faults`."""
    return f"{number} {noun}{'s' * (number != 1)}"
