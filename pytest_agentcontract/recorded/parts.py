"""A call of a runtime's own tool -> the part that it plays in a case: the way back of what a profile binds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, JSONObject, Missing, equal, point
from pytest_agentcontract.scenario.case import RETURN, WORK
from pytest_agentcontract.scenario.profile import Binding

_PLACEHOLDER: Final = re.compile(r"\{(mark|child_prompt|agent|nonce|workdir)\}")


def opened(binding: Binding, call: JSONObject) -> Mapping[str, str] | None:
    """Return what a call puts in the places that a binding leaves open; None where it is no call of that binding."""
    found: dict[str, str] = {}
    given = call.get("arguments", {})
    fits = "raw_arguments" not in call and _fits(binding.name, call["tool"], found)
    return found if fits and _fits(dict(binding.arguments), given, found) else None


def as_return(binding: Binding, call: JSONObject) -> JSONObject | None:
    """Return the case's call of a return, with its value; None for a call that is none, or says more than a value."""
    arguments = call.get("arguments", {})
    if call["tool"] != binding.name or "raw_arguments" in call:
        return None
    if arguments == {}:
        return {"tool": RETURN}
    value = point(arguments, binding.payload)
    if isinstance(value, Missing) or not _fits(dict(binding.arguments), _without(arguments, binding.payload), {}):
        return None
    return {"tool": RETURN, "value": value}


def as_work(binding: Binding, call: JSONObject, marks: dict[str, str]) -> JSONObject | None:
    """Return the case's call of work; `marks` names what calls left their mark at, each once."""
    found = opened(binding, call)
    if found is None or "mark" not in found:
        return None
    mark = marks.setdefault(found["mark"], f"work-{len(marks) + 1}")
    return {"tool": WORK, "mark": mark}


def _fits(template: JSON, value: JSON, found: dict[str, str]) -> bool:
    if isinstance(template, str) and isinstance(value, str):
        return _text_fits(template, value, found)
    if isinstance(template, dict) and isinstance(value, dict):
        return template.keys() == value.keys() and all(_fits(template[key], value[key], found) for key in template)
    if isinstance(template, list) and isinstance(value, list):
        return len(template) == len(value) and all(map(_fits, template, value, [found] * len(value)))
    return equal(template, value)


def _text_fits(template: str, text: str, found: dict[str, str]) -> bool:
    plain = [re.escape(part) for part in _PLACEHOLDER.split(template)[::2]]
    names = _PLACEHOLDER.findall(template)
    matched = re.fullmatch("(.+?)".join(plain), text, re.DOTALL)
    if matched is not None:
        found.update(zip(names, matched.groups(), strict=True))
    return matched is not None


def _without(value: JSON, pointer: str) -> JSON:
    """Take out what stands at a pointer, and the objects around it that are empty then."""
    first, *others = pointer.split("/")[1:] or [""]
    if not pointer or not isinstance(value, dict):
        return {}
    rest = _without(value[first], "".join(f"/{step}" for step in others)) if others else {}
    return {key: part for key, part in value.items() if key != first} | ({first: rest} if rest != {} else {})
