"""Text of strangers for a page of Markdown: it stays text, on one line, and is the same in a run tomorrow."""

from __future__ import annotations

import re
from typing import Final

from pytest_agentcontract.report.text import harmless, shortened

_SPECIAL = re.compile(r"[&<>|`*_\[\]\\~$@#!]|:(?=//)|(?<=www)\.", re.IGNORECASE)
"""What Markdown, HTML, a table's cell, a mention, a formula or an automatic link is made of."""

_NAME: Final = re.compile(r"[A-Za-z0-9]+(?:[:./ -][A-Za-z0-9]+)*")
_ROOTS: Final = "tmp|var|home|root|usr|opt|srv|mnt|private|work|builds|Users|__w"
_PASSING: Final = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"https?://(?:127\.0\.0\.1|localhost|\[::1\])[^\s\"'<>`)\]}]*", "{url}"),
        (r"(?<![\w.])127\.0\.0\.1:\d+", "{address}"),
        (rf"(?<![\w./])/(?:{_ROOTS})(?:/[^\s\"'<>`,;:)\]}}]+)+", "{path}"),
        (r"\b[A-Za-z]:\\[^\s\"'<>`,;)\]}]+", "{path}"),
        (r"\bagent-contract-[a-z0-9_]{8}\b", "{folder}"),
        (r"(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])", "{id}"),
        (r"(?<![0-9A-Za-z])[0-9a-f]{16,}(?![0-9A-Za-z])", "{id}"),
        (r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])", "{nonce}"),
        (r"\b0x[0-9a-f]{4,}\b", "{address}"),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "{time}"),
        (r"\b\d+(?:\.\d+)? ?(?:s|ms|us|secs?|seconds?|milliseconds?)\b", "{time}"),
        (r"\b(requests?) #?\d+(?:(?:, | and |-)#?\d+)*", r"\1 {number}"),
        (r"\b(pid|PID|port|process) #?\d+", r"\1 {number}"),
    )
)
"""What differs from run to run: ports, folders, made-up values, times, and the order in which agents get to ask."""


def steady(text: str) -> str:
    """Return `text` with what changes from run to run written as what it is."""
    for pattern, word in _PASSING:
        text = pattern.sub(word, text)
    return text


def code(text: str, limit: int) -> str:
    """Return `text` as inline code, no longer than `limit` characters before it is escaped."""
    line = shortened(harmless(text).replace("\t", " "), limit)
    return f"<code>{_SPECIAL.sub(_entity, line)}</code>" if line else ""


def name(text: str, limit: int) -> str:
    """Return a name or a plain sentence as it is, anything else as inline code."""
    safe = len(text) <= limit and _NAME.fullmatch(text) and not text.lower().startswith("www.")
    return text if safe else code(text, limit) or "(none)"


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"
