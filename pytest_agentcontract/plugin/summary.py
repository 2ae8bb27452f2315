"""The words of the terminal: what is judged, how it stands, what was judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pytest_agentcontract.conformance.requirements import CURRENT, Requirement
from pytest_agentcontract.conformance.vectors import NOT_ASKED
from pytest_agentcontract.plugin.runtimes import Runtimes
from pytest_agentcontract.report.matrix import lines, matrix
from pytest_agentcontract.report.parity import parity
from pytest_agentcontract.report.records import CaseStatus, Record
from pytest_agentcontract.report.text import shortened

_SHOWN = 20
_WORDS: tuple[CaseStatus, ...] = ("pass", "fail", "not-verified", "error", "known", "should-not-met", "not-applicable")
_RED: tuple[CaseStatus, ...] = ("error", "fail", "not-verified")
_PLAIN: dict[str, bool] = {}
_YELLOW = {"yellow": True}


def first_line(chosen: Runtimes) -> str:
    """Say what is about to be judged."""
    subjects = ", ".join(f"{profile.name} ({', '.join(profile.wires)})" for profile in chosen.profiles)
    note = "; the suite's own: nothing of yours is judged" if chosen.embedded else ""
    return f"agent contract: judging {subjects} by requirements {chosen.requirements or CURRENT}{note}"


def last_line(chosen: Runtimes, records: Sequence[Record], planned: int) -> str:
    """Say what was judged, and how it went, and where it was less than the planned number of cases."""
    if not records:
        return f"agent contract: nothing was judged ({', '.join(profile.name for profile in chosen.profiles)})"
    parts = [_tally(profile.name, records) for profile in chosen.profiles]
    cases = len({record["case"] for record in records})
    part = f"; a part of the suite: {cases} of {planned}" if cases < planned else ""
    note = "; the suite's own runtime: nothing of yours was judged" if chosen.embedded else ""
    return f"agent contract: judged {'; '.join(parts)}{part}{note}"


def is_judged(record: Record) -> bool:
    """Tell whether a case says anything for or against a runtime."""
    return record["status"] not in ("not-applicable", "should-not-met")


def body(records: Sequence[Record], requirements: Mapping[str, Requirement]) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield the lines of the summary, each with its markup."""
    groups = {requirement.id: requirement.group for requirement in requirements.values()}
    for line in lines(matrix(records, groups)):
        yield line, _PLAIN
    yield from _unmet(records)
    yield from _unasked(records)
    yield from _remarks(records)
    yield from _parity(records)
    if records and not any(map(is_judged, records)):
        yield "no case that applies to this runtime passed: nothing is verified, which is no pass", {"red": True}
    if not records:
        yield "no case was selected or none came to its end: nothing is verified", {"red": True}


def _unmet(records: Sequence[Record]) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield what is not met, the worst first; what is the same on several wire formats stands once."""
    found: dict[tuple[str, ...], list[Record]] = {}
    red = [record for record in records if record["status"] in _RED]
    for record in sorted(red, key=lambda record: _RED.index(record["status"])):
        found.setdefault((record["case"], record["runtime"], record["status"], record["why"]), []).append(record)
    if found:
        yield "not met:", _PLAIN
    for (case, runtime, status, why), same in list(found.items())[:_SHOWN]:
        wires = ", ".join(filter(None, (record["wire"] for record in same)))
        yield f"  {status}: {case} on {runtime}{f' ({wires})' if wires else ''}", {"red": True}
        yield f"    {shortened(why, 160)}", _PLAIN
        yield f"    {same[0]['reproduce']}", _PLAIN
    if len(found) > _SHOWN:
        yield f"  ... and {len(found) - _SHOWN} more; --agent-contract-report=FILE keeps them all", _PLAIN


def _unasked(records: Sequence[Record]) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield how many rows a runtime was not asked that claims the contract, and for want of which operations."""
    found: dict[str, Counter[str]] = {}
    for record in records:
        why = record["checks"][0]["why"] if record["checks"] else ""
        if why.startswith(NOT_ASKED):
            found.setdefault(record["runtime"], Counter())[why.removeprefix(NOT_ASKED).strip("'")] += 1
    for runtime, rows in found.items():
        left = ", ".join(sorted(rows))
        yield (
            f"{rows.total()} rows not asked: {runtime} claims handoff, and its adapter does not support {left}",
            _YELLOW,
        )


def _remarks(records: Sequence[Record]) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield remarks once each, with the number of cases that gave rise to them."""
    remarks: dict[str, list[Record]] = {}
    for record in records:
        for warning in record["warnings"]:
            remarks.setdefault(warning, []).append(record)
    if remarks:
        yield "warnings (they fail nothing; a SHOULD fails under --agent-contract-strict):", _PLAIN
    for warning, found in list(remarks.items())[:_SHOWN]:
        cases = f"{found[0]['case']}" + (f" and {len(found) - 1} more" if len(found) > 1 else "")
        yield f"  {shortened(warning, 200)} [{cases}]", _YELLOW
    if len(remarks) > _SHOWN:
        yield f"  ... and {len(remarks) - _SHOWN} more; --agent-contract-report=FILE keeps them all", _PLAIN


def _parity(records: Sequence[Record]) -> Iterator[tuple[str, dict[str, bool]]]:
    """Yield whether the wire formats agree, where several were spoken."""
    compared = parity(records)
    if compared.cases and not compared.disagreements:
        yield f"wire formats: {compared.cases} cases came out the same on each", _PLAIN
    if compared.disagreements:
        yield f"wire formats disagree in {len(compared.disagreements)} of {compared.cases} cases:", _PLAIN
    for words in compared.disagreements[:_SHOWN]:
        yield f"  {shortened(words, 240)}", _YELLOW
    if len(compared.disagreements) > _SHOWN:
        yield f"  ... and {len(compared.disagreements) - _SHOWN} more", _PLAIN


def _tally(name: str, records: Sequence[Record]) -> str:
    counts = Counter(record["status"] for record in records if record["runtime"] == name)
    counted = ", ".join(f"{counts[word]} {word}" for word in _WORDS if counts[word])
    return f"{name}: {counted or 'no case'}"
