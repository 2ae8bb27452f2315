"""What stands in a result document, in words and JSON pointers."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_agentcontract.jsonvalue import JSON, Missing, dumps, equal
from pytest_agentcontract.report.text import shortened

SHOWN = 160
"""How many characters of a value are shown."""

_MOST = 12


def stands(document: JSON | Missing, value: JSON | Missing) -> list[str]:
    """Return the places of a value."""
    return [place for place, item in places(document) if equal(item, value)]


def places(document: JSON | Missing, at: str = "") -> Iterator[tuple[str, JSON]]:
    """Yield every value inside a document after its pointer."""
    inside: Iterator[tuple[str, JSON]] = iter(())
    if isinstance(document, dict):
        inside = ((key.replace("~", "~0").replace("/", "~1"), item) for key, item in document.items())
    elif isinstance(document, list):
        inside = ((str(index), item) for index, item in enumerate(document))
    for key, item in inside:
        yield f"{at}/{key}", item
        yield from places(item, f"{at}/{key}")


def top(document: JSON | Missing) -> list[str]:
    """Return the places right below the top."""
    return [place for place, _ in places(document) if place.count("/") == 1]


def holds(document: JSON | Missing) -> str:
    """Say what a document has, in words that go on after a semicolon."""
    return f"it has {listed(top(document))}" if top(document) else f"it is {shown(document)}"


def flags(document: JSON | Missing) -> str:
    """Return, in words, where true or false stands."""
    return listed([place for place, item in places(document) if isinstance(item, bool)])


def listed(places: list[str]) -> str:
    """Return places in a row, as far as a person reads them."""
    more = ", ..." if len(places) > _MOST else ""
    return f"{', '.join(places[:_MOST])}{more}" if places else "nowhere"


def shown(held: JSON | Missing) -> str:
    """Return a value as JSON text, shortened."""
    return "nothing" if isinstance(held, Missing) else shortened(dumps(held), SHOWN)


def is_number(held: JSON | Missing) -> bool:
    """Tell whether a value is a number: true is none."""
    return isinstance(held, int | float) and not isinstance(held, bool)
