"""A cassette's text: YAML that people can read and compare, and that says the same to every reader of YAML.

PyYAML's own writer would fold long lines, double the newlines of an event stream, and escape whatever stands outside
the first Unicode plane.
"""

from __future__ import annotations

import base64
import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import yaml

Value: TypeAlias = "str | bytes | int | float | Sequence[Value] | Mapping[str, Value] | None"

_STEP = "  "
_PLAIN = re.compile(r"[A-Za-z/](?:[\w./;=,+?&%@~*()-]|[ :](?=[\w./;=+?&%@~*()-]))*", re.ASCII)
_UNPRINTABLE = re.compile("[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_BLANK_AT_END = re.compile(r" $", re.MULTILINE)
_WORDS = yaml.SafeLoader.yaml_implicit_resolvers


def dumps(document: Mapping[str, Value]) -> str:
    """Render a mapping with at least one key: texts of several lines as literal blocks, bytes as `!!binary`."""
    return _mapping(document, "")


def _after_key(value: Value, indent: str) -> str:
    """Render what stands after `key:` or `-`; lines of its own stand at `indent`."""
    if isinstance(value, Mapping) and value:
        return f"\n{_mapping(value, indent)}"
    if isinstance(value, list | tuple) and value:
        return f"\n{_sequence(value, indent)}"
    return f" {_scalar(value, indent)}\n"


def _mapping(value: Mapping[str, Value], indent: str) -> str:
    return "".join(f"{indent}{_key(key)}:{_after_key(inner, indent + _STEP)}" for key, inner in value.items())


def _sequence(items: Sequence[Value], indent: str) -> str:
    # A collection begins on the line of its dash, as `- ` is as wide as one step.
    return "".join(indent + "- " + _after_key(item, indent + _STEP).lstrip(" \n") for item in items)


def _scalar(value: Value, indent: str) -> str:
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, bytes):
        lines = textwrap.wrap(base64.b64encode(value).decode(), 100)
        return "\n".join(["!!binary |", *(indent + line for line in lines)]) if lines else '!!binary ""'
    return json.dumps(value)  # numbers, null, and collections of nothing are the same in YAML


def _key(key: str) -> str:
    return key if _is_plain(key) else _quoted(key)


def _text(text: str, indent: str) -> str:
    if _is_plain(text):
        return text
    if not text.strip("\n") or _UNPRINTABLE.search(text) or _BLANK_AT_END.search(text):
        return _escaped(text, indent)
    if not any(sign in text for sign in "\n\"'"):
        return f"'{text}'"
    return _literal(text, indent)


def _literal(text: str, indent: str) -> str:
    content = text.rstrip("\n")
    ends = len(text) - len(content)
    hint = len(_STEP) if text[0] in " \n" else ""
    lines = [indent + line if line else "" for line in content.split("\n")]
    return "\n".join([f"|{hint}{('-', '', '+')[min(ends, 2)]}", *lines, *[""] * (ends - 1)])


def _escaped(text: str, indent: str) -> str:
    """Quote a text with escapes, a line of it on a line; a backslash says that the line's end is none of the text."""
    lines = [_escapes(line) for line in text.split("\n")]
    joined = f"\\n\\\n{indent}".join(f"\\{line}" if line.startswith(" ") else line for line in lines)
    return f'"{joined}"'


def _quoted(text: str) -> str:
    return f'"{_escapes(text)}"'


def _escapes(text: str) -> str:
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)[1:-1])


def _is_plain(text: str) -> bool:
    """Tell whether a text can stand unquoted, and is no other word of YAML (`no`, `null`, a date)."""
    return bool(_PLAIN.fullmatch(text)) and not any(rule.match(text) for _, rule in _WORDS.get(text[0], ()))
