"""What one step of a check of somebody's wiring has shown, as one line and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_WIDTH = 10
_VERDICT = 6


@dataclass(frozen=True, slots=True)
class Finding:
    """What one step of the check has shown; `fix` says what to do about a bad one."""

    step: str
    verdict: Literal["ok", "FAIL", "note"]
    text: str
    fix: str = ""

    def __str__(self) -> str:
        return self.line()

    def line(self, width: int = _WIDTH) -> str:
        """Return the finding in columns, the first of them as wide as the longest step; the fix stands below."""
        head = f"{self.step:<{width}}{self.verdict:<{_VERDICT}}{self.text}"
        return f"{head}\n{'':<{width + _VERDICT}}{self.fix}" if self.fix else head
