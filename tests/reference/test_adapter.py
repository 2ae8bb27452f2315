"""The reference behind the stdio protocol answers every vector and passes cases as it does in process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.drivers import stdio
from pytest_agentcontract.drivers.asking import ask
from pytest_agentcontract.drivers.messages import Answer
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.reference.adapter import answer
from pytest_agentcontract.scenario import load_case, load_profile
from pytest_agentcontract.scenario.profile import Profile
from pytest_agentcontract.wire.formats import FORMATS

ROOT = Path(__file__).parent.parent.parent
MODULE = (sys.executable, "-m", "pytest_agentcontract.reference.adapter")
ADVANCE = {"dispatch": {"status": "advance"}}
LINE = '<!-- AGENT_RUN_CONFIG {"dispatch": {"status": "advance"}} -->'
WORKFLOW = {
    "name": "w",
    "agents": {"a": {"role": "plans"}, "b": {"role": "reads"}},
    "steps": [{"id": "one", "agent": "a", "next": "two"}, {"id": "two", "agent": "b", "terminal": True}],
}
FACTS = {"workflow": WORKFLOW, "step": "one", "agent": "a", "callback": None, "called_by": None}
CASES = (
    "return/termination/reply-ends-the-run",
    "return/no-reply/nudged-then-replies",
    "return/text-mode/tokens-as-they-come",
    "return/who-returns/interactive-root-converses",
    "faults/reply/cut-in-call-fin",
)


@pytest.fixture(scope="module")
def adapter() -> Iterator[Profile]:
    """Return the shipped profile, started from this checkout."""
    yield replace(load_profile.shipped()["reference-stdio"], adapter=MODULE, folder=str(ROOT))
    stdio.stop_all()


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """Return one provider for all cases."""
    with Provider() as provider:
        yield provider


@pytest.mark.parametrize(
    ("op", "given", "output"),
    [
        ("parse", {"text": f"Done.\n{LINE}"}, {"reading": "config", "config": ADVANCE, "diagnostic": None}),
        ("parse", {"text": "Done."}, {"reading": "none", "config": None, "diagnostic": None}),
        ("parse", {"text": LINE, "author": "human"}, {"reading": "none", "config": None, "diagnostic": None}),
        ("parse", {"text": LINE, "author": "engine"}, {"reading": "config", "config": ADVANCE, "diagnostic": None}),
        ("render", {"config": ADVANCE}, {"line": LINE}),
        ("model", {"json": json.dumps(ADVANCE)}, {"valid": True, "diagnostic": None}),
        ("inert", {"text": "ask @ada"}, {"body": "ask @\u200bada"}),
        (
            "notice",
            {"status": "ended", "stop": "terminal", "started_by": None, "issue_author": "bob", "trigger_author": "cy"},
            {"mentions": "bob"},
        ),
        (
            "notice",
            {"status": "running", "stop": None, "started_by": "ada", "issue_author": None, "trigger_author": None},
            {"mentions": None},
        ),
        (
            "route",
            {**FACTS, "text": LINE},
            {"next": "b", "step": "two", "status": "running", "dispatch": "advance", "origin": "agent", "reason": None,
             "callback": None, "called_by": None, "notice": False},
        ),
        (
            "route",
            {**FACTS, "text": LINE, "failed": True},
            {"next": None, "step": "one", "status": "awaiting-human", "dispatch": "hold", "origin": "engine_fallback",
             "reason": "no-action default: agent emitted no decision", "callback": None, "called_by": None,
             "notice": True},
        ),
    ],
)  # fmt: skip
def test_each_operation_is_answered_alike_in_process_and_over_stdio(adapter, op, given, output) -> None:
    """One function, two ways to reach it."""
    assert answer(op, given) == output
    assert ask(adapter, op, given) == Answer(output)


def test_the_team_section_is_answered(adapter) -> None:
    """Roles come from the agents of the workflow, the caller from the facts."""
    given = {"agents": WORKFLOW["agents"], "agent": "b", "called_by": "a", "callback": "a"}
    section = ask(adapter, "team", given).output["section"]
    assert "- a: plans" in section
    assert "You were called by a — your result returns to a." in section


@pytest.mark.parametrize(
    ("op", "given"), [("render", {"config": {}}), ("route", {**FACTS, "workflow": {"name": "x"}, "text": ""})]
)
def test_an_input_that_is_invalid_is_an_error_answer(adapter, op, given) -> None:
    """What can't be rendered or routed is answered with the reason, and the adapter lives on."""
    assert ask(adapter, op, given).error
    assert ask(adapter, "parse", {"text": ""}).error == ""


@pytest.mark.parametrize("wire", FORMATS)
@pytest.mark.parametrize("case_id", CASES)
def test_a_case_passes_over_stdio(adapter, provider, case_id, wire) -> None:
    """Headless, text and interactive runs pass through the adapter as they do in process."""
    case = next(case for case in load_case.shipped() if case.id == case_id)
    report = run_case(case, adapter, wire, provider)
    assert [verdict for verdict in report.verdicts if verdict.status not in ("pass", "not-applicable")] == []
    assert any(verdict.status == "pass" for verdict in report.verdicts)


def _converse(*lines: str) -> tuple[list[dict], int]:
    done = subprocess.run(MODULE, cwd=ROOT, input="\n".join(lines), capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def test_it_bears_with_what_it_can_not_use() -> None:
    """A broken line, an unknown command and a late `say` don't end it; the end of its input does."""
    answers, code = _converse("{", '{"seq": 1, "cmd": "dance"}', '{"seq": 1, "cmd": "say", "line": null}')
    assert [(found["seq"], found["ok"]) for found in answers] == [(None, False), (1, False)]
    assert (answers[1]["unsupported"], code) == (True, 0)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"protocols": [2]}, "version 1"),
        ({"protocols": [1], "settings": {"variant": "green"}}, "no variant 'green'"),
    ],
)
def test_it_declines_a_start_that_it_can_not_meet(start, said) -> None:
    """A version that it does not speak and a setting that it does not know are told at once."""
    (declined,), _ = _converse(json.dumps({"seq": 1, "cmd": "start", "suite": "0", "settings": {}} | start))
    assert said in declined["error"]["message"]
