"""From what a run left behind to what its caller was handed: find the document, read it by the profile's pointers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_agentcontract.drivers.launch import Launch
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, as_list, equal, loads, point
from pytest_agentcontract.scenario.binding import fill
from pytest_agentcontract.scenario.observation import Delivery, Ended
from pytest_agentcontract.scenario.profile import Part, ResultRule, Source
from pytest_agentcontract.wire.turn import Usage

LIMIT = 8 * 1024 * 1024
"""How many bytes of each output a run may print; one that prints more is ended."""

TOO_MUCH = f"the run printed more than {LIMIT // 1024 // 1024} MiB and was ended"

_SHOWN = 60
_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Run:
    """How a run ended, before anything is read out of it."""

    ended: Ended
    exit_code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    leftovers: tuple[str, ...] = ()
    seconds: float = 0.0
    returned_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The result document, or why there is none."""

    document: JSON | Missing = MISSING
    problem: str = ""


def find(launch: Launch, run: Run) -> Found:
    """Look for the result document where the profile says it stands; other modes than `json` have none."""
    rule = launch.profile.result
    if launch.case.given.mode != "json":
        return Found()
    if run.ended == "output-limit":
        return Found(problem=TOO_MUCH)
    if not rule.parts:
        return _read(run, rule, launch.values())
    parts = {name: _read(run, part, launch.values()) for name, part in rule.parts.items()}
    there = {name: part.document for name, part in parts.items() if not isinstance(part.document, Missing)}
    return Found(there, next((part.problem for name, part in parts.items() if name == _part(launch)), ""))


def elsewhere(said: Delivery, rule: ResultRule) -> tuple[Source, ...]:
    """Return the ways of reading a run's output by which some JSON document is found in it, whatever it says."""
    run = Run(said.ended, said.exit_code, said.stdout.encode(), said.stderr.encode())
    return tuple(source for source in _READERS if not source.startswith("file") and _readable(source, run, rule))


def deliver(launch: Launch, run: Run, found: Found) -> Delivery:
    """Read value, failure flag, usage and named fields out of the document."""
    rule, document = launch.profile.result, found.document
    pointer = _pointer(launch)
    fields = {name: point(document, pointer) for name, pointer in rule.fields.items()}
    return Delivery(
        ended=run.ended,
        exit_code=run.exit_code,
        stdout=run.stdout.decode(errors="replace"),
        stderr=run.stderr.decode(errors="replace"),
        document=document,
        problem=found.problem,
        value=point(document, pointer),
        failed=_failed(document, rule),
        exit_ok=run.ended == "exited" and run.exit_code in rule.exit_ok,
        usage=_usage(document, rule),
        fields={name: value for name, value in fields.items() if not isinstance(value, Missing)},
        leftovers=run.leftovers,
        seconds=run.seconds,
        returned_at=run.returned_at,
    )


def parse(text: str, where: str = "standard output") -> JSON:
    """Read exactly one JSON document; raise ValueError saying what stands there instead."""
    if not text.strip():
        raise ValueError(f"{where} is empty")
    try:
        return loads(text)
    except ValueError as error:
        shown = text.strip()[:_SHOWN]
        raise ValueError(f"{where} is not one JSON document ({error}); it begins with {shown!r}") from error


def _pointer(launch: Launch) -> str:
    return launch.profile.result.pointer(structured=launch.schema is not None)


def _part(launch: Launch) -> str:
    """Return the name of the part in which the value stands."""
    return next(iter(_pointer(launch).split("/")[1:]), "")


def _read(run: Run, rule: ResultRule | Part, values: Mapping[str, str]) -> Found:
    try:
        return Found(_READERS[rule.source](run, rule, values))
    except (ValueError, OSError) as error:
        return Found(problem=str(error))


def _readable(source: Source, run: Run, rule: ResultRule) -> bool:
    try:
        _READERS[source](run, rule, {})
    except ValueError:
        return False
    return True


def _failed(document: JSON | Missing, rule: ResultRule) -> bool | None:
    if rule.failed_if:
        return None if isinstance(document, Missing) else _has(document, rule.failed_if)
    flag = MISSING if rule.failed is None else point(document, rule.failed)
    return flag if isinstance(flag, bool) else None


def _usage(document: JSON | Missing, rule: ResultRule) -> Usage | None:
    sent, answered = _count(document, rule.usage_input), _count(document, rule.usage_output)
    return None if sent is None or answered is None else Usage(sent, answered)


def _count(document: JSON | Missing, pointer: str | None) -> int | None:
    count = MISSING if pointer is None else point(document, pointer)
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _text(content: bytes, where: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} is not UTF-8 (byte {error.start})") from error


def _stdout(run: Run, _rule: ResultRule | Part, _values: Mapping[str, str]) -> JSON:
    return parse(_text(run.stdout, "standard output"))


def _last_of_array(run: Run, rule: ResultRule | Part, values: Mapping[str, str]) -> JSON:
    items = as_list(_stdout(run, rule, values))
    if not items:
        raise ValueError("standard output is not a JSON array with at least one element")
    return items[-1]


def _last_event(run: Run, rule: ResultRule | Part, _values: Mapping[str, str]) -> JSON:
    """Take the last event with the wanted marks; lines that begin no object are the chatter of a program."""
    # Not splitlines(): JSON may hold other line ends as they are, such as U+2028.
    lines = _text(run.stdout, "standard output").split("\n")
    for line in filter(lambda line: line.startswith("{"), reversed(lines)):
        event = parse(line, "a line of standard output")
        if _has(event, rule.event):
            return event
        if rule.since and _has(event, rule.since):
            raise ValueError(f"standard output holds no event with {dict(rule.event)} since {dict(rule.since)}")
    raise ValueError(f"standard output holds no event with {dict(rule.event)}")


def _has(event: JSON, marks: Mapping[str, JSON]) -> bool:
    return all(equal(point(event, pointer), wanted) for pointer, wanted in marks.items())


def _file(run: Run, rule: ResultRule | Part, values: Mapping[str, str]) -> JSON:
    return parse(_text_of_file(run, rule, values), Path(rule.file).name)


def _text_of_file(_run: Run, rule: ResultRule | Part, values: Mapping[str, str]) -> str:
    path = Path(fill(rule.file, values))
    try:
        with path.open("rb") as file:
            content = file.read(LIMIT + 1)
    except FileNotFoundError as error:
        raise ValueError(f"the run did not write {path.name}") from error
    if len(content) > LIMIT:
        raise ValueError(f"{path.name} is larger than {LIMIT // 1024 // 1024} MiB")
    return _text(content, path.name)


def _end_of_stderr(run: Run, _rule: ResultRule | Part, _values: Mapping[str, str]) -> JSON:
    """Take the last object that reaches to the end: one that begins a line, else one behind a word on its line."""
    text = "\n" + _text(run.stderr, "standard error")
    for opening in ("\n{", "{"):
        end = len(text)
        for _ in range(min(_CANDIDATES, text.count(opening))):
            end = text.rfind(opening, 0, end)
            try:
                return loads(text[end:])
            except ValueError:
                continue
    raise ValueError("standard error does not end with a JSON document")


_READERS: Mapping[Source, Callable[[Run, ResultRule | Part, Mapping[str, str]], JSON]] = {
    "stdout-json": _stdout,
    "stdout-json-array": _last_of_array,
    "stdout-json-lines": _last_event,
    "file": _file,
    "file-text": _text_of_file,
    "stderr-json": _end_of_stderr,
}
