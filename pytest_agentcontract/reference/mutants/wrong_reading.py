"""Wrong decisions on what a message of the model's means: each a real bug of some runtime, put in by a mutant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_agentcontract.contract import reply
from pytest_agentcontract.contract.reply import InvalidInput, Reply
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object, dumps, loads
from pytest_agentcontract.reference import rules, schemas
from pytest_agentcontract.reference.conversation import Answer, ToolCall
from pytest_agentcontract.reference.rules import Landed, Trail, Verdict

_CLOSERS = ("}", '"}', "]}", '"]}', '"}}', "}}")


def only_labelled_calls(answer: Answer) -> tuple[ToolCall, ...]:
    """Go by the label, not by the calls."""
    return answer.calls if answer.stop == "tool-use" else ()


def reply_alone(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Drop what stands around a reply."""
    return tuple(call for call in calls if call.name == reply.NAME) or calls


def repair(raw: str) -> JSONObject | None:
    """Close what broken arguments left open."""
    for closer in ("", *_CLOSERS):
        try:
            value = loads(raw + closer)
        except ValueError:
            continue
        return as_object(value)
    return None


def last_reply(batch: Sequence[Landed]) -> Reply | None:
    """Take the last valid reply."""
    return rules.first_reply(batch[::-1])


def reply_of_a_clean_batch(batch: Sequence[Landed]) -> Reply | None:
    """Void a reply beside which a call failed."""
    return None if any(landed.result.is_error for landed in batch) else rules.first_reply(batch)


def whatever_was_given(arguments: JSON) -> Verdict:
    """Take any arguments for a payload."""
    return Reply(as_object(arguments).get(reply.FIELD, arguments))


def any_scalar(arguments: JSON) -> Verdict:
    """Take a bare number, boolean or null for a payload."""
    given = as_object(arguments)
    return Reply(given[reply.FIELD]) if list(given) == [reply.FIELD] else reply.validate(arguments)


def truthy_only(arguments: JSON) -> Verdict:
    """Judge a payload by its truthiness."""
    verdict = reply.validate(arguments)
    return InvalidInput("nothing was given") if isinstance(verdict, Reply) and not verdict.value else verdict


def prose_parsed_as_json(arguments: JSON) -> Verdict:
    """Parse a string that holds a brace as JSON, and reject what does not parse."""
    verdict = reply.validate(arguments)
    if isinstance(verdict, Reply) and isinstance(verdict.value, str) and "{" in verdict.value:
        value = parsed(verdict.value)
        return InvalidInput("the value is no valid JSON") if value is None else Reply(value)
    return verdict


def json_strings_parsed(arguments: JSON) -> Verdict:
    """Parse every string that happens to be JSON."""
    verdict = reply.validate(arguments)
    value = parsed(verdict.value) if isinstance(verdict, Reply) and isinstance(verdict.value, str) else None
    return verdict if value is None else Reply(value)


def brace_strings_rejected(arguments: JSON) -> Verdict:
    """Reject a string that looks like JSON and is none."""
    verdict = prose_parsed_as_json(arguments)
    return verdict if isinstance(verdict, InvalidInput) else reply.validate(arguments)


def no_schema(offered: Reply, _schema: JSONObject) -> Verdict:
    """Hold nothing against the requested schema."""
    return offered


def parsed_to_fit(offered: Reply, schema: JSONObject) -> Verdict:
    """Parse a string until it fits the requested schema."""
    value = parsed(offered.value) if isinstance(offered.value, str) else None
    return schemas.conform(offered if value is None else Reply(value), schema)


def any_last_message(answer: Answer, _earlier: Trail) -> Verdict:
    """Take the last message for the answer, be it empty."""
    return Reply(answer.text)


def json_prose(answer: Answer, _earlier: Trail) -> Verdict | None:
    """Take prose that is a JSON object for the reply."""
    value = parsed(answer.text)
    return Reply(value) if isinstance(value, dict) else None


def parsed(text: str) -> JSON:
    """Return what a text is as JSON; None where it is none."""
    try:
        return loads(text)
    except ValueError:
        return None


def salvaged(partial: Answer) -> Answer:
    """Make an answer of what a stream left behind when it broke off."""
    calls = (replace(call, raw=dumps(fixed)) for call in partial.calls if (fixed := repair(call.raw)) is not None)
    return replace(partial, calls=tuple(calls))
