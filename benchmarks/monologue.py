"""What the streaming upstream says to a request whose body is a mark: server-sent events that can be told apart."""

from __future__ import annotations

_TEXT = "some twenty tokens of text, as a model says them, "


def events(mark: str, number: int) -> list[bytes]:
    """Return so many events."""
    return [f'data: {{"mark": "{mark}", "number": {at}, "text": "{_TEXT}"}}\n\n'.encode() for at in range(number)]
