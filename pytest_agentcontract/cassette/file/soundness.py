"""What can be wrong with a cassette's text, found before anyone builds upon it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, get_args
from urllib.parse import urlsplit

import yaml

from pytest_agentcontract.cassette.exchange import Ending
from pytest_agentcontract.jsonvalue import loads

EXTRA: Final = "x_agentcontract"
"""The key of an answer under which stands what vcrpy has no word for."""

VERSION: Final = 1
_MARKERS = re.compile(r"^(?:<{7} |={7}$|>{7} |\|{7} )", re.MULTILINE)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNFOLDED: Final = 10
"""How many times as many nodes as letters aliases may make of a text; without them there are fewer than letters."""
_REQUEST_KEYS = ("method", "uri", "body", "headers")
_TEXT, _BODY, _MAPPING = (str,), (str, bytes, type(None)), (dict,)
_SHAPE: Final = (
    ("request", _MAPPING),
    *((f"request/{key}", types) for key, types in (("method", _TEXT), ("uri", _TEXT), ("headers", _MAPPING))),
    ("response", _MAPPING),
    ("response/status", _MAPPING),
    ("response/status/code", (int,)),
    ("response/status/message", (str, type(None))),
    ("response/headers", _MAPPING),
    ("response/body", _MAPPING),
)
_WORDS: Final = {str: "text", bytes: "bytes", type(None): "null", dict: "mapping", int: "whole number"}


class Unsound(ValueError):  # noqa: N818 - it is what the text is
    """A text is no cassette; `line` counts from 1."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


def check_text(text: str) -> tuple[int, ...]:
    """Return the lines on which the entries of a text begin; raise Unsound for what is no YAML, or means two things."""
    if marker := _MARKERS.search(text):
        raise Unsound("a merge conflict is not resolved here", _line_at(text, marker.start()))
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise of_yaml(error, text) from error
    except RecursionError as error:
        raise Unsound("nested too deeply", 1) from error
    if root is None:
        raise Unsound("nothing stands here", 1)
    _refuse_twins(root, _UNFOLDED * (len(text) + 1))
    entries = _under(root, "interactions")
    return tuple(_line(entry) for entry in entries.value) if isinstance(entries, yaml.SequenceNode) else ()


def beside(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a sound text says beside its entries, keys and values, and on which lines."""
    root = yaml.compose(text, Loader=_LOADER)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    waiting = [node for pair in pairs if pair[0].value != "interactions" for node in pair]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, yaml.ScalarNode):
            yield _line(node), node.value
        else:
            waiting += [inner for each in node.value for inner in (each if isinstance(each, tuple) else (each,))]


def pieces(told: object) -> list[tuple[float, int]]:
    """Read the milliseconds and lengths of an answer's pieces; raise ValueError for what is no list of such pairs.

    They are JSON in a text: as YAML they would take longer to read than all the rest of a cassette.
    """
    pairs: Any = loads(told) if isinstance(told, str) else None
    if not isinstance(pairs, list):
        raise ValueError(told)  # noqa: TRY004 - the file is wrong, not the caller
    read = []
    for gap, length in pairs:
        if not _is_count(gap, (int, float)) or not _is_count(length, (int,)):
            raise ValueError(gap, length)
        read.append((gap, length))
    return read


def of_yaml(error: yaml.YAMLError, text: str) -> Unsound:
    """Say in one line what a reader of YAML found."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line, last = mark.line + 1 if mark else 1, len(text.splitlines())
        return Unsound(f"{error.problem}{', and the text ends here' if line > last else ''}", min(line, last))
    if isinstance(error, yaml.reader.ReaderError):
        return Unsound(f"no text of YAML: {error.reason}", _line_at(text, error.position))
    return Unsound(str(error), 1)


def check(document: object, lines: Iterable[int]) -> None:
    """Raise Unsound for a document that is no cassette of the known version, or an entry that is not whole."""
    if isinstance(document, list):
        raise Unsound("this format is older than vcrpy 1.0", 1)
    if not isinstance(document, dict) or "version" not in document:
        raise Unsound("no cassette: it says no `version`", 1)
    if document["version"] != VERSION or document["version"] is True:
        raise Unsound(f"version {document['version']!r} is not known, only {VERSION}", 1)
    entries = document.get("interactions")
    if not isinstance(entries, list):
        raise Unsound("no cassette: `interactions` is no list", 1)
    if not isinstance(document.get("metadata", {}), dict):
        raise Unsound("`metadata` is no mapping", 1)
    for number, (entry, line) in enumerate(zip(entries, lines, strict=True)):
        if fault := _fault(entry):
            raise Unsound(f"entry {number}: {fault}", line)


def _fault(entry: object) -> str:
    for path, types in _SHAPE:
        found, there = _at(entry, path)
        if not there:
            return f"`{path}` is missing"
        if not isinstance(found, types) or isinstance(found, bool):
            return f"`{path}` is no {' or '.join(_WORDS[kind] for kind in types)}"
    assert isinstance(entry, dict)  # noqa: S101 - it has keys
    return _fault_of_request(entry["request"]) or _fault_of_answer(entry["response"])


def _fault_of_request(request: Mapping[str, Any]) -> str:
    if "body" not in request:
        return "`request/body` is missing"
    try:
        urlsplit(request["uri"])
    except ValueError as error:
        return f"`request/uri` is no URL: {error}"
    strange = [key for key in request if key not in _REQUEST_KEYS]
    return f"`request` knows no {strange[0]!r}" if strange else _fault_of_headers(request["headers"], "request")


def _fault_of_answer(answer: Mapping[str, Any]) -> str:
    body = answer["body"]
    if body and "string" not in body:  # stock vcrpy keeps {} for an answer that can have no body
        return "`response/body/string` is missing"
    if not isinstance(body.get("string"), _BODY):
        return "`response/body/string` is neither text nor bytes"
    return _fault_of_headers(answer["headers"], "response") or _fault_of_extra(answer)


def _fault_of_headers(headers: Mapping[object, object], owner: str) -> str:
    for name, value in headers.items():
        values = value if isinstance(value, list) else [value]
        if not isinstance(name, str) or not values or not all(isinstance(each, str | bytes) for each in values):
            return f"`{owner}/headers/{name}` is no list of texts"
    return ""


def _fault_of_extra(answer: Mapping[str, Any]) -> str:
    extra = answer.get(EXTRA, {})
    if not isinstance(extra, dict):
        return f"`response/{EXTRA}` is no mapping"
    if extra.get("ending", "whole") not in get_args(Ending):
        return f"`response/{EXTRA}/ending` is none of {', '.join(get_args(Ending))}"
    if "pieces" not in extra:
        return ""
    try:
        told = sum(length for _, length in pieces(extra["pieces"]))
    except (ValueError, TypeError):
        return f"`response/{EXTRA}/pieces` lists no pairs of milliseconds and a length"
    body = answer["body"].get("string") or ""
    length = len(body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body)
    if told == length:
        return ""
    add_up = f"`response/{EXTRA}/pieces` add up to {told} bytes, the body has {length}"
    return f"{add_up}: take `pieces` out if you changed the body"


def _is_count(value: object, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool) and value >= 0  # type: ignore[operator] # a number


def _at(entry: object, path: str) -> tuple[object, bool]:
    for key in path.split("/"):
        if not isinstance(entry, dict) or key not in entry:
            return None, False
        entry = entry[key]
    return entry, True


def _refuse_twins(root: yaml.Node, most: int) -> None:
    """Raise Unsound where a mapping has a key twice: readers differ about which one counts.

    So it is where aliases unfold to more than `most` nodes: those who follow them would never come back.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        most -= 1
        if most < 0:
            raise Unsound("its aliases unfold to more than the text could hold", _line(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [value for _, value in node.value]
            _refuse_twin_keys([key for key, _ in node.value])


def _refuse_twin_keys(keys: Iterable[yaml.Node]) -> None:
    known = set()
    for key in keys:
        if isinstance(key, yaml.ScalarNode):
            if (key.tag, key.value) in known:
                raise Unsound(f"the key {key.value!r} stands twice in one mapping", _line(key))
            known.add((key.tag, key.value))


def _under(node: yaml.Node, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
