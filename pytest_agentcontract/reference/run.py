"""What all agents of one run share, and the seam at which everything that arrives is emitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pytest_agentcontract.reference.clients import Client
from pytest_agentcontract.reference.rules import Rules
from pytest_agentcontract.reference.usage import Meter, Reading


@dataclass(slots=True)
class Printer:
    """Standard output: tokens as they come, each message ended by one line end."""

    write: Callable[[str], None]
    live: bool = True
    _held: list[str] = field(default_factory=list)
    _line_open: bool = False

    def token(self, text: str) -> None:
        """Print one piece of a message, unaltered."""
        if text:
            self._line_open = not text.endswith("\n")
            self._put(text)

    def end_of_message(self) -> None:
        """End an open line."""
        if self._line_open:
            self.token("\n")

    def close(self) -> None:
        """Print what was held back."""
        self.write("".join(self._held))

    def _put(self, text: str) -> None:
        if self.live:
            self.write(text)
        else:
            self._held.append(text)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `printer` prints the root's tokens; a run that returns one document has none.

    `read_line` blocks for the caller's next line; only the loop of a conversation has a use for it.
    """

    rules: Rules
    client: Client
    workdir: Path
    step_cap: int
    read_line: Callable[[], str | None]
    printer: Printer | None = None
    meter: Meter = field(default_factory=Meter)


@dataclass(frozen=True, slots=True)
class Voice:
    """One agent's side of the seam: the root's text is printed, and everybody's usage is counted."""

    run: Run
    is_root: bool

    def text(self, token: str) -> None:
        """Take one piece of text as it comes."""
        if self.is_root and self.run.printer is not None:
            self.run.printer.token(token)

    def end_of_message(self) -> None:
        """Take the end of a message, or of what arrived of it."""
        if self.is_root and self.run.printer is not None:
            self.run.printer.end_of_message()

    def reading(self) -> Reading:
        """Open the meter for one response."""
        return self.run.meter.open(of_root=self.is_root)
