"""Wrong decisions on what caller and parent are shown, and on children: real bugs of some runtime, for a mutant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pytest_agentcontract.contract import reply
from pytest_agentcontract.contract.returning import CANCELLED, Progress, State
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps
from pytest_agentcontract.reference import rules, usage
from pytest_agentcontract.reference.mutants.wrong_reading import parsed
from pytest_agentcontract.reference.rules import Trail
from pytest_agentcontract.reference.usage import Reading, Tokens

_LARGE = 1 << 16


def last_prose(trail: Trail, _reason: str = "") -> str:
    """Scrape the last text that the agent wrote."""
    return next((answer.text for answer in reversed(trail) if answer.text), "")


def blank_after_a_tool_only_step(value: JSON, trail: Trail) -> JSON:
    """Let a step without text blank what was rolled up, as a positional result does."""
    spoke = False
    for step in trail[:-1]:
        if spoke and step.calls and not step.text:
            return ""
        spoke = spoke or bool(step.text)
    return value


def older_prose_wins(value: JSON, trail: Trail) -> JSON:
    """Let an older step stand in for a reply that has no text beside it."""
    return last_prose(trail[:-1]) or value


def text_beside_wins(value: JSON, trail: Trail) -> JSON:
    """Let the text beside a reply win over it."""
    return trail[-1].text or value


def prose_for_falsy(value: JSON, trail: Trail) -> JSON:
    """Let the last words stand in for a reply that counts as false."""
    return value or last_prose(trail)


def longest_text(value: JSON, trail: Trail) -> JSON:
    """Let the longest of all that was said win over the reply."""
    return max(value, *(answer.text for answer in trail), key=len) if isinstance(value, str) else value


def stripped(value: JSON, _trail: Trail) -> JSON:
    """Trim a string."""
    return value.strip() if isinstance(value, str) else value


def stringified(value: JSON, _trail: Trail) -> JSON:
    """Print a structure into a string."""
    return value if isinstance(value, str) else dumps(value)


def nulls_pruned(value: JSON, _trail: Trail) -> JSON:
    """Leave out the members of an object that are null."""
    return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value


def arrays_wrapped(value: JSON, _trail: Trail) -> JSON:
    """Wrap an array into an object."""
    return {"items": value} if isinstance(value, list) else value


def numbers_as_floats(value: JSON, _trail: Trail) -> JSON:
    """Read every number as a double, as many languages do."""
    floats: JSON = json.loads(dumps(value), parse_int=float)
    return floats


def cut_when_large(value: JSON, _trail: Trail) -> JSON:
    """Cut off what is long."""
    return value[:_LARGE] if isinstance(value, str) else value


def glued(_value: JSON, trail: Trail) -> JSON:
    """Glue the texts of all steps together."""
    return "".join(answer.text for answer in trail)


def parsed_answer(value: JSON, _trail: Trail) -> JSON:
    """Parse an answer that happens to be JSON."""
    found = parsed(value) if isinstance(value, str) else None
    return value if found is None else found


def reason_as_result(_trail: Trail, reason: str) -> JSON:
    """Put an error text in the place of the empty result."""
    return f"The run failed: {reason}."


def without_failure_flag(document: JSONObject) -> JSONObject:
    """Leave the failure flag out of the document."""
    return {name: value for name, value in document.items() if name != "is_error"}


def always_zero(*, failed: bool) -> int:  # noqa: ARG001 (that is the bug)
    """Exit with 0 whatever happened."""
    return 0


def quoted(value: JSON, _trail: Trail) -> str:
    """Print a string as a JSON literal."""
    return dumps(value, indent=2)


def compact(value: JSON, _trail: Trail) -> str:
    """Print a structure on one line."""
    return value if isinstance(value, str) else dumps(value)


def trimmed(value: JSON, _trail: Trail) -> str:
    """Tidy up a string before a parent reads it."""
    return reply.for_parent(value).strip()


def cut_for_the_parent(value: JSON, _trail: Trail) -> str:
    """Spare a parent what is long."""
    return reply.for_parent(value)[:_LARGE]


def nothing_for_falsy(value: JSON, _trail: Trail) -> str:
    """Judge a child's payload by its truthiness."""
    return reply.for_parent(value) if value else "(no output)"


def child_prose_for_falsy(value: JSON, trail: Trail) -> str:
    """Let a child's last words stand in for a payload that counts as false."""
    return reply.for_parent(value) if value else last_prose(trail)


def scraped_child(name: str, _reason: str, trail: Trail) -> str:
    """Hand a parent the last text of a child that failed."""
    return rules.returned_block(name, last_prose(trail))


def first_result_again(block: str, earlier: Sequence[str]) -> str:
    """Keep one slot for all children: what the first one delivered."""
    return earlier[0] if earlier else block


def failure_of_any(block: str, earlier: Sequence[str]) -> str:
    """Let the failure of one child stand for all that end after it."""
    return next((told for told in earlier if told.startswith("✗")), block)


def grace_for_all(*, failed: bool) -> float:  # noqa: ARG001 (every parent waits)
    """Let live children go on for a while after their parent."""
    return 6.0


def grace_after_failure(*, failed: bool) -> float:
    """Forget the children of a parent that failed."""
    return 6.0 * failed


def failed_with_its_children(parent: Progress, failed_children: int) -> Progress:
    """Fail a parent when one of its children has failed, as an exception that is raised at the end does."""
    return replace(parent, state=State.FAILED, reason=CANCELLED) if failed_children else parent


def shared_budget(parent: Progress, child: Progress) -> Progress:
    """Charge a parent its child's nudges."""
    return replace(parent, nudges=parent.nudges + child.nudges)


def of_root_only(readings: Sequence[Reading]) -> Tokens | None:
    """Leave the children out."""
    return usage.total([reading for reading in readings if reading.of_root])


def of_whole_responses_only(readings: Sequence[Reading]) -> Tokens | None:
    """Leave out what a cancelled or cut response had reported."""
    return usage.total([reading for reading in readings if reading.complete])


def of_every_report(readings: Sequence[Reading]) -> Tokens | None:
    """Count every response twice: as it came, and at its end."""
    return usage.total([*readings, *readings])


def of_every_figure(readings: Sequence[Reading]) -> Tokens | None:
    """Take the running totals of a stream for parts, and add them up."""
    return usage.add_up(usage.last_figures([told]) for reading in readings for told in reading.reports)
