"""Verdicts counted: one line per runtime and requirement group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from pytest_agentcontract.report.records import STATUSES, Check, Record, Status, together


@dataclass(frozen=True, slots=True)
class Row:
    """The requirements of one group by status; `should` and `known` count those not met that are no MUST, or known."""

    runtime: str
    group: str
    counts: Mapping[Status, int] = field(default_factory=dict)
    should: int = 0
    known: int = 0

    @property
    def applies(self) -> bool:
        """Whether any requirement of the group speaks of the runtime."""
        return any(count for status, count in self.counts.items() if status != "not-applicable")


def matrix(records: Iterable[Record], groups: Mapping[str, str]) -> tuple[Row, ...]:
    """Count requirements by group, in the order of `groups` (requirement -> group), runtime by runtime."""
    checks: defaultdict[str, defaultdict[str, list[Check]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for check in record["checks"]:
            checks[record["runtime"]][check["requirement"]].append(check)
    return tuple(_row(name, group, found, groups) for name, found in checks.items() for group in _order(groups, found))


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Render rows as aligned lines under a heading per runtime."""
    rows = tuple(rows)
    width = max((len(row.group) for row in rows if row.applies), default=0)
    shown = [status for status in STATUSES if status != "error" or any(row.counts.get("error") for row in rows)]
    for runtime, found in groupby(rows, key=lambda row: row.runtime):
        yield f"{runtime}, by requirement:"
        idle = []
        for row in found:
            if not row.applies:
                idle.append(row.group)
                continue
            cells = "  ".join(f"{row.counts.get(status, 0):>3} {status}" for status in shown)
            yield f"  {row.group:<{width}}  {cells}{_remark(row)}"
        if idle:
            yield f"  not applicable: {', '.join(idle)}"


def _order(groups: Mapping[str, str], found: Mapping[str, list[Check]]) -> list[str]:
    present = {groups.get(requirement, "other") for requirement in found}
    return [group for group in dict.fromkeys([*groups.values(), "other"]) if group in present]


def _row(runtime: str, group: str, found: Mapping[str, list[Check]], groups: Mapping[str, str]) -> Row:
    members = [checks for requirement, checks in found.items() if groups.get(requirement, "other") == group]
    counts: Counter[Status] = Counter(together(check["status"] for check in checks) for checks in members)
    bad = [[check for check in checks if check["status"] in ("fail", "not-verified")] for checks in members]
    return Row(
        runtime,
        group,
        counts,
        should=sum(all(check["level"] != "MUST" for check in checks) for checks in bad if checks),
        known=sum(all(check["known"] for check in checks) for checks in bad if checks),
    )


def _remark(row: Row) -> str:
    parts = [f"{row.should} of them no MUST"] * bool(row.should) + [f"{row.known} known"] * bool(row.known)
    return f"  ({', '.join(parts)})" if parts else ""
