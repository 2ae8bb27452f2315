"""Values that are said once and referred to by their place, and texts made fit to be shown."""

from __future__ import annotations

from typing import Final

from pytest_agentcontract.jsonvalue import JSON, dumps
from pytest_agentcontract.report.text import harmless

LONGEST: Final = 1200


class Pool:
    """Values in the order in which they came up first; what is the same is held once."""

    def __init__(self, *first: JSON) -> None:
        self._places: dict[str, int] = {}
        self.values: list[JSON] = []
        for value in first:
            self.place(value)

    def place(self, value: JSON) -> int:
        """Return the place of a value, a new one at the end if it is not there yet."""
        key = dumps(value)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


def shown(text: str, limit: int = LONGEST) -> str:
    """Return `text` without what could trick a reader, its middle left out where it is long."""
    clean = harmless(text)
    if len(clean) <= limit:
        return clean
    half = limit // 2
    return f"{clean[:half]} [... {len(clean) - 2 * half} characters ...] {clean[-half:]}"


def shown_value(value: JSON, limit: int = LONGEST) -> JSON:
    """Return a JSON value with all its texts fit to be shown; one that is long is returned as text."""
    text = dumps(value)
    return cleaned(value) if len(text) <= 2 * limit else shown(text, 2 * limit)


def cleaned(value: JSON) -> JSON:
    """Return a JSON value of the same shape with each of its texts fit to be shown."""
    if isinstance(value, dict):
        return {shown(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return shown(value) if isinstance(value, str) else value
