"""The judge's own reading of a thread: sentinel and state lines, code, live mentions.

It is deliberately not the reference's: what an engine posted is read by somebody else's eyes, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, Missing, as_object, as_text, loads

SENTINEL, STATE = "AGENT_RUN_CONFIG", "WORKFLOW_STATE"

_ENGINE_LINE = re.compile(r"[ \t]*<!--[ \t]+(AGENT_RUN_CONFIG|WORKFLOW_STATE)(?=[ \t{])(.*)-->[ \t]*")
_OPENER = re.compile(r"<!--[ \t]+(?:AGENT_RUN_CONFIG|WORKFLOW_STATE)(?=[ \t{\r\n]|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_MENTION = re.compile(r"(?<![\w@/.+`])@([A-Za-z0-9](?:-?[A-Za-z0-9])*(?:/[A-Za-z0-9][\w.-]*)?)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)")
_TICKS = re.compile(r"`+")
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Posted:
    """One comment of a thread. `config` and `state` are MISSING where the line is not there, or can't be read."""

    author: str
    human: bool
    agent: str
    body: str
    text: str
    config: JSON | Missing
    state: JSON | Missing
    raw_config: str = ""

    @property
    def notice(self) -> bool:
        """Whether it is the engine's own word, and no agent's."""
        return not self.human and not self.agent

    def of_state(self, *keys: str) -> JSON | Missing:
        """Return what stands in the state line under nested keys."""
        value: JSON | Missing = self.state
        for key in keys:
            value = as_object(value).get(key, MISSING)
        return value


def read(comment: JSONObject) -> Posted:
    """Read a comment; only an engine's last two lines are more than text."""
    author, body = as_object(comment.get("author")), as_text(comment.get("body"))
    human = author.get("kind") != "engine"
    found, text = ({}, body) if human else _engine_lines(body)
    return Posted(
        author=as_text(author.get("name")),
        human=human,
        agent=as_text(comment.get("agent")),
        body=body,
        text=text,
        config=_document(found.get(SENTINEL)),
        state=_document(found.get(STATE)),
        raw_config=found.get(SENTINEL, ""),
    )


def payload(line: str, marker: str = SENTINEL) -> JSON | Missing:
    """Return the JSON that one line carries between the marker and the first closer, which has to be its end."""
    found = _engine_line(line)
    return _document(found[1]) if found and found[0] == marker else MISSING


def openers(text: str) -> int:
    """Count what would be read as a line of the engine's outside code."""
    return sum(len(_OPENER.findall(part)) for part in _prose(text))


def mentions(text: str) -> tuple[str, ...]:
    """Return the names that a text notifies, in order."""
    return tuple(name for part in _prose(text) for name in _MENTION.findall(part))


def visible(text: str) -> str:
    """Return a text as a person sees it: without characters that have no width, and with one kind of line end."""
    return _LINE_END.sub("\n", _INVISIBLE.sub("", text))


def _engine_lines(body: str) -> tuple[dict[str, str], str]:
    """Read the last two lines that are not blank; return what they carry, and the text above them."""
    lines = _LINE_END.split(body)
    found: dict[str, str] = {}
    while lines and len(found) < len((SENTINEL, STATE)):
        if not lines[-1].strip(" \t"):
            lines.pop()
            continue
        read_line = _engine_line(lines[-1])
        if read_line is None or read_line[0] in found or (read_line[0] == STATE and found):
            break
        found[read_line[0]] = read_line[1]
        lines.pop()
    return found, "\n".join(lines)


def _engine_line(line: str) -> tuple[str, str] | None:
    found = _ENGINE_LINE.fullmatch(line)
    return (found[1], found[2]) if found and "-->" not in found[2] else None


def _document(text: str | None) -> JSON | Missing:
    try:
        return MISSING if text is None else loads(text)
    except ValueError:
        return MISSING


# -- what is code, and what is prose ----------------------------------------------------------------------------------


def _prose(text: str) -> Iterator[str]:
    """Yield the paragraphs outside code blocks, with their code spans taken out."""
    for paragraph in _paragraphs(_LINE_END.split(text)):
        yield _without_spans("\n".join(paragraph))


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    """Group the lines that are no code by the blank lines and blocks between them."""
    paragraph: list[str] = []
    fence, listed = "", False
    for line in lines:
        opening = _FENCE.match(line)
        if fence:
            fence = "" if _closes(fence, line) else fence
        elif opening or not line.strip() or _indented(line, paragraph, listed=listed):
            fence = opening[1] if opening else ""
            yield paragraph
            paragraph = []
        else:
            paragraph.append(line)
            listed = bool(_LIST_ITEM.match(line)) or (listed and line[:1] in (" ", "\t"))
    yield paragraph


def _closes(fence: str, line: str) -> bool:
    bare = line.strip(" \t")
    return not line.startswith(("    ", "\t")) and len(bare) >= len(fence) and set(bare) == {fence[0]}


def _indented(line: str, paragraph: list[str], *, listed: bool) -> bool:
    """Tell whether a line is code by its indentation: not where it goes on a paragraph, nor in a list."""
    return line.startswith(("    ", "\t")) and not paragraph and not listed


def _without_spans(text: str) -> str:
    """Take the code spans out of a paragraph: runs of backticks, each up to the next run of the same length."""
    runs = [run for run in _TICKS.finditer(text) if not _escaped(text, run.start())]
    later: dict[int, list[int]] = {}
    for at in reversed(range(len(runs))):
        later.setdefault(len(runs[at][0]), []).append(at)
    kept, start, at = [], 0, 0
    while at < len(runs):
        same = later[len(runs[at][0])]
        while same and same[-1] <= at:
            same.pop()
        if same:
            kept.append(text[start : runs[at].start()])
            start, at = runs[same[-1]].end(), same[-1]
        at += 1
    return "`".join([*kept, text[start:]])


def _escaped(text: str, at: int) -> bool:
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1
