"""How a runtime stands to each requirement: one word over all cases and wire formats, never better than the worst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.report.records import together
from pytest_agentcontract.report.values import Checked, Report, Runtime
from pytest_agentcontract.scenario.case import Level
from pytest_agentcontract.scenario.profile import Binding, Profile, ResultRule, WireSetup

Word: TypeAlias = str

PASS, NOT_APPLICABLE, BASELINED, UNJUDGED = "pass", "not-applicable", "baselined", "not judged"
LESSER = " (SHOULD)"
"""What is added where a MUST holds, and only the part of its sentence doesn't that SHOULD hold."""

WORDS: tuple[Word, ...] = (
    PASS,
    "error",
    "fail",
    "not-verified",
    f"fail{LESSER}",
    f"not-verified{LESSER}",
    BASELINED,
    NOT_APPLICABLE,
    UNJUDGED,
)
"""Every word, in the order in which they are counted."""

_RED = ("error", "fail", "not-verified")


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement: its group, its level, and the word for each runtime by name.

    `reasons` say why it does not speak of a runtime, where no check was there to say it.
    """

    requirement: str
    group: str
    level: Level
    words: Mapping[str, Word]
    reasons: Mapping[str, str] = field(default_factory=dict)


def rows(report: Report, ledger: Mapping[str, Requirement]) -> tuple[Row, ...]:
    """Return a row for each requirement of the ledger, judged or not, and for each that only the report knows.

    One that was not judged, and can't speak of a runtime that claims what the report says, is not applicable.
    """
    checks: dict[tuple[str, str], list[Checked]] = {}
    levels: dict[str, Level] = {}
    for judged in report.cases:
        for check in judged.checks:
            checks.setdefault((check.requirement, judged.runtime), []).append(check)
            levels.setdefault(check.requirement, check.level)
    strange = [
        Requirement(name, "other", levels[name], text="", source="") for name in sorted(levels.keys() - ledger.keys())
    ]
    return tuple(_row(one, report.header.runtimes, checks) for one in (*ledger.values(), *strange))


def _row(one: Requirement, runtimes: Sequence[Runtime], checks: Mapping[tuple[str, str], Sequence[Checked]]) -> Row:
    words = {runtime.name: _word(checks.get((one.id, runtime.name), []), one.level) for runtime in runtimes}
    unjudged = (runtime for runtime in runtimes if words[runtime.name] == UNJUDGED)
    reasons = {runtime.name: reason for runtime in unjudged if (reason := _inapplicable(one, runtime))}
    return Row(one.id, one.group, one.level, words | dict.fromkeys(reasons, NOT_APPLICABLE), reasons)


def _inapplicable(one: Requirement, runtime: Runtime) -> str:
    """Say why a requirement speaks of no runtime with such claims, whether or not its profile binds a return tool."""
    reasons = [one.inapplicable(_profile(runtime, tools)) for tools in ({}, {"return": Binding("?")})]
    return reasons[0] if all(reasons) else ""


def _profile(runtime: Runtime, tools: Mapping[str, Binding]) -> Profile:
    return Profile(
        name=runtime.name,
        driver="command",
        wires={wire: WireSetup() for wire in runtime.wires},
        result=ResultRule(),
        capabilities=frozenset(runtime.capabilities),
        tools=tools,
    )


def met(found: Iterable[Row], runtime: str) -> str:
    """Return `7 of 8`: how many pass of those that speak of a runtime, judged or not; a dash where none does."""
    words = Counter(row.words[runtime] for row in found)
    applying = words.total() - words[NOT_APPLICABLE]
    return f"{words[PASS]} of {applying}" if applying else "-"


def counted(found: Iterable[Row], runtime: str) -> Counter[Word]:
    """Count the words for a runtime."""
    return Counter(row.words[runtime] for row in found)


def _word(checks: Sequence[Checked], level: Level) -> Word:
    if not checks:
        return UNJUDGED
    red = [check for check in checks if check.status in _RED]
    if not red:
        return together(check.status for check in checks)
    unknown = [check for check in red if check.status == "error" or not check.known]
    weighing = [check for check in unknown if check.status == "error" or level != "MUST" or check.level == "MUST"]
    if weighing:
        return together(check.status for check in weighing)
    return BASELINED if len(unknown) < len(red) else together(check.status for check in unknown) + LESSER
