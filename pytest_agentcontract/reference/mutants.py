"""The mutants: each the reference with exactly one decision replaced, the requirement it breaks, and how."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.reference import rules
from pytest_agentcontract.reference import wrong_course as course
from pytest_agentcontract.reference import wrong_reading as reading
from pytest_agentcontract.reference import wrong_showing as showing
from pytest_agentcontract.reference.handoff_mutants import HANDOFF_MUTANTS
from pytest_agentcontract.reference.mutant import Mutant
from pytest_agentcontract.reference.rules import Rules

_FULL, _TOOL_LESS = "reference", "reference-tool-less"
_NO_END = 1_000_000


_ALL: Final = (
    # Who returns.
    Mutant("reply-not-offered-to-headless-root", _FULL, "RET-101", "advertise", course.only_children,
           "The gate asks whether an agent is a sub-agent, so the headless root has no way to return."),
    Mutant("reply-not-offered-to-children", _FULL, "RET-102", "advertise", course.only_headless_roots,
           "Sub-agents are not offered the return tool."),
    Mutant("reply-offered-to-interactive-root", _FULL, "RET-103", "advertise", course.everybody,
           "The root of a conversation is offered the return tool."),
    Mutant("reply-accepted-from-interactive-root", _FULL, "RET-104", "accept", course.everybody,
           "A reply of an interactive root is accepted instead of refused with a tool error."),
    Mutant("interactive-root-is-nudged", _FULL, "RET-105", "insist", course.everybody,
           "An interactive root that ends a turn in prose is nudged instead of parked."),
    Mutant("headless-root-parks", _FULL, "RET-106", "insist", course.only_children,
           "A headless root is offered the reply, but parks in prose as if a human would answer."),
    Mutant("nudge-waits-for-children", _FULL, "RET-107", "wait_before_nudge", value=True,
           breaks="A headless root that ends in prose waits for its children before it is nudged."),
    # Termination.
    Mutant("goes-on-after-reply", _FULL, "RET-201", "requests_after_reply", 1,
           "After its reply an agent asks the model once more."),
    Mutant("reply-ends-before-batch-lands", _FULL, "RET-202", "batch", reading.reply_alone,
           "A reply ends the run at once, and the calls beside it are dropped."),
    Mutant("prose-is-the-answer", _FULL, "RET-203", "advance", course.prose_is_the_answer,
           "A finish in prose is reported as a success with that prose."),
    Mutant("forced-tool-choice", _FULL, "RET-204", "tool_choice", course.force_after_a_nudge,
           "After a nudge the return tool is forced through tool_choice."),
    Mutant("last-reply-wins", _FULL, "RET-205", "choose", reading.last_reply,
           "Of two replies in one batch the last is the result."),
    Mutant("ignore-unlabelled-reply", _FULL, "RET-206", "calls", reading.only_labelled_calls,
           "A reply in a message that is not labelled as tool use is ignored."),
    Mutant("sibling-failure-voids-reply", _FULL, "RET-207", "choose", reading.reply_of_a_clean_batch,
           "A failing call beside a valid reply voids it."),
    # No reply.
    Mutant("no-nudge", _FULL, "RET-301", "nudge_budget", 0,
           "An agent that forgets to reply fails at once."),
    Mutant("silent-nudge", _FULL, "RET-301", "nudge", course.nudge_without_words,
           "A nudge sends the same conversation again, without a new message."),
    Mutant("nudge-without-the-name", _FULL, "RET-301", "nudge", course.nudge_without_the_name,
           "A nudge does not name the return tool."),
    Mutant("nudge-once-then-empty", _FULL, "RET-301", "advance", course.nudge_once_then_empty,
           "After one nudge the run ends as a success with an empty result."),
    Mutant("nudge-without-end", _FULL, "RET-302", "nudge_budget", _NO_END,
           "Nudging ends at the step cap only."),
    Mutant("budget-refilled-by-tool-work", _FULL, "RET-302", "advance", course.refill_by_tool_work,
           "Tool work between nudges refills their budget."),
    Mutant("no-work-after-a-nudge", _FULL, "RET-303", "advance", course.no_work_after_a_nudge,
           "A nudged agent that works on before it replies fails."),
    Mutant("scrape-on-failure", _FULL, "RET-304", "failed_result", showing.last_prose,
           "A failed run's result holds the last prose."),
    Mutant("zero-exit-on-failure", _FULL, "RET-304", "exit_code", showing.always_zero,
           "A failed run exits with 0."),
    Mutant("no-step-cap", _FULL, "RET-305", "advance", course.no_step_cap,
           "Nothing bounds the number of steps."),
    Mutant("cap-is-success", _FULL, "RET-305", "advance", course.cap_is_success,
           "A run that is out of steps is a success with its last prose."),
    Mutant("blank-on-tool-only-step", _FULL, "RET-306", "for_caller", showing.blank_after_a_tool_only_step,
           "A step without text after one with text blanks the result."),
    Mutant("older-prose-wins", _FULL, "RET-306", "for_caller", showing.older_prose_wins,
           "An older step's prose stands in for the reply."),
    Mutant("sign-off-wins", _FULL, "RET-307", "for_caller", showing.text_beside_wins,
           "The text beside a reply wins over its payload."),
    Mutant("empty-finish-ends-the-run", _FULL, "RET-308", "advance", course.empty_finish_ends,
           "A finish without text is not nudged."),
    Mutant("cut-text-is-the-answer", _FULL, "RET-309", "advance", course.cut_text_is_the_answer,
           "Text cut by the token limit, or a refusal, is reported as the answer."),
    Mutant("reward-thinking", _FULL, "RET-310", "advance", course.thinking_is_a_reply,
           "The thinking of an otherwise empty message is reported as the answer."),
    Mutant("nudges-are-no-steps", _FULL, "RET-311", "advance", course.nudges_are_no_steps,
           "Nudge rounds do not count against the step cap."),
    # Payload.
    Mutant("trim-string", _FULL, "RET-401", "for_caller", showing.stripped,
           "White space around a string payload is lost."),
    Mutant("stringify-objects", _FULL, "RET-402", "for_caller", showing.stringified,
           "An object or array reaches the result as a string that holds JSON."),
    Mutant("wrap-arrays", _FULL, "RET-403", "for_caller", showing.arrays_wrapped,
           "An array payload arrives wrapped in an object."),
    Mutant("parse-json-strings", _FULL, "RET-404", "validate", reading.json_strings_parsed,
           "A string that happens to be JSON becomes a structure."),
    Mutant("parse-prose-as-json", _FULL, "RET-405", "validate", reading.prose_parsed_as_json,
           "A string with a brace is parsed as JSON, and rejected where it does not parse."),
    Mutant("no-failure-flag", _FULL, "RET-406", "document", showing.without_failure_flag,
           "The result document lacks is_error."),
    Mutant("cut-large-payload", _FULL, "RET-407", "for_caller", showing.cut_when_large,
           "A long string payload is cut off."),
    Mutant("falsy-is-no-payload", _FULL, "RET-408", "validate", reading.truthy_only,
           "An empty string, object or array is rejected as missing."),
    Mutant("numbers-as-floats", _FULL, "RET-409", "for_caller", showing.numbers_as_floats,
           "Integers beyond 2^53 lose their last digits."),
    # Rejection.
    Mutant("accept-wrong-shape", _FULL, "RET-501", "validate", reading.whatever_was_given,
           "A reply without its field is accepted, with all its arguments as the payload."),
    Mutant("accept-bare-scalars", _FULL, "RET-501", "validate", reading.any_scalar,
           "A bare number, boolean or null is accepted as a payload."),
    Mutant("rejection-ends-the-run", _FULL, "RET-501", "advance", course.rejection_ends,
           "The first rejected reply fails the run."),
    Mutant("rejections-are-free", _FULL, "RET-502", "advance", course.rejections_are_free,
           "Rejected replies draw on no budget."),
    Mutant("ignore-schema", _FULL, "RET-503", "conform", reading.no_schema,
           "The requested schema is not enforced."),
    Mutant("parse-string-to-fit", _FULL, "RET-504", "conform", reading.parsed_to_fit,
           "A string is parsed to make it fit the requested schema."),
    Mutant("reject-brace-strings", _FULL, "RET-505", "validate", reading.brace_strings_rejected,
           "A string that looks like JSON and does not parse is rejected."),
    Mutant("repair-arguments", _FULL, "RET-506", "arguments", reading.repair,
           "Broken arguments are closed and taken, so that a fragment becomes the result."),
    # Sub-agents and children.
    Mutant("quote-child-strings", _FULL, "RET-601", "for_parent", showing.quoted,
           "A child's string reaches its parent as a JSON literal, with escaped newlines."),
    Mutant("parent-payload-compact", _FULL, "RET-602", "for_parent", showing.compact,
           "A child's structure reaches its parent on one line."),
    Mutant("child-scrape", _FULL, "RET-603", "failure_tag", showing.scraped_child,
           "A failed child reaches its parent as returned, with its last prose."),
    Mutant("child-failure-kills-parent", _FULL, "RET-604", "settle", showing.failed_with_its_children,
           "A parent whose child failed is reported as failed, whatever it replied."),
    Mutant("children-swapped", _FULL, "RET-605", "delivered", showing.first_result_again,
           "Every child delivers what the first one returned."),
    Mutant("children-share-the-budget", _FULL, "RET-606", "charge", showing.shared_budget,
           "A child's nudges are charged to its parent."),
    Mutant("keep-children-running", _FULL, "RET-701", "grace", showing.grace_for_all,
           "Children go on after the root's reply, and the run waits for them."),
    Mutant("count-usage-of-root-only", _FULL, "RET-702", "usage", showing.of_root_only,
           "The children's tokens are not counted."),
    Mutant("count-whole-responses-only", _FULL, "RET-702", "usage", showing.of_whole_responses_only,
           "What a cancelled response had reported is not counted."),
    Mutant("count-usage-twice", _FULL, "RET-702", "usage", showing.of_every_report,
           "Every response is counted twice."),
    Mutant("failed-root-keeps-children", _FULL, "RET-704", "grace", showing.grace_after_failure,
           "The children of a failed root go on."),
    # Text mode and provider faults.
    Mutant("text-mode-buffers", _FULL, "RET-801", "live_text", value=False,
           breaks="Text mode prints nothing before the run has ended."),
    Mutant("no-retry", _FULL, "FLT-101", "retries", 0,
           "A passing fault of the provider's ends the run."),
    Mutant("invent-on-fault", _FULL, "FLT-102", "advance", course.fault_is_an_answer,
           "A lasting fault of the provider's is a success with a made-up sentence."),
    Mutant("error-text-as-result", _FULL, "FLT-102", "failed_result", showing.reason_as_result,
           "A failed run has an error text in the place of its empty result."),
    Mutant("accept-cut-stream", _FULL, "FLT-103", "on_cut", reading.salvaged,
           "What a broken-off stream left behind is closed and taken for the answer."),
    # Without a return tool.
    Mutant("success-with-empty", _TOOL_LESS, "INT-101", "prose", reading.any_last_message,
           "A last message without text is a success with an empty result."),
    Mutant("thin-sign-off", _TOOL_LESS, "INT-102", "prose", rules.last_message,
           "A sign-off after the substantive step is the whole result."),
    Mutant("glue-steps", _TOOL_LESS, "INT-103", "for_caller", showing.glued,
           "The texts of all steps are glued into one result."),
    Mutant("trim-answer", _TOOL_LESS, "INT-104", "for_caller", showing.stripped,
           "White space around the answer is lost."),
    Mutant("parse-answer", _TOOL_LESS, "INT-104", "for_caller", showing.parsed_answer,
           "An answer that happens to be JSON becomes a structure."),
    Mutant("ignore-structure", _TOOL_LESS, "INT-105", "conform", reading.no_schema,
           "A run that asked for a structure succeeds with whatever text came."),
    Mutant("error-text-as-answer", _TOOL_LESS, "INT-106", "advance", course.failure_is_an_answer,
           "A failure is a success whose answer is a sentence of the runtime's."),
    Mutant("tool-less-cap-is-success", _TOOL_LESS, "INT-107", "advance", course.cap_is_success,
           "A run that is out of steps is a success with its last prose."),
    Mutant("tool-less-repair-arguments", _TOOL_LESS, "INT-108", "arguments", reading.repair,
           "Broken arguments are closed and the call is carried out."),
    Mutant("tool-less-child-scrape", _TOOL_LESS, "INT-109", "failure_tag", showing.scraped_child,
           "A child without a report reaches its parent as completed, with an older text."),
    Mutant("tool-less-zero-exit-on-failure", _TOOL_LESS, "INT-110", "exit_code", showing.always_zero,
           "A failed run exits with 0."),
    Mutant("tool-less-accept-cut-stream", _TOOL_LESS, "FLT-103", "on_cut", reading.salvaged,
           "What a broken-off stream left behind is taken for the answer."),
    *HANDOFF_MUTANTS,
)  # fmt: skip

MUTANTS: Final = MappingProxyType({mutant.name: mutant for mutant in _ALL})


def rules_of(name: str) -> Rules:
    """Return the rules of the mutant called `name`."""
    if name not in MUTANTS:
        raise UsageError(f"no mutant is called {name!r}", remedy=f"Known are {', '.join(MUTANTS)}.")
    return MUTANTS[name].rules
