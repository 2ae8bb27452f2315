"""YAML read as JSON: texts, numbers, true, false, null, lists and mappings, and nothing that means more than it shows.

What is neither a JSON number nor one of the three words is a text. Tags, anchors, aliases, duplicate keys, keys that
are no texts, empty values and further documents are refused with their line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

import yaml

from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.jsonvalue import loads as loads_json

_WORD = re.compile(r"true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_Event = TypeVar("_Event", bound=yaml.Event)


class YAMLError(ValueError):
    """A document is no such YAML; `line` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


def loads(text: str) -> JSON:
    """Read one document; raise YAMLError for whatever is wrong with it."""
    try:
        events = list(yaml.parse(text, Loader=yaml.SafeLoader))
        return _Reader(iter(events[1:])).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YAMLError(error.problem or "no YAML", mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        raise YAMLError(error.reason, text.count("\n", 0, error.position) + 1) from error
    except RecursionError as error:
        raise YAMLError("nested too deeply", 1) from error


class _Reader:
    """Builds a value from the events of a stream, one after the other."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events

    def document(self) -> JSON:
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise YAMLError("nothing stands here", 1)
        value = self._value(next(self._events))
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise YAMLError("a second document begins here", _line(after))
        return value

    def _value(self, event: yaml.Event) -> JSON:
        if isinstance(event, yaml.AliasEvent):
            raise YAMLError(f"the alias *{event.anchor} stands for something elsewhere: write it out", _line(event))
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            raise YAMLError(f"the anchor &{event.anchor} has no use: there are no aliases", _line(event))
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag is not None:
            raise YAMLError(f"the tag {event.tag} has no meaning here", _line(event))
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping()
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(item) for item in self._until(yaml.SequenceEndEvent)]
        assert isinstance(event, yaml.ScalarEvent)  # noqa: S101 - the parser gives no other
        return _scalar(event)

    def _mapping(self) -> JSONObject:
        found: JSONObject = {}
        for event in self._until(yaml.MappingEndEvent):
            key = self._value(event)
            if not isinstance(key, str):
                raise YAMLError(f"the key {key!r} is no text: quote it", _line(event))
            if key in found:
                raise YAMLError(f"the key {key!r} stands twice in one mapping", _line(event))
            found[key] = self._value(next(self._events))
        return found

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
