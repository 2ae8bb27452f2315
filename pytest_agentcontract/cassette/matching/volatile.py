"""What real clients send anew at every run although it says nothing to the model: one table, a row for each.

A row stands only for what was seen to change between two equal runs of a client, or what its API documents as a mark
for accounting and caches. Texts are set aside in the very words of the client that writes them, so that a date or a
path that somebody asks about still tells two requests apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing

ASIDE: Final = "(set aside)"
"""What stands in a text in the place of what was set aside."""


@dataclass(frozen=True, slots=True)
class Volatile:
    """One thing to set aside: a place in the request body (`*` is any one key, `**` any number of them), and why.

    With a pattern, what matches it in the texts at and below the place; without, whatever stands there.
    """

    place: str
    reason: str
    pattern: re.Pattern[str] | None = None


def settled(body: JSON, wire: str, elided: tuple[str, ...] = ()) -> JSON:
    """Return a request body without what is volatile on its wire format ("" for none), nor what was elided."""
    rows = (*VOLATILE.get(wire, ()), *(Volatile(place, "elided") for place in elided))
    return reduce(_without, rows, body)


def texts_at(body: JSON, place: str) -> Iterator[str]:
    """Yield every text that stands at a place of a document, or below it."""
    found: list[JSON] = []

    def keep(value: JSON) -> JSON:
        found.append(value)
        return value

    _changed(body, _steps(place), keep)
    for value in found:
        yield from _texts(value)


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _without(body: JSON, row: Volatile) -> JSON:
    change = _removed if row.pattern is None else partial(_rewritten, row.pattern)
    kept = _changed(body, _steps(row.place), change)
    return None if isinstance(kept, Missing) else kept


def _steps(place: str) -> tuple[str, ...]:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:])


def _changed(value: JSON, steps: tuple[str, ...], change: Callable[[JSON], JSON | Missing]) -> JSON | Missing:
    """Change what stands at a place; what is removed from an array leaves a null, for the others keep their places."""
    if not steps:
        return change(value)
    step, rest = steps[0], steps[1:]
    if step == _ANY_DEPTH:
        here = _changed(value, rest, change)
        return here if isinstance(here, Missing) else _inside(here, lambda _key: True, steps, change)
    return _inside(value, lambda key: step in ("*", key), rest, change)


def _inside(
    value: JSON, chosen: Callable[[str], bool], steps: tuple[str, ...], change: Callable[[JSON], JSON | Missing]
) -> JSON:
    """Go on inside those of a container's values that are chosen by their keys."""
    if isinstance(value, dict) and any(map(chosen, value)):
        within = {key: _changed(inner, steps, change) if chosen(key) else inner for key, inner in value.items()}
        return {key: inner for key, inner in within.items() if not isinstance(inner, Missing)}
    if isinstance(value, list):
        items = [_changed(inner, steps, change) if chosen(str(at)) else inner for at, inner in enumerate(value)]
        return [None if isinstance(inner, Missing) else inner for inner in items]
    return value


def _removed(_value: JSON) -> Missing:
    return MISSING


def _rewritten(pattern: re.Pattern[str], value: JSON) -> JSON:
    if isinstance(value, str):
        return pattern.sub(ASIDE, value)
    if isinstance(value, list):
        return [_rewritten(pattern, inner) for inner in value]
    if isinstance(value, dict):
        return {key: _rewritten(pattern, inner) for key, inner in value.items()}
    return value


_ANY_DEPTH: Final = "**"

_CACHE_KEY = "steers the provider's cache: clients put the id of their session there"
_USER = "names the end user for abuse reports: clients put random ids there"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_OPENAI = (
    Volatile("/prompt_cache_key", _CACHE_KEY),
    Volatile("/safety_identifier", _USER),
    Volatile("/user", _USER),
)

VOLATILE: Final[Mapping[str, tuple[Volatile, ...]]] = {
    "anthropic-messages": (
        Volatile("/metadata/user_id", f"{_USER}; Claude Code's holds the id of its session"),
        Volatile(
            "/system/*/text",
            "Claude Code: the folder it works in, where its memory is, and the operating system's version",
            re.compile(r"persistent file-based memory at `[^`\n]*`| - Primary working directory: .*| - OS Version: .*"),
        ),
        Volatile(
            "/messages/*/content",
            "Claude Code: the date, as a reminder in the first message of the user's",
            re.compile(r"# currentDate\nToday's date is [\d-]+\."),
        ),
    ),
    "openai-chat": _OPENAI,
    "openai-responses": (
        *_OPENAI,
        Volatile("/client_metadata", "Codex: ids of its installation, session, thread and turn, and the time"),
        Volatile(
            "/input/*/id", "Codex: an id of its own for each item that it adds", re.compile(rf"\A[a-z]+_{_UUID}\Z")
        ),
        Volatile(
            "/input/*/content",
            "Codex: folder, shell, date and time zone, as a message of the user's; where its skills are",
            re.compile(r"\A<environment_context>(?s:.*)</environment_context>\s*\Z|^- `r\d+` = `.*`$", re.MULTILINE),
        ),
        Volatile(
            "/input/*/output",
            "Codex: how long a command ran, and a random id of its output",
            re.compile(
                r"\AChunk ID: [0-9a-f]+\nWall time: [\d.]+ seconds\n"
                r"|\AScript completed\nWall time [\d.]+ seconds\n"
                r'|"chunk_id":"[0-9a-f]+","wall_time_seconds":[\d.e-]+'
            ),
        ),
    ),
    "gemini-generate": (
        Volatile(
            "/contents/*/parts/*/text",
            "Gemini CLI: date, operating system and folders, as the first message of the user's",
            re.compile(r"\A<session_context>\nThis is the Gemini CLI\..*</session_context>\s*\Z", re.DOTALL),
        ),
        Volatile(
            "/contents/*/parts/*/functionResponse/response",
            "Gemini CLI: the number of a command's process group",
            re.compile(r"^Process Group PGID: \d+$", re.MULTILINE),
        ),
        Volatile(
            "/systemInstruction/parts/*/text",
            "Gemini CLI: where its memory of the project is, and the folders of a sub-agent",
            re.compile(
                r"\*\*Private Project Memory\*\* \(`[^`\n]*`\)"
                r"|# Environment Context\n- \*\*Workspace Directories:\*\*(?s:.*?)\nImportant Rules:"
            ),
        ),
    ),
}
"""By the name of the wire format."""
