"""What was declared, and what was said of it: a check that never spoke is a hole that looks like a pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pytest_agentcontract.conformance.requirements import Requirement
from pytest_agentcontract.report.records import Record
from pytest_agentcontract.scenario.case import Case


@dataclass(frozen=True, slots=True)
class Declared:
    """What a run is to speak of: the requirements of each planned case, and those that the whole of them is to reach.

    A requirement that no case of the suite covers is to be reached, too, and so can't be: it is missing a case.
    """

    by_case: Mapping[str, frozenset[str]]
    by_all: frozenset[str]

    @classmethod
    def of(cls, planned: Iterable[Case], cases: Iterable[Case], ledger: Iterable[Requirement]) -> Self:
        """Derive it from the planned cases, all cases there are, and the requirements judged by."""
        by_case = {case.id: frozenset(cover.requirement for cover in case.covers) for case in planned}
        coverable = {cover.requirement for case in cases for cover in case.covers}
        homeless = (row.id for row in ledger if row.id not in coverable and not row.excluded)
        return cls(by_case, frozenset().union(*by_case.values(), homeless))


def silent(records: Sequence[Record], declared: Declared) -> Iterator[str]:
    """Yield where a run is silent, in words.

    A judged case has to speak of each of its requirements; where all planned cases were judged or found not to apply,
    the run as a whole has to speak of everything.
    """
    for record in records:
        missing = declared.by_case.get(record["case"], frozenset()) - _spoken([record])
        if missing and record["status"] != "error":
            names = ", ".join(sorted(missing))
            yield f"{record['case']} on {record['runtime']} says nothing of {names}, which it is to judge"
    never = declared.by_all - _spoken(records)
    if never and declared.by_case.keys() <= {record["case"] for record in records}:
        yield f"no case has said anything of {', '.join(sorted(never))}"


def _spoken(records: Iterable[Record]) -> frozenset[str]:
    return frozenset(check["requirement"] for record in records for check in record["checks"])
