"""Where something stands in an agent-contract.toml, by its line: the values that it is read as know no places."""

from __future__ import annotations

import re


def of_runtime(text: str, name: str) -> int:
    """Return the number of the first line that speaks of a runtime, from 1; 0 where no line is known to."""
    return _first(rf"""\[\s*runtimes\s*\.\s*(["']?){re.escape(name)}\1\s*[\].]""", text)


def of_command(text: str, name: str) -> int:
    """Return the number of the line that tells how a runtime is started, else of the first that speaks of it."""
    head = of_runtime(text, name)
    rest = text.splitlines()[head:]
    table = next((at for at, line in enumerate(rest) if line.lstrip().startswith("[")), len(rest))
    started = _first(r"(?:modes|adapter|entry)\b", "\n".join(rest[:table]))
    return head + started if head and started else head


def _first(pattern: str, text: str) -> int:
    wanted = re.compile(rf"\s*{pattern}")
    return next((number for number, line in enumerate(text.splitlines(), 1) if wanted.match(line)), 0)
