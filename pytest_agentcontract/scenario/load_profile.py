"""agent-contract.toml -> profiles: TOML read strictly, checked against the profile schema, made into values.

The shipped profiles take the same road, so that they can say nothing that a user's can't.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from pytest_agentcontract import resources
from pytest_agentcontract.errors import ProfileError
from pytest_agentcontract.jsonvalue import JSON, MISSING, JSONObject, as_list, as_object, as_text, dumps
from pytest_agentcontract.scenario import profile_faults
from pytest_agentcontract.scenario.profile import (
    Argument,
    Attribution,
    Binding,
    Driver,
    Install,
    Limits,
    Part,
    Profile,
    ResultRule,
    SideCall,
    Source,
    WireSetup,
)
from pytest_agentcontract.scenario.start import Mode

_T = TypeVar("_T")
REMEDY = "The page `write-a-profile` of the documentation describes the format."
_QUOTED = re.compile(r"\['([^']*)'\]")
_RESERVED = ("mutant:", "null:", "reference-")


@dataclass(frozen=True, slots=True)
class Config:
    """An agent-contract.toml: runtimes in order, the requirement set it names, where snapshots and own cases lie."""

    path: Path
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    requirements: str = ""
    snapshots: Path | None = None
    cases: Path | None = None


def load_config(path: Path) -> Config:
    """Read the user's agent-contract.toml; raise ProfileError naming file, place and remedy."""
    content = _content(path)
    document = _document(content, path)
    _check(document, str(path))
    return Config(
        path=path,
        profiles=_profiles(document, content, path.parent),
        requirements=as_text(document.get("requirements", "")),
        snapshots=_folder(document, "snapshots", path),
        cases=_folder(document, "cases", path),
    )


def read(path: Path) -> JSONObject:
    """Read a file as the TOML that it should be, whatever it says; raise ProfileError if it is none."""
    return _document(_content(path), path)


def load_profiles(path: Path) -> dict[str, Profile]:
    """Read the runtimes of the user's agent-contract.toml by name; raise ProfileError for whatever is wrong with it."""
    return dict(load_config(path).profiles)


def load_tables(tables: Mapping[str, object], where: str) -> dict[str, Profile]:
    """Read runtimes that a program wrote, as tables of the same form; `where` names it in an error."""
    try:
        document: JSONObject = {"runtimes": _plain(tables)}
        content = dumps(document).encode()
    except (ValueError, RecursionError) as error:
        raise ProfileError(str(error), where=where, remedy=REMEDY) from error
    _check(document, where)
    return _profiles(document, content, Path.cwd())


@cache
def shipped() -> Mapping[str, Profile]:
    """Return every shipped profile by name; the project's own tests hold them to the schema."""
    found: dict[str, Profile] = {}
    for path in sorted(resources.profiles().glob("*.toml")):
        content = _content(path)
        found |= _profiles(_document(content, path), content, path.parent)
    return found


def _folder(document: JSONObject, key: str, path: Path) -> Path | None:
    return path.parent / as_text(document[key]) if key in document else None


def _check(document: JSONObject, where: str) -> None:
    for place, complaint in faults(document):
        raise ProfileError(complaint, where=f"{where}: {place}", remedy=REMEDY)


def faults(document: JSONObject) -> Iterator[tuple[str, str]]:
    """Yield everything that is wrong with an agent-contract.toml that was read: a place in it, and a complaint."""
    from pytest_agentcontract.scenario.schemas import complaints  # noqa: PLC0415 - only foreign files pay for jsonschema

    runtimes = as_object(document.get("runtimes", {}))
    for name in runtimes:
        if name == "reference" or name.startswith(_RESERVED):
            yield f"runtimes.{name}", f"the name {name!r} is reserved: give your runtime a name of its own"
    # An unknown key comes first: a key that is missing is most often that one, misspelt.
    for place, complaint in sorted(
        complaints("profile", document), key=lambda found: not found[1].startswith("unknown")
    ):
        yield _QUOTED.sub(r".\1", place).removeprefix("$."), complaint
    for name, data in runtimes.items():
        yield from ((f"runtimes.{name}.{place}", wrong) for place, wrong in profile_faults.faults(as_object(data)))


def _profiles(document: JSONObject, content: bytes, folder: Path) -> dict[str, Profile]:
    digest = hashlib.sha256(content).hexdigest()
    runtimes = {name: as_object(data) for name, data in as_object(document["runtimes"]).items()}
    return {name: _built(name, data, folder, digest) for name, data in runtimes.items()}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProfileError(error.strerror or str(error), where=str(path), remedy="Name an existing file.") from error


def _document(content: bytes, path: Path) -> JSONObject:
    try:
        return as_object(_plain(tomllib.loads(content.decode())))
    except (ValueError, RecursionError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ProfileError(f"not usable TOML: {message}", where=str(path), remedy=REMEDY) from error


def _plain(value: object) -> JSON:
    """Return a table as JSON: dates, NaN and infinity have no place in a profile."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str | int) or (isinstance(value, float) and abs(value) < float("inf")):
        return value
    raise ValueError(f"the value {value} is neither text, number, boolean, list nor table")


def _built(name: str, data: JSONObject, folder: Path, digest: str) -> Profile:
    return Profile(
        name=name,
        driver=cast("Driver", data["driver"]),
        wires={wire: _wire(as_object(setup)) for wire, setup in as_object(data.get("wires", {})).items()},
        result=_result(as_object(data.get("result", {}))),
        capabilities=frozenset(_texts(data["capabilities"])),
        modes={cast("Mode", mode): _command(argv, folder) for mode, argv in as_object(data.get("modes", {})).items()},
        entry=_entry(data, folder),
        python=_beside(folder, as_text(data["python"])) if "python" in data else "",
        install=_install(as_object(data.get("install", {}))),
        adapter=_adapter(data.get("adapter", []), folder),
        folder=str(folder.absolute()),
        settings=_strings(data, "settings"),
        tools={part: _binding(as_object(tool)) for part, tool in as_object(data.get("tools", {})).items()},
        limits=_limits(as_object(data.get("limits", {}))),
        files=_strings(data, "files"),
        env=_strings(data, "env"),
        timeout_env=_strings(data, "timeout_env"),
        path=tuple(_beside(folder, entry) for entry in _texts(data.get("path", []))),
        attribution=cast("Attribution", data.get("attribution", "token")),
        agents=_strings(data, "agents"),
        side_calls=tuple(side_call(as_object(rule)) for rule in as_list(data.get("side_calls", []))),
        tool_error=as_text(data.get("tool_error", "")),
        failure=as_text(data.get("failure", "")),
        timeout=_number(data.get("timeout", 30)),
        reads_stdin=data.get("reads_stdin") is True,
        version=_argv(_texts(data.get("version", [])), folder),
        digest=digest,
    )


def _entry(data: JSONObject, folder: Path) -> str:
    entry = as_text(data.get("entry", ""))
    return _beside(folder, entry) if data["driver"] == "framework" else entry


def _install(data: JSONObject) -> Install:
    return Install(_texts(data.get("python", [])), _texts(data.get("npm", [])))


def _wire(data: JSONObject) -> WireSetup:
    return WireSetup(_strings(data, "env"), as_text(data.get("suffix", "")), _strings(data, "files"))


def _result(data: JSONObject) -> ResultRule:
    return ResultRule(
        source=cast("Source", data.get("from", "stdout-json")),
        value=as_text(data.get("value", "/result")),
        structured=_optional(data, "structured", str),
        failed=_optional(data, "failed", str),
        failed_if=as_object(data.get("failed_if", {})),
        exit_ok=tuple(code for code in as_list(data.get("exit_ok", [0])) if isinstance(code, int)),
        usage_input=_optional(data, "usage_input", str),
        usage_output=_optional(data, "usage_output", str),
        fields=_strings(data, "fields"),
        file=as_text(data.get("file", "")),
        event=as_object(data.get("event", {})),
        since=as_object(data.get("since", {})),
        parts={name: _part(as_object(part)) for name, part in as_object(data.get("parts", {})).items()},
    )


def _part(data: JSONObject) -> Part:
    event, since = (as_object(data.get(marks, {})) for marks in ("event", "since"))
    return Part(cast("Source", data["from"]), as_text(data.get("file", "")), event, since)


def _limits(data: JSONObject) -> Limits:
    return Limits(_optional(data, "steps", int), _optional(data, "nudges", int))


def _binding(data: JSONObject) -> Binding:
    return Binding(
        name=as_text(data["name"]),
        arguments=as_object(data.get("arguments", {})),
        payload=as_text(data.get("payload", "")),
        schema_template=data.get("schema_template", MISSING),
        captures=_strings(data, "captures"),
    )


def side_call(data: JSONObject) -> SideCall:
    """Read a rule for requests of no agent's conversation; `data` has passed the schema."""
    return SideCall(
        answer=as_text(data["answer"]),
        tools="none" if "tools" in data else "any",
        system_contains=as_text(data.get("system_contains", "")),
        model=as_text(data.get("model", "")),
    )


def _command(argv: JSON, folder: Path) -> tuple[Argument, ...]:
    first, *more = as_list(argv)
    words = (_group(folder, word) if isinstance(word, list) else _word(folder, as_text(word)) for word in more)
    return (_program(folder, as_text(first)), *words)


def _group(folder: Path, words: list[JSON]) -> tuple[str, ...]:
    return tuple(_word(folder, as_text(word)) for word in words)


def _adapter(value: JSON, folder: Path) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else _argv(_texts(value), folder)


def _argv(words: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    return (_program(folder, words[0]), *(_word(folder, word) for word in words[1:])) if words else ()


def _program(folder: Path, name: str) -> str:
    """Return a program as named, but with a relative path taken from the file's folder: a run has its own."""
    return _beside(folder, name) if "/" in name and not name.startswith("{") else name


def _word(folder: Path, word: str) -> str:
    """Return an argument, with a path that says that it is relative taken from the file's folder as a program's is."""
    # Joined and not tidied up: what follows the path may be more than a path.
    return f"{folder.absolute()}/{word.removeprefix('./')}" if word.startswith(("./", "../")) else word


def _beside(folder: Path, entry: str) -> str:
    return os.path.normpath(folder.absolute() / os.path.expanduser(entry))  # noqa: PTH111 - Path's own raises on ~nobody


def _optional(data: JSONObject, key: str, kind: type[_T]) -> _T | None:
    value = data.get(key)
    return value if isinstance(value, kind) else None


def _number(value: JSON) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _strings(data: JSONObject, key: str) -> dict[str, str]:
    return {name: as_text(value) for name, value in as_object(data.get(key, {})).items()}


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(as_text(item) for item in as_list(value))
