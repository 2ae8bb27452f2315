"""Which lines of a comment Markdown shows as code, raw HTML or quotes: one pass, linear in the comment's length.

This follows the block structure of CommonMark as far as that question needs it: containers (block quotes, list items),
fences, indented code, raw HTML, and what ends a paragraph. Nothing is rendered. Lines end at LF, CRLF or CR alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pytest_agentcontract.contract.cursor import CODE_INDENT, Cursor, found

BLANK_LINES = re.compile(r"(?:[ \t]*+(?:\r\n?|\n))++")
LINE_END = re.compile(r"\r\n?|\n|\Z")
_PLAIN = r"(?:[^\s#`~<=\-*_+>0-9|:]|`(?!``))[^\r\n]*+"
PROSE = re.compile(rf"{_PLAIN}(?:(?:\r\n?|\n){_PLAIN})*+")
REST = re.compile(r"[^\r\n]*+")
FENCE = re.compile(r"`{3,}+(?!.*`)|~{3,}+")
HEADING = re.compile(r"#{1,6}+(?:[ \t]|$)")
UNDERLINE = re.compile(r"(?:=++|-++)[ \t]*+$")
MARKER = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
STARTERS = frozenset("#`~<=-*_+>0123456789")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_ATTRIBUTE = r"""\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?+"""
TAG = rf"(?:<[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>|</[A-Za-z][A-Za-z0-9-]*+\s*+>)"
RAW_HTML: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:[ \t>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?:[ \t]|/?>|$)", re.IGNORECASE), None),
)
"""What begins a block of raw HTML and what ends it; None stands for a blank line."""
LONE_TAG = re.compile(rf"{TAG}[ \t]*+$", re.ASCII)
"""Any other tag alone on its line: it begins raw HTML too, but never cuts a paragraph."""


class Kind(StrEnum):
    """What a line is part of."""

    TEXT = "text"
    CODE = "code"
    INDENTED = "indented code"
    HTML = "html"


class Line(NamedTuple):
    """A line that is not blank, or several of plain prose: its place, where its content begins, what it is part of.

    Text lines of the same `block` are one paragraph or heading, in which a code span may run over a line's end. From
    the first `disputed` line on, readers of Markdown disagree on what is part of what.
    """

    start: int
    content: int
    end: int
    kind: Kind
    in_quote: bool
    block: int
    disputed: bool


@dataclass(slots=True)
class _Item:
    """An open list item, whose content stands `width` columns in."""

    width: int
    empty: bool


@dataclass(frozen=True, slots=True)
class _Quote:
    """An open block quote."""


@dataclass(frozen=True, slots=True)
class _Fence:
    mark: str
    length: int


@dataclass(frozen=True, slots=True)
class _Raw:
    ending: re.Pattern[str] | None


def lines(text: str) -> Iterator[Line]:
    """Yield each line of `text` that is not blank, with what it is part of."""
    scanner, at = _Scanner(text), 0
    while at < len(text):
        blank = BLANK_LINES.match(text, at)
        if blank:
            scanner.blank()
            at = blank.end()
            continue
        prose = PROSE.match(text, at) if scanner.is_clear else None
        end = (prose or found(REST.match(text, at))).end()
        yield scanner.prose(at, end) if prose else scanner.line(at, end)
        at = found(LINE_END.match(text, end)).end()


class _Scanner:
    """The blocks that are open between two lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[_Item | _Quote] = []
        self.quotes: list[int] = []
        self.leaf: _Fence | _Raw | None = None
        self.paragraph = False
        self.block = 0
        self.disputed = False

    @property
    def is_clear(self) -> bool:
        """Tell whether nothing is open but perhaps a paragraph, so that plain lines are prose."""
        return not self.stack and self.leaf is None

    def blank(self) -> None:
        """End what a blank line ends."""
        self._end_blank(self._outlasting(0))

    def prose(self, start: int, end: int) -> Line:
        """Place lines that nothing can begin with but prose, where nothing else is open."""
        return Line(start, start, end, self._prose(0), in_quote=False, block=self.block, disputed=self.disputed)

    def line(self, start: int, end: int) -> Line:
        """Place one line that is not blank."""
        cursor = Cursor(self.text, start, end)
        kind = self._kind(cursor, self._entered(cursor))
        return Line(start, min(cursor.first, end), end, kind, bool(self.quotes), self.block, self.disputed)

    def _entered(self, cursor: Cursor) -> int:
        """Enter the open containers that this line continues; return how many."""
        for depth, container in enumerate(self.stack):
            if cursor.is_blank():
                return self._outlasting(depth)
            if isinstance(container, _Quote):
                if not self._quote_mark(cursor):
                    return depth
            elif cursor.indent < container.width:
                return depth
            else:
                cursor.column += container.width
                container.empty = False
        return len(self.stack)

    def _outlasting(self, depth: int) -> int:
        """Return how many containers outlast a blank line `depth` of them deep: those outside the next quote."""
        after = bisect_left(self.quotes, depth)
        return self.quotes[after] if after < len(self.quotes) else len(self.stack)

    def _kind(self, cursor: Cursor, matched: int) -> Kind:
        if self.leaf and matched == len(self.stack):
            return self._continued(cursor, self.leaf)
        if self.leaf:
            self._close(matched)
        if cursor.is_blank():
            self._end_blank(matched)
            return Kind.TEXT
        while self._opened(cursor, matched):
            matched = len(self.stack)
        return Kind.TEXT if cursor.is_blank() else self._started(cursor, matched)

    def _continued(self, cursor: Cursor, leaf: _Fence | _Raw) -> Kind:
        """Place a line of an open fence or of raw HTML, and see whether it is the last one."""
        if isinstance(leaf, _Fence):
            run = self.text[cursor.first : cursor.end].rstrip(" \t")
            if cursor.indent < CODE_INDENT and len(run) >= leaf.length and run == leaf.mark * len(run):
                self.leaf = None
            return Kind.CODE
        if leaf.ending.search(self.text, cursor.first, cursor.end) if leaf.ending else cursor.is_blank():
            self.leaf = None
        return Kind.HTML

    def _end_blank(self, outlasting: int) -> None:
        self._close(outlasting)
        if isinstance(self.leaf, _Raw) and self.leaf.ending is None:
            self.leaf = None
        top = self.stack[-1] if self.stack else None
        if isinstance(top, _Item) and top.empty:
            self._close(len(self.stack) - 1)

    def _opened(self, cursor: Cursor, matched: int) -> bool:
        """Open a block quote or a list item, if one begins here."""
        if cursor.is_blank() or cursor.indent >= CODE_INDENT:
            return False
        indent = cursor.indent
        if self._quote_mark(cursor):
            self._push(_Quote(), matched)
            return True
        marker = cursor.match(MARKER)
        if not marker or cursor.is_break() or self._can_not_interrupt(marker, cursor, matched):
            return False
        cursor.take(len(marker[0]))
        spaces = cursor.indent if not cursor.is_blank() and cursor.indent <= CODE_INDENT else 1
        cursor.column += spaces
        self._push(_Item(indent + len(marker[0]) + spaces, empty=cursor.is_blank()), matched)
        return True

    def _can_not_interrupt(self, marker: re.Match[str], cursor: Cursor, matched: int) -> bool:
        """Tell whether this is no list item, because it would cut a paragraph: an empty one, or one not numbered 1.

        Where the paragraph belongs to a container that this line does not continue, readers disagree on that.
        """
        empty = not self.text[marker.end() : cursor.end].strip(" \t")
        if not self.paragraph or not (empty or (marker[1] is not None and int(marker[1]) != 1)):
            return False
        self.disputed = self.disputed or matched < len(self.stack)
        return matched == len(self.stack)

    def _started(self, cursor: Cursor, matched: int) -> Kind:
        """Begin or continue the leaf that this line's content belongs to."""
        if cursor.indent >= CODE_INDENT and not self.paragraph:
            self._close(matched)
            return Kind.INDENTED
        if cursor.indent < CODE_INDENT and cursor.text[cursor.first] in STARTERS:
            return self._marked(cursor, matched)
        return self._prose(matched)

    def _marked(self, cursor: Cursor, matched: int) -> Kind:
        fence, raw = cursor.match(FENCE), self._raw(cursor)
        if fence:
            self._close(matched)
            self.leaf = _Fence(fence[0][0], len(fence[0]))
            return Kind.CODE
        if raw:
            self._close(matched)
            self.leaf = raw
            self._continued_at_once(cursor, raw)
            return Kind.HTML
        underline = self.paragraph and matched == len(self.stack) and cursor.match(UNDERLINE)
        if underline or cursor.match(HEADING) or cursor.is_break():
            self._close(matched)
            self.block += 1
            return Kind.TEXT
        return self._prose(matched)

    def _raw(self, cursor: Cursor) -> _Raw | None:
        if cursor.text[cursor.first] != "<":
            return None
        found = next((_Raw(ending) for opening, ending in RAW_HTML if cursor.match(opening)), None)
        return found or (_Raw(None) if not self.paragraph and cursor.match(LONE_TAG) else None)

    def _continued_at_once(self, cursor: Cursor, raw: _Raw) -> None:
        if raw.ending and raw.ending.search(self.text, cursor.first, cursor.end):
            self.leaf = None

    def _prose(self, matched: int) -> Kind:
        if not self.paragraph:
            self._close(matched)
            self.block += 1
        self.paragraph = True
        return Kind.TEXT

    def _push(self, container: _Item | _Quote, matched: int) -> None:
        self._close(matched)
        if isinstance(container, _Quote):
            self.quotes.append(len(self.stack))
        self.stack.append(container)

    def _close(self, depth: int) -> None:
        """End the paragraph, and the containers deeper than `depth` with what is open in them."""
        self.paragraph = False
        if depth < len(self.stack):
            self.leaf = None
            del self.stack[depth:]
            del self.quotes[bisect_left(self.quotes, depth) :]

    @staticmethod
    def _quote_mark(cursor: Cursor) -> bool:
        if cursor.is_blank() or cursor.indent >= CODE_INDENT or cursor.text[cursor.first] != ">":
            return False
        cursor.take(1)
        cursor.column += min(cursor.indent, 1)
        return True
