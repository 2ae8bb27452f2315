"""What lies behind each verdict that is no pass: one line for what is the same on several wire formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pytest_agentcontract.report.inline import code, name, steady
from pytest_agentcontract.report.standing import BASELINED, NOT_APPLICABLE, PASS, UNJUDGED, Row
from pytest_agentcontract.report.values import Checked, Judged, Runtime

_NAME, _TEXT = 120, 240
_RED = ("fail", "not-verified", "error")
_Shown: TypeAlias = tuple[str, str]
"""A case, and what is shown of it."""


def lines(runtime: Runtime, cases: Sequence[Judged], rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of one runtime; they say nothing of when and where it ran."""
    for row in rows:
        if row.words[runtime.name] not in (PASS, NOT_APPLICABLE, UNJUDGED):
            yield f"- **{name(row.requirement, _NAME)}** ({row.level}): {row.words[runtime.name]}"
            yield from _items(_of(cases, row), runtime)
    odd = [(judged, code(steady(judged.why), _TEXT)) for judged in cases if _unexplained(judged)]
    if odd:
        yield "- cases that no verdict explains"
        yield from _items([(judged, f"{judged.status}; {why}") for judged, why in odd], runtime)
    yield from _grouped(runtime, cases, rows)


def _of(cases: Sequence[Judged], row: Row) -> list[tuple[Judged, str]]:
    return [
        (judged, _shown(check, row))
        for judged in cases
        for check in judged.checks
        if check.requirement == row.requirement and check.status in _RED
    ]


def _shown(check: Checked, row: Row) -> str:
    """Return a verdict in short: all its texts are a stranger's."""
    texts = (("expected", check.expected), ("observed", check.observed), ("because", check.why))
    parts = [f"{word} {code(steady(text), _TEXT)}" for word, text in texts if text]
    parts += [f"{BASELINED}: {code(check.known, _TEXT)}"] if check.known else []
    status = check.status if check.level == row.level else f"{check.status} ({check.level})"
    return "; ".join([status, *parts])


def _items(found: Sequence[tuple[Judged, str]], runtime: Runtime) -> Iterator[str]:
    wires: dict[_Shown, set[str]] = {}
    for judged, shown in found:
        wires.setdefault((judged.case, shown), set()).add(judged.wire)
    for (case, shown), spoken in sorted(wires.items(), key=lambda item: (item[0], sorted(item[1]))):
        yield f"  - {name(case, _NAME)}{_on(spoken, runtime)}: {shown}"


def _on(spoken: set[str], runtime: Runtime) -> str:
    if spoken == {""}:
        return ""
    if len(spoken) > 1 and spoken >= set(runtime.wires):
        return " (all wire formats)"
    return f" ({', '.join(name(wire, _NAME) for wire in sorted(spoken))})"


def _unexplained(judged: Judged) -> bool:
    """Tell whether a red case has no red verdict: its outcome is not the pinned one, or it could not be judged."""
    return judged.status in _RED and not any(check.status in _RED for check in judged.checks)


def _grouped(runtime: Runtime, cases: Sequence[Judged], rows: Sequence[Row]) -> Iterator[str]:
    """Yield what does not apply, by the reason, and what was not judged."""
    reasons: dict[str, set[str]] = {}
    for judged in cases:
        for check in judged.checks:
            if check.status == NOT_APPLICABLE:
                reasons.setdefault(check.requirement, set()).add(check.why)
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.words[runtime.name] == NOT_APPLICABLE:
            why = row.reasons.get(runtime.name) or "; ".join(sorted(reasons[row.requirement]))
            found.setdefault(f"{NOT_APPLICABLE}: {name(steady(why), _TEXT)}", []).append(row.requirement)
        elif row.words[runtime.name] == UNJUDGED:
            found.setdefault(UNJUDGED, []).append(row.requirement)
    for why in sorted(found):
        yield f"- {why}: {', '.join(name(requirement, _NAME) for requirement in found[why])}"
