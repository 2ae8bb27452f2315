"""YAML read as JSON: texts, numbers, true, false, null, lists and mappings, and nothing that means more than it shows.

What is neither a JSON number nor one of the three words is a text. Tags, anchors, aliases, duplicate keys, keys that
are no texts, empty values and further documents are refused with their line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import yaml

from pytest_agentcontract.jsonvalue import DEEPEST, JSON, JSONObject
from pytest_agentcontract.jsonvalue import loads as loads_json

_WORD = re.compile(r"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TWICE = "stands twice in one mapping"
_Event = TypeVar("_Event", bound=yaml.Event)


class YAMLError(ValueError):
    """A document is no such YAML; `line` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


@dataclass(frozen=True, slots=True)
class Document:
    """What could be read of a document, and everything in its way.

    `unread` are the pointers to places that hold nothing usable; a document that does not parse has only faults.
    """

    value: JSON = None
    faults: tuple[YAMLError, ...] = ()
    unread: tuple[str, ...] = ()
    parses: bool = True


def loads(text: str) -> JSON:
    """Read one document; raise YAMLError for the first thing that is wrong with it."""
    document = read(text)
    for fault in document.faults:
        raise fault
    return document.value


def read(text: str) -> Document:
    """Read one document, and find everything that is wrong with it."""
    reader = _Reader(yaml.parse(text, Loader=yaml.SafeLoader))
    try:
        value = reader.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fatal = YAMLError(error.problem or "no YAML", mark.line + 1 if mark else 1)
    except yaml.reader.ReaderError as error:
        fatal = YAMLError(error.reason, text.count("\n", 0, error.position) + 1)
    except YAMLError as error:
        fatal = error
    else:
        return Document(value, tuple(reader.faults), tuple(reader.unread))
    return Document(faults=(*reader.faults, fatal), parses=False)


class _Reader:
    """Builds a value from the events of a stream, one after the other, and goes on behind what it can't use."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._depth = 0
        self.faults: list[YAMLError] = []
        self.unread: list[str] = []

    def document(self) -> JSON:
        next(self._events)
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise YAMLError("nothing stands here", 1)
        value = self._value(next(self._events), "")
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise YAMLError("a second document begins here", _line(after))
        return value

    def _value(self, event: yaml.Event, place: str) -> JSON:
        if isinstance(event, yaml.AliasEvent):
            self._complain(f"the alias *{event.anchor} stands for something elsewhere: write it out", event)
            self.unread.append(place)
            return None
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._complain(f"the anchor &{event.anchor} has no use: there are no aliases", event)
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
            self._complain(f"the tag {event.tag} has no meaning here", event)
        if isinstance(event, yaml.CollectionStartEvent):
            return self._collection(event, place)
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - the parser gives no other
        try:
            return _scalar(event)
        except YAMLError as error:
            self.faults.append(error)
            self.unread.append(place)
            return None

    def _collection(self, event: yaml.CollectionStartEvent, place: str) -> JSON:
        # Found while reading: the parser itself takes a time that grows with the square of the depth.
        self._depth += 1
        if self._depth > DEEPEST:
            raise YAMLError("nested too deeply", _line(event))
        if isinstance(event, yaml.MappingStartEvent):
            value: JSON = self._mapping(place)
        else:
            value = [self._value(item, f"{place}/{at}") for at, item in enumerate(self._until(yaml.SequenceEndEvent))]
        self._depth -= 1
        return value

    def _mapping(self, place: str) -> JSONObject:
        found: JSONObject = {}
        for event in self._until(yaml.MappingEndEvent):
            key = self._value(event, place)
            text = key if isinstance(key, str) else ""
            inner = f"{place}/{text.replace('~', '~0').replace('/', '~1')}"
            value = self._value(next(self._events), inner)
            if not isinstance(key, str):
                self._complain(f"the key {key!r} is no text: quote it", event)
            elif key in found:
                self._complain(f"the key {key!r} {TWICE}", event)
            else:
                found[key] = value
        return found

    def _complain(self, what: str, event: yaml.Event) -> None:
        self.faults.append(YAMLError(what, _line(event)))

    def _until(self, end: type[_Event]) -> Iterator[yaml.Event]:
        while not isinstance(event := next(self._events), end):
            yield event


def _scalar(event: yaml.ScalarEvent) -> JSON:
    text, plain = event.value, event.style is None
    if plain and not text:
        raise YAMLError("a value is missing: write null, or an empty text as ''", _line(event))
    if not (plain and _WORD.fullmatch(text)):
        return str(text)
    try:
        return loads_json(text)
    except ValueError as error:
        raise YAMLError(str(error), _line(event)) from error


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
