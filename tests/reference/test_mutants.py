"""The mutants: one decision each, its target, and a few that are seen to misbehave."""

from __future__ import annotations

from dataclasses import fields

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.reference import mutants
from pytest_agentcontract.reference.handoff_rules import HandoffRules
from pytest_agentcontract.reference.mutants import MUTANTS
from pytest_agentcontract.reference.rules import BASES, REFERENCE, Rules

ASKED_FOR = {
    "no-nudge", "nudge-once-then-empty", "nudge-without-end", "scrape-on-failure", "blank-on-tool-only-step",
    "stringify-objects", "parse-prose-as-json", "forced-tool-choice", "reply-offered-to-interactive-root",
    "reply-ends-before-batch-lands", "callback-over-hold", "stale-callback", "callback-override", "self-re-entry",
    "auto-advance-on-silence", "dropped-diagnostic", "silent-callee-holds", "origin-lost", "task-required",
    "task-with-call-accepted", "two-sentinels", "notice-to-the-trigger", "no-notice", "live-mentions",
}  # fmt: skip


def flat(rules: Rules) -> dict[str, object]:
    """Return every decision by the name that a mutant gives it."""
    own = {one.name: getattr(rules, one.name) for one in fields(Rules) if one.name != "handoff"}
    return own | {f"handoff.{one.name}": getattr(rules.handoff, one.name) for one in fields(HandoffRules)}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_differs_from_its_base_in_exactly_one_field(name):
    """And that field is the one it names."""
    mutant, mutated = MUTANTS[name], flat(mutants.rules_of(name))
    base = flat(BASES[mutant.base])
    assert [field for field in base if mutated[field] != base[field]] == [mutant.field]


def test_the_mutants_that_the_contract_names_are_there():
    """Names are unique, and each mutant says in a sentence what it breaks."""
    assert MUTANTS.keys() >= ASKED_FOR
    assert len({mutant.breaks for mutant in MUTANTS.values() if mutant.base == "reference"}) >= 60
    assert all(mutant.breaks.endswith(".") for mutant in MUTANTS.values())


def test_every_decision_can_be_wrong():
    """A field of the rules that no mutant replaces is an option that nobody needs, or a bound of the client's."""
    replaced = {mutant.field for mutant in MUTANTS.values()}
    assert flat(REFERENCE).keys() - replaced == {"step_cap", "returned_block", "backoff"}


def test_an_unknown_mutant_is_a_usage_error():
    """The remedy lists the known ones."""
    with pytest.raises(UsageError, match="no-nudge"):
        mutants.rules_of("nobody")


@pytest.mark.parametrize(
    ("name", "result", "failed"),
    [
        ("no-nudge", "", True),
        ("nudge-once-then-empty", "", False),
        ("prose-is-the-answer", "One.", False),
        ("scrape-on-failure", "Four.", True),
    ],
)
def test_a_mutant_that_forgets_how_to_insist(bench, model, name, result, failed):
    """Four finishes in prose end as its name says."""
    for text in ("One.", "Two.", "Three.", "Four."):
        model.say(text)
    document = bench.run(mutant=name).document
    assert (document["result"], document["is_error"]) == (result, failed)


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("stringify-objects", {"a": 1}, '{"a": 1}'),
        ("parse-json-strings", '{"a": 1}', {"a": 1}),
        ("trim-string", " x ", "x"),
        ("numbers-as-floats", {"n": 2**53 + 1}, {"n": float(2**53)}),
    ],
)
def test_a_mutant_that_spoils_the_payload(bench, model, name, value, result):
    """The same reply reaches the caller as something else."""
    model.reply(value)
    assert bench.run(mutant=name).document["result"] == result


def test_a_mutant_of_the_tool_less_variant_has_no_return_tool(bench, model):
    """Its base decides what is offered."""
    model.say("")
    document = bench.run(mutant="success-with-empty").document
    assert (document["result"], document["is_error"]) == ("", False)
    assert "reply" not in model.wire.tools(model.requests[0])
