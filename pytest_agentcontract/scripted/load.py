"""Script file -> playbook: JSON or strict YAML, checked against the script schema, made into a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pytest_agentcontract.errors import ScriptError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_list, as_object, as_text, loads
from pytest_agentcontract.scenario import load_profile, load_script, schemas
from pytest_agentcontract.scenario.case import ScriptedTurn
from pytest_agentcontract.scenario.profile import Attribution
from pytest_agentcontract.scripted import strict_yaml
from pytest_agentcontract.scripted.playbook import ONLY, Complaint, Playbook, loose_attribution, loose_turns
from pytest_agentcontract.scripted.strict_yaml import TWICE, Document

_TOML = re.compile(r"""\s*(\[\[?[\w."' -]+\]\]?\s*(#.*)?|[\w."'-]+\s*=.*)""")
"""A line that only TOML begins with: the head of a table, or a key and its value."""

REMEDY = "The page `serve` of the documentation describes the format."
_YAML = (".yaml", ".yml")
_SHORT, _LONG = "/turns", "/agents"
OF_CASES = ("value", "mark", "agent", "truncate")
"""What a call has in a case alone: it is said of the `$` tools, or of the arguments that they are given."""


def load(path: Path) -> Playbook:
    """Read a script file; raise ScriptError for the first thing that is wrong with it."""
    document, broken = read(path)
    for fault in broken:
        raise fault
    for place, complaint in faults(document.value):
        raise ScriptError(complaint, where=f"{path}: {place}" if place else str(path), remedy=REMEDY)
    return playbook(as_object(document.value))


def read(path: Path) -> tuple[Document, tuple[ScriptError, ...]]:
    """Read a file as JSON if it begins as JSON does, else as YAML; return what it holds, and all that it says amiss.

    Of JSON, keys that stand twice are all found, other faults of its syntax one at a time. Raises ScriptError for a
    file that can't be read.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ScriptError(error.strerror or str(error), where=str(path), remedy="Name an existing file.") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"no text in UTF-8: {error.reason}", where=str(path), remedy=REMEDY) from error
    kind = "JSON" if is_json(text) and path.suffix not in _YAML else "YAML"
    if is_json(text):
        try:
            return Document(loads(text)), ()
        except ValueError as error:
            wrong = error
    document = strict_yaml.read(text)
    # JSON is YAML, too, all but a few odd spaces: that reader knows the lines.
    if kind == "JSON" and not (document.faults and all(TWICE in fault.what for fault in document.faults)):
        return Document(parses=False), (ScriptError(f"not JSON: {wrong}", where=str(path), remedy=REMEDY),)
    told = (
        ScriptError(f"not usable {kind}: {fault.what}", where=f"{path}:{fault.line}", remedy=REMEDY)
        for fault in document.faults
    )
    return document, tuple(told)


def is_json(text: str) -> bool:
    """Tell whether a text begins as a JSON document does."""
    return text.lstrip().startswith(("{", "["))


def is_toml(path: Path) -> bool:
    """Tell whether a file begins as only TOML does: it is a configuration."""
    try:
        lines = path.read_bytes().decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return False
    said = (line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return _TOML.fullmatch(next(said, "")) is not None


def faults(document: JSON) -> Iterator[Complaint]:
    """Yield everything that is wrong with a script's document: a JSON pointer, and a complaint."""
    data = as_object(document)
    prefix, agents = (_SHORT, {ONLY: data["turns"]}) if "turns" in data else (_LONG, as_object(data.get("agents")))
    loose = ((_placed(place, prefix), complaint) for place, complaint in load_script.loose_turns(agents))
    wrong = [*schemas.faults("script", document), *loose]
    yield from wrong
    for place, complaint in (*_of_cases(agents), *loose_turns(_readable(agents, prefix, wrong))):
        yield _placed(place, prefix), complaint
    if not wrong:
        yield from loose_attribution(playbook(data))


def playbook(data: JSONObject) -> Playbook:
    """Build the script of a document without faults."""
    told = data.get("attribution")
    by = as_text(told) or as_text(as_object(told).get("by"))
    marks = {agent: as_text(mark) for agent, mark in as_object(as_object(told).get("marks")).items()}
    agents = {ONLY: data["turns"]} if "turns" in data else as_object(data.get("agents"))
    side_calls = tuple(load_profile.side_call(as_object(rule)) for rule in as_list(data.get("side_calls")))
    return Playbook(load_script.script_of(agents), cast("Attribution", by or "sole"), marks, side_calls)


def _of_cases(agents: JSONObject) -> Iterator[Complaint]:
    for place, call in load_script.calls_of(agents):
        for key in (key for key in OF_CASES if key in call):
            yield f"{place}/{key}", f"`{key}` is for the `$` tools of cases; a script gives `arguments`"


def _readable(agents: JSONObject, prefix: str, wrong: list[Complaint]) -> dict[str, tuple[ScriptedTurn, ...]]:
    """Read the turns that can be read, whatever is wrong with others: those say nothing."""
    unreadable = [place for place, _ in wrong if not place.endswith("/repeat")]

    def read(agent: str, at: int, turn: JSON) -> ScriptedTurn:
        place = _placed(f"/{agent}/{at}", prefix)
        broken = any(where == place or where.startswith(f"{place}/") for where in unreadable)
        return ScriptedTurn() if broken else load_script.script_of({agent: [turn]})[agent][0]

    return {
        agent: tuple(read(agent, at, turn) for at, turn in enumerate(as_list(turns))) for agent, turns in agents.items()
    }


def _placed(pointer: str, prefix: str) -> str:
    return prefix + (pointer.removeprefix(f"/{ONLY}") if prefix == _SHORT else pointer)
