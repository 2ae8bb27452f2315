"""The payload: a faithful value in one result document, whatever its shape, size or look."""

from __future__ import annotations

import re

from pytest_agentcontract.conformance.checks.check import check
from pytest_agentcontract.conformance.checks.handed_over import FALSY, exactly, stated_value, taken
from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.conformance.replies import FATES, fate, valid_reply
from pytest_agentcontract.conformance.told import later, news_of, prose_told, spans, spawn_results, told_of_error
from pytest_agentcontract.conformance.verdict import Finding, failed, passed, unverified, worst
from pytest_agentcontract.conformance.wording import shown
from pytest_agentcontract.jsonvalue import JSON, MISSING, Missing, as_list, as_object, dumps, loads

RECEIVED = ("worked", "finished", "replied", "accepted")
"""For a payload's fidelity: a reply that was refused altogether is another requirement's failure."""

OFFERED = ("worked", "finished", "replied")
"""For a payload's acceptance: being refused is the failure."""

USUAL_NAMES = ("type", "subtype", "num_turns", "session_id", "usage", "duration_ms")
"""Further names of a result document, mirrored from a known print mode."""

_LARGE = 100_000
_DEEP = 60


@check("RET-401", given=RECEIVED, earned=("consumed",))
def string_arrives_unchanged(run: Run) -> Finding:
    """Compare a string payload with the result, character by character."""
    return exactly(run) if isinstance(stated_value(run), str) else unverified("the payload is no string")


@check("RET-402", given=RECEIVED, earned=("consumed",))
def object_arrives_as_an_object(run: Run) -> Finding:
    """Compare an object payload with the result, types and all."""
    return exactly(run) if isinstance(stated_value(run), dict) else unverified("the payload is no object")


@check("RET-403", given=RECEIVED, earned=("consumed",))
def array_arrives_as_an_array(run: Run) -> Finding:
    """Compare an array payload with the result."""
    return exactly(run) if isinstance(stated_value(run), list) else unverified("the payload is no array")


@check("RET-404", given=OFFERED, earned=("consumed",))
def json_text_stays_a_string(run: Run) -> Finding:
    """Compare a string that reads as JSON with the result."""
    return exactly(run) if _reads_as_json(stated_value(run)) else unverified("the payload is no JSON text")


@check("RET-405", given=OFFERED, earned=("consumed",))
def odd_markdown_is_accepted(run: Run) -> Finding:
    """Compare a string with braces, fences or comment ends with the result."""
    value = stated_value(run)
    odd = isinstance(value, str) and re.search(r"[{}]|```|-->", value)
    return taken(run) if odd else unverified("the payload holds no brace, fence or comment end")


@check("RET-406", given=("headless", "worked", "finished"))
def one_result_document(run: Run) -> Finding:
    """Look for the one result document of a JSON run, and for its parts."""
    if run.case.given.mode != "json":
        return unverified("the run was not asked for JSON")
    expected, delivery, rule = (
        "one JSON document with the result and the failure flag",
        run.delivery,
        run.profile.result,
    )
    pointer = rule.pointer(structured=run.case.given.schema is not None)
    if isinstance(delivery.document, Missing):
        return failed(expected, f"no document: {delivery.problem}")
    if run.status == "success" and delivery.value is MISSING:
        return failed(expected, f"nothing stands at {pointer!r} of {_names(delivery.document)}")
    if rule.failed is not None and delivery.failed is None:
        return failed(expected, f"no boolean stands at {rule.failed!r} of {_names(delivery.document)}")
    lacking = [name for name in USUAL_NAMES if name not in delivery.fields and name not in as_object(delivery.document)]
    if lacking:
        return failed(f"also {', '.join(USUAL_NAMES)}", f"without {', '.join(lacking)}", level="SHOULD")
    return passed(expected, f"one document with {_names(delivery.document)}")


@check("RET-407", given=OFFERED, earned=("consumed",))
def large_payload_arrives_whole(run: Run) -> Finding:
    """Compare a large or deep payload with the result."""
    value = stated_value(run)
    large = (
        value is not MISSING
        and not isinstance(value, Missing)
        and (_depth(value) >= _DEEP or len(dumps(value)) > _LARGE)
    )
    return exactly(run) if large else unverified("the payload is neither large nor deep")


@check("RET-408", given=OFFERED, earned=("consumed",))
def falsy_payload_is_valid(run: Run) -> Finding:
    """Compare an empty string, object or array with the result; a child's, with what its parent was told."""
    if stated_value(run) in FALSY:
        return taken(run)
    children = [child for child in run.children if run.expected(child).value in FALSY]
    return worst(_told_empty(run, child) for child in children) if children else unverified("no payload is empty")


@check("RET-409", given=RECEIVED, earned=("consumed",))
def nested_values_keep_their_type(run: Run) -> Finding:
    """Compare numbers, booleans, nulls and empty containers inside a payload with those of the result."""
    return exactly(run) if isinstance(stated_value(run), dict | list) else unverified("the payload holds no values")


def _reads_as_json(value: JSON | Missing) -> bool:
    try:
        loads(value if isinstance(value, str) else "")
    except ValueError:
        return False
    return True


def _depth(value: JSON) -> int:
    """Measure the nesting level by level, so that depth costs no recursion."""
    level, depth = [value], 0
    while level:
        level = [item for outer in level for item in (*as_object(outer).values(), *as_list(outer))]
        depth += 1
    return depth


def _told_empty(run: Run, child: str) -> Finding:
    """Find whether a child ended with its empty payload, and its parent was told of that and of no failure."""
    reply, parent = valid_reply(run, child), run.parent(child)
    if reply is None or isinstance(reply.scripted.value, Missing):
        return unverified(f"child-replied: no reply of {child} was delivered")
    value = reply.scripted.value
    expected = f"{child} ends with its reply, and {parent} is told {shown(value)}"
    if run.following(reply.exchange):
        return failed(expected, f"{child} went on after it: {FATES[fate(run, reply)]}")
    told, pattern = news_of(run, child), run.profile.failure
    if told_of_error(run, child) or any(re.search(pattern, text) for text in told if pattern):
        return failed(expected, f"{parent} was told of a failure: {', '.join(told)}")
    after = later(run, parent, reply.exchange.serial)
    if not after or not (told or any(not result.text for result in spawn_results(run, child))):
        return unverified(f"{parent} was told nothing of {child} after that")
    words = f"{parent} was told {', '.join(map(shown, told)) or 'an empty text'}"
    if value != "":
        found = any(piece for exchange in after for piece in spans(exchange, value))
        return (passed if found else failed)(expected, words)
    # Every text holds an empty one: it has arrived where nothing that the child said stands in its place.
    stray = prose_told(run, child)
    return (failed if stray else passed)(expected, f"{words}: {'' if stray else 'no '}prose of {child}'s")


def _names(document: JSON | Missing) -> str:
    return ", ".join(as_object(document)) or "a document without names"
