"""What is demanded of the values in a script that is written in Python, told where they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from pytest_agentcontract.errors import ScriptError
from pytest_agentcontract.wire.turn import Usage

LONGEST: Final = 3600
"""What a pace stays below, in seconds: no client waits for an hour."""

OURS: Final = ("content-length", "transfer-encoding")
"""Headers that say where an answer ends: the server writes them itself."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIGURES = tuple(figure.name for figure in fields(Usage))


def demand(condition: object, what: str, remedy: str = "") -> None:
    """Raise ScriptError unless the condition holds."""
    if not condition:
        raise ScriptError(what, remedy=remedy)


def text(name: str, value: object) -> str:
    """Return a text; raise ScriptError for anything else."""
    if not isinstance(value, str):
        raise ScriptError(f"{name}={value!r} is no text", remedy="Quote it.")
    return value


def whole(name: str, value: object) -> int:
    """Return a whole number; raise ScriptError for anything else, a boolean among it."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScriptError(f"{name}={value!r} is no whole number", remedy="Write one such as 2.")
    return value


def seconds(name: str, value: object) -> float:
    """Return a finite number from 0 to below an hour; raise ScriptError for anything else."""
    figure = number(name, value)
    demand(figure >= 0, f"{name}={value!r}: a pace has no negative seconds")
    demand(figure < LONGEST, f"{name}={value!r}: it has to be below {LONGEST} seconds")
    return figure


def number(name: str, value: object) -> float:
    """Return a number that is not NaN; raise ScriptError for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:  # noqa: PLR0124 - NaN
        raise ScriptError(f"{name}={value!r} is no number", remedy="Write one such as 0.5.")
    return value


def usage(value: Usage | Mapping[str, int]) -> Usage:
    """Return what an answer costs; raise ScriptError for figures that are unknown, negative or no whole numbers."""
    if not isinstance(value, Usage | Mapping):
        raise ScriptError(f"usage={value!r} is no usage", remedy="Use {'input_tokens': 10, 'output_tokens': 5}.")
    figures = value if isinstance(value, Mapping) else {name: getattr(value, name) for name in _FIGURES}
    for name, figure in figures.items():
        demand(name in _FIGURES, f"usage has no {name!r}", f"Known: {', '.join(_FIGURES)}.")
        demand(whole(name, figure) >= 0, f"{name}={figure}: nothing costs fewer tokens than 0")
    return Usage(**figures)


def header(name: object, value: object) -> str:
    """Return a header's value; raise ScriptError for one that would be another header, or say where the answer ends."""
    demand(_NAME.fullmatch(text("a header's name", name)), f"{name!r} is no name of a header", "Use one like x-name.")
    demand(str(name).lower() not in OURS, f"the header {name!r} is written by the server", "Leave it out.")
    line = text(str(name), value)
    demand(not set("\r\n\0") & set(line), f"the header {name!r} holds a line break", "A header is one line.")
    return line
