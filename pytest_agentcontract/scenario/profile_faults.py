"""What no schema can say of a profile: placeholders that mean something where they stand, claims that fit together."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text
from pytest_agentcontract.scenario.profile import PLACEHOLDERS, SPELT

_IN_BRACES = re.compile(r"(?<![{$])\{([A-Za-z_]\w*)\}(?!\})")
_OF_THE_RUN = frozenset({"base_url", "api_key", "nonce", "port", "workdir", "home"})
_ASKED_FOR = frozenset({"schema_file", "schema_json", "max_turns"})
_LIMIT = frozenset({"seconds", "milliseconds"})
_MAY_BE_ABSENT = _ASKED_FOR | {"event"}
_ONE_RUN = _OF_THE_RUN | _ASKED_FOR | {"prompt"}
_OF_MODE = {
    "interactive": _OF_THE_RUN | _ASKED_FOR,
    "handoff": _OF_THE_RUN | {"workflow", "thread", "event"},
}

# Where braces other than placeholders have no business, an unknown name is a misspelt one; files and tool arguments
# hold settings and program text of every kind, so there only a known placeholder in the wrong place is an error.
_STRICT = {"modes": _ONE_RUN, "wires": _OF_THE_RUN, "env": _OF_THE_RUN, "timeout_env": _LIMIT}
_LENIENT = {
    "files": _ONE_RUN,
    "tools": frozenset({"mark", "child_prompt", "agent", "nonce", "workdir"}),
    "result": frozenset({"workdir", "home", "nonce"}),
}
_MODE_OF = {"headless": "json", "text": "text", "interactive": "interactive", "handoff": "handoff"}
_TOLD_IN = {"json": ("prompt",), "text": ("prompt",), "handoff": ("workflow", "thread", "event")}
TOOL_OF = {
    "root-return": "return",
    "child-return": "return",
    "sub-agents": "spawn",
    "agents-as-tools": "spawn",
    "transfer": "handoff",
}
"""A capability -> the part of the tool that it takes."""

_ARGUMENT_OF = {"work": "mark", "spawn": "child_prompt"}


def faults(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield (place, complaint) for each fault of one runtime's table that already has the right shape."""
    for find in (
        _misplaced,
        _ungrouped,
        _unsaid,
        _unfounded,
        _unreachable,
        _unasked,
        _untimed,
        _uncaptured,
        _spelt,
        _divided,
        _patterns,
    ):
        yield from find(data)


def _misplaced(data: JSONObject) -> Iterator[tuple[str, str]]:
    for part, allowed in (_STRICT | _LENIENT).items():
        for place, text in _texts(data.get(part), part):
            mode = re.match(r"modes\.(\w+)", place)
            here = _OF_MODE.get(mode[1], allowed) if mode else allowed
            here |= SPELT if place.startswith("tools.return.arguments.") else frozenset()
            for name in _IN_BRACES.findall(text):
                if name not in here and (name in PLACEHOLDERS or part in _STRICT):
                    yield place, _unmeant(name, here)


def _unmeant(name: str, allowed: frozenset[str]) -> str:
    known = name in PLACEHOLDERS
    what = f"the placeholder {{{name}}} means nothing here" if known else f"unknown placeholder {{{name}}}"
    near = difflib.get_close_matches(name, allowed, n=1)
    return f"{what}; did you mean {{{near[0]}}}?" if near else f"{what}; known: {', '.join(sorted(allowed))}"


def _ungrouped(data: JSONObject) -> Iterator[tuple[str, str]]:
    for mode, argv in as_object(data.get("modes", {})).items():
        for index, word in enumerate(as_list(argv)):
            for name in _MAY_BE_ABSENT.intersection(_IN_BRACES.findall(as_text(word))):
                group = f'["--option", "{{{name}}}"]'
                yield f"modes.{mode}[{index}]", f"{{{name}}} is not asked for in every run: group it, as in {group}"


def _unsaid(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Find a runtime that never hears its task, a tool that never gets what it is called for."""
    files = list(_texts(data.get("files"), ""))
    for mode, argv in as_object(data.get("modes", {})).items():
        for name in _TOLD_IN.get(mode, ()):
            if not _holds([*files, *_texts(argv, "")], name):
                yield f"modes.{mode}", f"holds no {{{name}}}: the runtime would never hear its task"
    for part, tool in as_object(data.get("tools", {})).items():
        wanted = _ARGUMENT_OF.get(part)
        if wanted and not _holds(_texts(as_object(tool).get("arguments"), ""), wanted):
            yield f"tools.{part}.arguments", f"holds no {{{wanted}}}"
        if part == "handoff" and not _holds(_texts(tool, ""), "agent"):
            yield "tools.handoff", "holds {agent} neither in its name nor in its arguments: it would name nobody"


def _unfounded(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Find a capability that nothing else in the profile makes possible."""
    modes, tools = as_object(data.get("modes", {})), as_object(data.get("tools", {}))
    for index, capability in enumerate(map(as_text, as_list(data.get("capabilities", [])))):
        mode, tool = _MODE_OF.get(capability), TOOL_OF.get(capability)
        if mode and data.get("driver") == "command" and mode not in modes:
            yield f"capabilities[{index}]", f"{capability!r} needs modes.{mode}"
        if tool and tool not in tools:
            yield f"capabilities[{index}]", f"{capability!r} needs tools.{tool}"
        if capability == "transfer" and data.get("attribution", "token") == "token":
            # The next agent goes on with the root's conversation, first message and all.
            yield f"capabilities[{index}]", '\'transfer\' needs another attribution than "token", such as "model"'


def _unreachable(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Find a wire format whose runtime would talk to the real provider, because nothing tells it our address."""
    shared = [pair for part in ("env", "files", "modes") for pair in _texts(data.get(part), "")]
    for wire, setup in as_object(data.get("wires", {})).items():
        texts = [*shared, *_texts(setup, "")]
        if not (_holds(texts, "base_url") or _holds(texts, "port")):
            yield f"wires.{wire}.env", "holds no {base_url}: the runtime would never find the scripted provider"


def _unasked(data: JSONObject) -> Iterator[tuple[str, str]]:
    if data.get("driver") == "command" and "adapter" in data:
        yield "adapter", 'a runtime that is started anew for each run has none; one that lives on has driver = "stdio"'


def _untimed(data: JSONObject) -> Iterator[tuple[str, str]]:
    texts = list(_texts(data.get("timeout_env"), ""))
    if texts and not any(_holds(texts, name) for name in _LIMIT):
        yield "timeout_env", "holds neither {seconds} nor {milliseconds}: it would set no limit"


def _uncaptured(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Find a value that is captured from no result, or is of no use."""
    tools = as_object(data.get("tools", {}))
    tool = as_object(tools.get("await", {}))
    if tool and "spawn" not in tools:
        yield "tools.await", "awaits nothing without tools.spawn"
    for name, pattern in as_object(tool.get("captures", {})).items():
        place, groups = f"tools.await.captures.{name}", _groups(as_text(pattern))
        if name in PLACEHOLDERS:
            yield place, f"{{{name}}} stands for something else: choose another name"
        elif not groups:
            yield place, "not a regular expression with a group" if groups is None else "holds no group to capture"
        elif not _holds(_texts(tool.get("arguments"), ""), name):
            yield place, f"tools.await.arguments holds no {{{name}}}"


def _spelt(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Find a returned value that stands in two places."""
    tool = as_object(as_object(data.get("tools", {})).get("return", {}))
    texts = list(_texts(tool.get("arguments"), ""))
    for name in sorted(SPELT):
        if "payload" in tool and _holds(texts, name):
            yield "tools.return.payload", f"{{{name}}} says where in the arguments the value stands: leave one out"


def _divided(data: JSONObject) -> Iterator[tuple[str, str]]:
    """Find a result that stands in one place and is put together from several."""
    result = as_object(data.get("result", {}))
    beside = [key for key in ("from", "file", "event") if key in result] if "parts" in result else []
    yield from ((f"result.{key}", "each of result.parts says so for itself") for key in beside)


def _groups(pattern: str) -> int | None:
    try:
        return re.compile(pattern).groups
    except re.error:
        return None


def _patterns(data: JSONObject) -> Iterator[tuple[str, str]]:
    for key in ("tool_error", "failure"):
        try:
            everything = key in data and re.search(as_text(data[key]), "") is not None
        except re.error as error:
            yield key, f"not a regular expression: {error}"
        else:
            if everything:
                yield key, "matches the empty text, and so every text: it would tell nothing"


def _texts(value: JSON, place: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) for every string below a value, keys of objects too."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{place}.{key}", key
            yield from _texts(item, f"{place}.{key}")


def _holds(texts: Iterator[tuple[str, str]] | list[tuple[str, str]], name: str) -> bool:
    return any(f"{{{name}}}" in text for _, text in texts)
