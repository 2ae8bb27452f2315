"""The summary of a run: what was not asked is told beside what was judged."""

from __future__ import annotations

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.vectors import NOT_ASKED
from pytest_agentcontract.plugin.summary import body


def _record(op="", status="pass"):
    check = {"requirement": "HND-303", "level": "MUST", "status": status, "expected": "", "observed": "", "known": ""}
    why = f"{NOT_ASKED}{op!r}" if op else ""
    return {
        "case": "handoff/vectors/routing/a", "runtime": "mine", "wire": "", "status": status, "why": "", "seconds": 0.1,
        "outcome": None, "checks": [{**check, "why": why}], "warnings": [], "reproduce": "",
    }  # fmt: skip


def _yellow(*records):
    return [line for line, markup in body(records, requirements.load()) if markup.get("yellow")]


def test_rows_that_were_not_asked_are_counted():
    """A profile that claims the contract, with an adapter of half of it, is told so once."""
    left = [_record(op, "not-applicable") for op in ("route", "parse", "route")]
    assert _yellow(*left, _record()) == [
        "3 rows not asked: mine claims handoff, and its adapter does not support parse, route"
    ]


def test_where_every_row_was_asked_nothing_is_said():
    """It is no remark of every run."""
    assert _yellow(_record(), _record(status="not-applicable")) == []
