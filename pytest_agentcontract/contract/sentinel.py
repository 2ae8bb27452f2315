"""The sentinel: a decision as a one-line HTML comment, written by the engine and read back by whoever comes later.

Reading never raises: it gives the decision, a Diagnostic where a marker stands that can't be read, or None where there
is no marker at all. It takes time linear in the text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.contract.checker import Diagnostic, document
from pytest_agentcontract.contract.handoff import AgentRunConfig
from pytest_agentcontract.contract.quoting import quoted
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps

MARKER: Final = "AGENT_RUN_CONFIG"
ZERO_WIDTH_SPACE: Final = "\u200b"

OPENER = re.compile(rf"(?P<bracket><|&lt;)!--[ \t]++{MARKER}(?=[ \t{{\r\n]|\Z)")
CLOSER = re.compile("-->")
LINE_END = re.compile(r"[\r\n]|\Z")
LOOKALIKE = re.compile(r"(<!--\s*+)(?=AGENT_RUN_CONFIG|WORKFLOW_STATE)", re.IGNORECASE)
UNSAFE = re.compile("[<>&@`\x7f-\x9f\u2028\u2029]|(?<=-)-")
"""What could end a comment, open another, mention somebody or break a line; in rendered JSON only strings hold it."""

UNFINISHED = Diagnostic("the comment is not closed on its line")
ESCAPED = Diagnostic("the comment is HTML-escaped")


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment on one line: where its payload starts, where that of the last opener inside it does, and its end."""

    start: int
    inner: int
    end: int


_Mark = _Comment | Diagnostic
Model = Callable[[JSON], AgentRunConfig | Diagnostic]
"""What a payload is held against."""


def render(config: AgentRunConfig) -> str:
    """Render a decision as its sentinel line; nothing in a string of it can end the comment."""
    return comment_line(MARKER, config.to_json())


def parse(text: str, model: Model = AgentRunConfig.from_json) -> AgentRunConfig | Diagnostic | None:
    """Read the decision out of an agent's text: of several sentinels outside quotes the last one counts."""
    if MARKER not in text:
        return None
    last = deque(_marks(text), maxlen=1)
    return _read(text, last[0], model) if last else None


def neutralised(text: str) -> str:
    """Return an agent's text with every look-alike of the engine's own lines broken, also where it is only quoted."""
    return LOOKALIKE.sub(rf"\g<1>{ZERO_WIDTH_SPACE}", text)


def comment_line(marker: str, value: JSONObject) -> str:
    """Render `value` as a one-line HTML comment under `marker`."""
    payload = UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", dumps(value))
    return f"<!-- {marker} {payload} -->"


def payload_of(marker: str, line: str) -> str | None:
    """Return the payload of a line that is nothing but a comment under `marker`, else None."""
    bare = line.strip(" \t")
    opener = re.match(rf"<!--[ \t]++{marker}(?=[ \t{{])", bare)
    closer = CLOSER.search(bare, opener.end()) if opener else None
    return bare[opener.end() : closer.start()] if opener and closer and closer.end() == len(bare) else None


def config_of(payload: str, model: Model = AgentRunConfig.from_json) -> AgentRunConfig | Diagnostic:
    """Read a sentinel's payload."""
    value = _document(payload)
    return value if isinstance(value, Diagnostic) else model(value)


class _Ahead:
    """Finds the next match from ever later places; each stretch of text is searched once."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self.pattern, self.text, self.found = pattern, text, -1

    def of(self, place: int) -> int:
        """Return where the next match begins, or a place beyond the text."""
        if self.found < place:
            match = self.pattern.search(self.text, place)
            self.found = match.start() if match else len(self.text) + 1
        return self.found


def _marks(text: str) -> Iterator[_Mark]:
    """Yield the markers outside quotes in order; an opener inside a comment belongs to that comment."""
    quotes = quoted(text)
    openers = (opener for opener in OPENER.finditer(text) if not quotes.hold(opener.start()))
    closer, line_end = _Ahead(CLOSER, text), _Ahead(LINE_END, text)
    following = next(openers, None)
    while opener := following:
        following = next(openers, None)
        end = closer.of(opener.end())
        if opener["bracket"] != "<":
            yield ESCAPED
        elif end > line_end.of(opener.end()):
            yield UNFINISHED
        else:
            inner = opener
            while following and following.start() < end:
                inner, following = following, next(openers, None)
            yield _Comment(opener.end(), inner.end(), end)


def _read(text: str, mark: _Mark, model: Model) -> AgentRunConfig | Diagnostic:
    """Read a marker's payload; one that is no JSON may be an unfinished opener in front of the real one."""
    if isinstance(mark, Diagnostic):
        return mark
    unfinished = mark.inner != mark.start and isinstance(_document(text[mark.start : mark.end]), Diagnostic)
    return config_of(text[mark.inner if unfinished else mark.start : mark.end], model)


def _document(payload: str) -> JSON | Diagnostic:
    return document(payload.strip(" \t"))
