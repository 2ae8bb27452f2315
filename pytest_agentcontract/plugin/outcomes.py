"""Outcomes held against their snapshots: asserted for the reference and where the user pins his own, else a remark."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_agentcontract.jsonvalue import equal
from pytest_agentcontract.plugin.runtimes import is_embedded, is_reference
from pytest_agentcontract.plugin.selection import Planned
from pytest_agentcontract.report.difference import worded
from pytest_agentcontract.report.records import Record
from pytest_agentcontract.report.text import harmless
from pytest_agentcontract.scenario.load_case import OWN

if TYPE_CHECKING:
    from syrupy.assertion import AssertionResult, SnapshotAssertion

_LINES, _FIELDS = 40, 2


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Where the user pins his own runtime's outcomes, if he does."""

    pinned: Path | None = None

    def compare(self, planned: Planned, record: Record, snapshot: Callable[[], SnapshotAssertion]) -> str:
        """Return how an outcome differs from its snapshot; fail the record if it is asserted, else remark on it."""
        from pytest_agentcontract.plugin import snapshots  # noqa: PLC0415 - syrupy's extensions, for judged cases only

        if record["outcome"] is None or record["status"] in ("not-applicable", "error"):
            return ""
        name = planned.profile.name
        own = planned.contract == OWN
        if is_reference(name) and not own:
            return _assert(record, snapshots.shipped(snapshot()))
        if self.pinned and not is_embedded(name):
            return _assert(record, snapshots.pinned(snapshot(), self.pinned, name, planned.wire))
        if own:
            return ""
        unmet = any(check["status"] not in ("pass", "not-applicable") for check in record["checks"])
        expected = snapshots.shipped_outcome(planned.case.id)
        judged_there = expected is not None  # a case that is not for the reference has no outcome of its
        if judged_there and not unmet and not equal(record["outcome"], expected):
            found = "; ".join(islice(worded(expected, record["outcome"]), _FIELDS))
            record["warnings"].append(
                harmless(f"every check passes, but the outcome is not that of the reference: {found}")
            )
        return ""


def _assert(record: Record, snapshot: SnapshotAssertion) -> str:
    if snapshot == record["outcome"]:
        return ""
    result = snapshot.executions[snapshot.num_executions - 1]
    if record["status"] in ("pass", "known", "should-not-met"):
        record["status"], record["why"] = "fail", "the outcome is not that of the snapshot"
    if isinstance(result.exception, PermissionError):
        return harmless(str(result.exception))
    if result.recalled_data is None:
        return f"no snapshot of the outcome: {result.snapshot_location}\n    --snapshot-update writes it"
    return harmless(f"the outcome differs from {result.snapshot_location}\n{_difference(result)}")


def _difference(result: AssertionResult) -> str:
    recalled, asserted = str(result.recalled_data).splitlines(), str(result.asserted_data).splitlines()
    lines = list(difflib.unified_diff(recalled, asserted, "snapshot", "this run", lineterm="", n=2))
    more = [f"... and {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
    return "\n".join(f"    {line}" for line in lines[:_LINES] + more)
