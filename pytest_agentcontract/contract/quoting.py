"""Where in a comment text is only quoted, or shown as code: sorted ranges of offsets, found in linear time.

`quoted` is for reading decisions. `sure_code` is for leaving text as it is: it leaves out whatever the dialects of
Markdown disagree on, so that a mention is never taken for code.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, groupby

from pytest_agentcontract.contract.cursor import CODE_INDENT, TAB
from pytest_agentcontract.contract.markdown import TAG, Kind, Line, lines

Range = tuple[int, int]

RUN = re.compile(r"`++")
TOKEN = re.compile(r"`++|\\[`<\\]|<")
TAG_OR_LINK = re.compile(
    rf"{TAG}|<[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*+>|<[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]++@[A-Za-z0-9.-]++>", re.ASCII
)
UNSEEN = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
"""Raw HTML that shows nothing, and what ends it. The dialects disagree on what it may hold."""
DISPUTED = re.compile(r"^[ \t|:-]++$|\A\[[^\]]*+\]:", re.MULTILINE)
"""A paragraph that some dialect takes for a table or for link definitions: its code spans may lie elsewhere."""
FOOTNOTE = "[^"


class Passages:
    """Tells, of one offset after the other, whether it lies in one of some sorted ranges."""

    def __init__(self, ranges: Iterator[Range]) -> None:
        self.ranges, self.start, self.end = ranges, 0, 0

    def hold(self, offset: int) -> bool:
        """Tell whether `offset`, which is no smaller than the one before, lies in a range."""
        while self.end <= offset:
            self.start, self.end = next(self.ranges, (sys.maxsize, sys.maxsize))
        return self.start <= offset


def quoted(text: str) -> Passages:
    """Return where `text` is quoted: block quotes, fences, code spans, and lines indented by four columns or more."""
    return Passages(_ranges(text, lambda line: line.in_quote or line.kind is Kind.CODE or _is_indented(text, line)))


def sure_code(text: str) -> Passages:
    """Return where every reader of Markdown sees code: in fences, in spans or by indentation."""
    # Where there are footnotes, four columns may be what a footnote's second paragraph is indented by.
    kinds = {Kind.CODE} if FOOTNOTE in text else {Kind.CODE, Kind.INDENTED}
    return Passages(_ranges(text, lambda line: line.kind in kinds and not line.disputed, strictly=True))


def _ranges(text: str, covered: Callable[[Line], bool], *, strictly: bool = False) -> Iterator[Range]:
    for _, leaf in groupby(lines(text), key=lambda line: line.block if line.kind is Kind.TEXT else -1 - line.start):
        part = [*leaf]
        whole = {line.start: line.end for line in part if covered(line)}
        has_spans = part[0].kind is Kind.TEXT and text.find("`", part[0].start, part[-1].end) >= 0
        has_spans = has_spans and not (strictly and part[-1].disputed)
        pieces = _pieces(text, part, strictly=strictly) if has_spans and len(whole) < len(part) else ()
        yield from sorted([*whole.items(), *(piece for start, piece in pieces if start not in whole)])


def _pieces(text: str, part: list[Line], *, strictly: bool) -> Iterator[tuple[int, Range]]:
    """Yield the code spans of one paragraph, cut at line ends, each with the start of its line."""
    contents = [text[line.content : line.end] for line in part]
    offsets = [0, *accumulate(len(content) + 1 for content in contents)]
    for start, end in _spans("\n".join(contents), strictly=strictly):
        for number in range(bisect_right(offsets, start) - 1, bisect_left(offsets, end)):
            line, offset = part[number], offsets[number]
            first, last = max(start - offset, 0), min(end - offset, line.end - line.content)
            yield line.start, (line.content + first, line.content + last)


def _spans(text: str, *, strictly: bool) -> Iterator[Range]:
    if strictly and DISPUTED.search(text):
        return
    runs, unseen, at = _Runs(text), _Unseen(text), 0
    while token := TOKEN.search(text, at):
        at = token.end()
        if token[0][0] == "`":
            closing = runs.closing(len(token[0]), at)
            if closing is not None:
                at = closing + len(token[0])
                yield token.start(), at
        elif token[0] == "<":
            hidden = unseen.end(token.start())
            if hidden and strictly:
                return
            tag = TAG_OR_LINK.match(text, token.start())
            at = hidden or (tag.end() if tag else at)


class _Unseen:
    """Finds the ends of raw HTML; what was not found once is not looked for again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.missing: set[str] = set()

    def end(self, start: int) -> int | None:
        """Return the end of the comment, instruction or declaration that begins at `start`, if one does."""
        ending = next((ending for opening, ending in UNSEEN if self.text.startswith(opening, start)), None)
        if ending is None or ending in self.missing:
            return None
        found = self.text.find(ending, start + 2)
        if found < 0:
            self.missing.add(ending)
        return found + len(ending) if found >= 0 else None


class _Runs:
    """Finds the backticks that close a span; once all are known, it knows of which lengths there are no more."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.last: dict[int, int] = {}
        self.all_known = False

    def closing(self, length: int, at: int) -> int | None:
        """Return where the next run of exactly so many backticks begins."""
        if self.all_known and self.last.get(length, -1) < at:
            return None
        for run in RUN.finditer(self.text, at):
            found, start = len(run[0]), run.start()
            self.last[found] = max(start, self.last.get(found, -1))
            if found == length:
                return start
        self.all_known = True
        return None


def _is_indented(text: str, line: Line) -> bool:
    column = 0
    for at in range(line.start, min(line.start + CODE_INDENT, line.end)):
        if text[at] not in " \t":
            break
        column += TAB - column % TAB if text[at] == "\t" else 1
    return column >= CODE_INDENT
