"""Reading of the shipped vectors, and the words in which a row demands something of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from pytest_agentcontract.jsonvalue import equal, loads
from pytest_agentcontract.resources import fixtures

TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "is": equal,
    "any_of": lambda found, wanted: any(equal(found, one) for one in wanted),
    "contains": lambda found, wanted: all(part in found for part in wanted),
    "lacks": lambda found, wanted: all(part not in found for part in wanted),
    "begins": lambda found, wanted: found.startswith(wanted),
    "ends": lambda found, wanted: found.endswith(wanted),
    "count": lambda found, wanted: all(found.count(part) == number for part, number in wanted.items()),
}


@cache
def table(name: str) -> dict[str, Any]:
    """Return a table of vectors."""
    return loads((fixtures() / "vectors" / f"{name}.json").read_bytes())


def names() -> list[str]:
    """Return the names of the tables of the hand-off contract."""
    paths = sorted((fixtures() / "vectors").glob("*.json"))
    return [path.stem for path in paths if loads(path.read_bytes())["rows"][0]["covers"][0].startswith("HND-")]


def text(value: str | list[Any]) -> str:
    """Return a text that may be written as strings and repetitions."""
    parts = [value] if isinstance(value, str) else value
    return "".join(part if isinstance(part, str) else part["repeat"] * part["times"] for part in parts)


def unmet(expect: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield each demand that an answer does not meet, whatever its level: the reference meets them all."""
    for field, judgements in expect.items():
        for judgement in judgements:
            for test in judgement.keys() & TESTS.keys():
                if not TESTS[test](answer[field], judgement[test]):
                    yield f"{field}: {judgement['level']} {test} {judgement[test]!r}, found {answer[field]!r:.300}"
