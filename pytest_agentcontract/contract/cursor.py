"""A place in one line of Markdown, in columns: a tab goes to the next multiple of four, and may be entered in part."""

from __future__ import annotations

import re
from typing import Final

SPACES = re.compile(r"[ \t]*+")
MARKS = re.compile(r"(?:\*[ \t]*+)++|(?:-[ \t]*+)++|(?:_[ \t]*+)++")
FEWEST_MARKS: Final = 3
CODE_INDENT: Final = 4
TAB: Final = 4


class Cursor:
    """A place in one line: `first` is the next character that is no space, `indent` the columns before it."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.end = text, end
        self.column = self.unbroken = 0
        self._find(start)

    @property
    def indent(self) -> int:
        """Return how many columns of white space lie ahead; a tab that was entered counts in part."""
        return self.first_column - self.column

    def is_blank(self) -> bool:
        """Tell whether nothing but white space lies ahead."""
        return self.first >= self.end

    def is_break(self) -> bool:
        """Tell whether a thematic break lies ahead; what one look has ruled out is not looked at again."""
        run = None if self.first < self.unbroken else self.match(MARKS)
        if run is None:
            return False
        if run.end() < self.end:
            self.unbroken = run.end()
        return run.end() == self.end and run[0].count(run[0][0]) >= FEWEST_MARKS

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern at the next character that is no space, up to the end of the line."""
        return pattern.match(self.text, self.first, self.end)

    def take(self, length: int) -> None:
        """Go past so many characters that are no white space."""
        self.column = self.first_column + length
        self._find(self.first + length)

    def _find(self, start: int) -> None:
        spaces = found(SPACES.match(self.text, start, self.end))[0]
        self.first, self.first_column = start + len(spaces), self.column
        if "\t" not in spaces:
            self.first_column += len(spaces)
            return
        for space in spaces:
            self.first_column += TAB - self.first_column % TAB if space == "\t" else 1


def found(match: re.Match[str] | None) -> re.Match[str]:
    """Return the match of a pattern that always matches."""
    if match is None:
        message = "a pattern that matches the empty string did not match"
        raise AssertionError(message)
    return match
