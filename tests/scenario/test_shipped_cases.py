"""The shipped cases obey the house rules that a schema can't say."""

from __future__ import annotations

import re

import pytest

from pytest_agentcontract import resources
from pytest_agentcontract.jsonvalue import MISSING
from pytest_agentcontract.scenario.case import RETURN, WORK
from pytest_agentcontract.scenario.load_case import load_case, shipped

CASES = pytest.mark.parametrize("case", shipped(), ids=lambda case: case.id)
FILES = sorted(resources.cases().rglob("*.json"))
PLAIN = re.compile(r"[\w .,()-]*\{nonce\}[\w .,()-]*")
ID = re.compile(r"[a-z]+(/[a-z0-9-]+){1,2}")


def test_every_file_obeys_the_schema():
    """Shipped files are read without validation at run time, so they are validated here."""
    assert len([load_case(path) for path in FILES]) == len(shipped()) >= 100


@CASES
def test_the_root_begins_with_work(case):
    """Without the mark of the first `$work` call nothing else is verified, so every agent that begins has one."""
    for agent in case.script if case.given.handoff else ["root"]:
        first = case.script[agent][0]
        assert [call.tool for call in first.calls] == [WORK]
        assert first.when is None
        assert first.fault is None


@CASES
def test_a_report_of_a_workflow_carries_the_nonce(case):
    """What an agent of a workflow returns has a line that can be found in its comment, and that nobody could guess."""
    calls = [call for turns in case.script.values() for turn in turns for call in turn.calls if call.tool == RETURN]
    if case.given.handoff:
        assert all(any(PLAIN.fullmatch(line) for line in call.value.splitlines()) for call in calls)


@CASES
def test_an_invocation_shows_what_its_case_covers(case):
    """A requirement that an invocation shows stands among those that the case covers."""
    shown = {requirement for one in case.expect.route for requirement in one.covers}
    assert shown <= {cover.requirement for cover in case.covers}


@CASES
def test_the_id_is_a_plain_path(case):
    """Ids are node ids, file names and anchors: lower case, digits and dashes."""
    assert ID.fullmatch(case.id)


@CASES
def test_a_return_case_needs_a_return_tool_and_an_integrity_case_none(case):
    """The two groups never judge one runtime twice."""
    if case.id.startswith("return/"):
        assert case.needs & {"root-return", "child-return"}
    if case.id.startswith("integrity/"):
        assert "root-return" in case.without


@CASES
def test_nothing_canned_can_pass(case):
    """What a successful run must return carries this run's nonce, unless its very shape is the point."""
    if case.expect.result is None or case.expect.result.status == "failed":
        return
    shape_is_the_point = any(cover.requirement in {"RET-407", "RET-408"} for cover in case.covers)
    assert shape_is_the_point or "{nonce}" in repr(case.expect.result.value)


@CASES
def test_an_expected_success_has_a_value_and_a_failure_none(case):
    """A result is stated whole or not at all."""
    if case.expect.result is not None:
        assert (case.expect.result.status == "success") == (case.expect.result.value is not MISSING)


@CASES
def test_what_is_expected_is_what_the_script_returns(case):
    """The expected value is the payload of some unbroken reply, or the text of a step, the root's or a successor's."""
    if case.expect.result is None or case.expect.result.status == "failed" or case.given.schema is not None:
        return
    speaking = case.script if "transfer" in case.needs else ["root"]
    turns = [turn for agent in speaking for turn in case.script[agent]]
    said = [call.value for turn in turns for call in turn.calls if call.tool == RETURN] + [turn.text for turn in turns]
    assert case.expect.result.value in said
