"""Every decision of the reference as one frozen value: the right ones here, each wrong one in a mutant's field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pytest_agentcontract.contract import reply, returning
from pytest_agentcontract.contract.reply import InvalidInput, Reply
from pytest_agentcontract.contract.returning import Event, Progress, Role, Seen
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSON, JSONObject, dumps, loads
from pytest_agentcontract.reference import schemas, usage
from pytest_agentcontract.reference.conversation import Answer, Entry, ToolCall, ToolResult
from pytest_agentcontract.reference.handoff_rules import HANDOFF, HandoffRules
from pytest_agentcontract.reference.usage import Reading, Tokens

Verdict: TypeAlias = Reply | InvalidInput
Trail: TypeAlias = Sequence[Answer]
"""The answers of one agent so far, oldest first."""

PATIENCE: Final = "REFERENCE_TIMEOUT"
"""The variable that bounds a provider's silence, in seconds."""


@dataclass(frozen=True, slots=True)
class Landed:
    """One call of a batch after it landed; `reply` is how it was judged, if it was a reply."""

    call: ToolCall
    result: ToolResult
    reply: Verdict | None = None


def all_calls(answer: Answer) -> tuple[ToolCall, ...]:
    """Go by the calls, not by the label."""
    return answer.calls


def whole_batch(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Land every call of a batch, in its order."""
    return calls


def first_reply(batch: Sequence[Landed]) -> Reply | None:
    """Take the first valid reply, whatever became of the calls around it."""
    return next((landed.reply for landed in batch if isinstance(landed.reply, Reply)), None)


def read_arguments(raw: str) -> JSONObject | None:
    """Read the arguments of a call; None where they are no JSON object, or hold a number that JSON can't say again."""
    try:
        value = loads(raw or "{}")
        dumps(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def what_was_said(history: Sequence[Entry]) -> Sequence[Entry]:
    """Ask with the whole history; an answer of nothing leaves none behind, for providers refuse an empty message."""
    return [entry for entry in history if not isinstance(entry, Answer) or entry.calls or entry.text.strip()]


def prose_is_no_reply(_answer: Answer, _earlier: Trail) -> Verdict | None:
    """Return nothing: what an agent says is not what it returns."""
    return None


def free_choice(_progress: Progress) -> str | None:
    """Never force a tool."""
    return None


def ask_for_reply(seen: Seen) -> str:
    """Insist: say that nothing was returned, and name the tool."""
    said = "Your message ended" if seen.prose else "Your message was empty and ended"
    return f"{said} without a call of `{reply.NAME}`, so nothing was returned. Call `{reply.NAME}` with your result."


def no_fallback(_trail: Trail, _reason: str) -> JSON:
    """Return an empty result for a run that failed: honest, whatever was said on the way."""
    return ""


def the_payload(value: JSON, _trail: Trail) -> JSON:
    """Hand the caller the value itself."""
    return reply.for_caller(value)


def the_text(value: JSON, _trail: Trail) -> str:
    """Hand a parent the value as text, and nothing else that its child has said."""
    return reply.for_parent(value)


def failure_tag(name: str, reason: str, _trail: Trail) -> str:
    """Tell a parent that its child failed, and why; none of the child's prose."""
    return f"✗ {name} failed: {reason}"


def returned_block(name: str, text: str) -> str:
    """Hand a parent its child's payload under the child's name."""
    return f"↘ {name}\n{text}"


def own_result(block: str, _earlier: Sequence[str]) -> str:
    """Deliver a child's own result, whatever its siblings have delivered."""
    return block


def exit_code(*, failed: bool) -> int:
    """Exit with 1 where the run failed."""
    return int(failed)


def reject_cut(_partial: Answer) -> Answer | None:
    """Take nothing from a stream that broke off."""
    return None


def declared_patience(env: Mapping[str, str]) -> float | None:
    """Bear a silent provider for as many seconds as the environment says, else for two minutes."""
    said = env.get(PATIENCE, "120")
    try:
        return float(said)
    except ValueError as error:
        raise UsageError(f"{said!r} is no number of seconds", where=f"environment, {PATIENCE}") from error


def whole_document(document: JSONObject) -> JSONObject:
    """Print the result document as it was made up."""
    return document


def cancel_at_once(*, failed: bool) -> float:  # noqa: ARG001 (a mutant asks how the parent ended)
    """Give live children no time beyond their parent's end, however it ended."""
    return 0.0


def own_end(parent: Progress, _failed_children: int) -> Progress:
    """Let a parent end as it ended, whatever became of its children."""
    return parent


def own_budgets(parent: Progress, _child: Progress) -> Progress:
    """Charge a parent nothing for its child's nudges."""
    return parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a runtime decides. A mutant replaces exactly one field."""

    # Who returns: one fact, read at three gates.
    advertise: Callable[[Role], bool] = returning.returns
    accept: Callable[[Role], bool] = returning.returns
    insist: Callable[[Role], bool] = returning.returns

    # How long an agent goes on.
    advance: Callable[[Progress, Seen], Progress] = returning.advance
    nudge_budget: int = 3
    step_cap: int = 30
    nudge: Callable[[Seen], str] = ask_for_reply
    tool_choice: Callable[[Progress], str | None] = free_choice
    requests_after_reply: int = 0

    # What a message of the model's means.
    calls: Callable[[Answer], tuple[ToolCall, ...]] = all_calls
    batch: Callable[[tuple[ToolCall, ...]], tuple[ToolCall, ...]] = whole_batch
    arguments: Callable[[str], JSONObject | None] = read_arguments
    validate: Callable[[JSON], Verdict] = reply.validate
    conform: Callable[[Reply, JSONObject], Verdict] = schemas.conform
    choose: Callable[[Sequence[Landed]], Reply | None] = first_reply
    prose: Callable[[Answer, Trail], Verdict | None] = prose_is_no_reply

    # What the model is reminded of.
    history: Callable[[Sequence[Entry]], Sequence[Entry]] = what_was_said

    # What each consumer sees.
    for_caller: Callable[[JSON, Trail], JSON] = the_payload
    for_parent: Callable[[JSON, Trail], str] = the_text
    failed_result: Callable[[Trail, str], JSON] = no_fallback
    failure_tag: Callable[[str, str, Trail], str] = failure_tag
    returned_block: Callable[[str, str], str] = returned_block
    delivered: Callable[[str, Sequence[str]], str] = own_result
    document: Callable[[JSONObject], JSONObject] = whole_document
    exit_code: Callable[..., int] = exit_code
    live_text: bool = True

    # Children.
    settle: Callable[[Progress, int], Progress] = own_end
    wait_before_nudge: bool = False
    read_before_nudge: bool = False
    grace: Callable[..., float] = cancel_at_once
    charge: Callable[[Progress, Progress], Progress] = own_budgets
    usage: Callable[[Sequence[Reading]], Tokens | None] = usage.total

    # The provider's faults.
    retries: int = 2
    backoff: float = 0.01
    patience: Callable[[Mapping[str, str]], float | None] = declared_patience
    malformed: bytes | None = None
    on_cut: Callable[[Answer], Answer | None] = reject_cut

    # A workflow of agents.
    handoff: HandoffRules = HANDOFF


def nobody(_role: Role) -> bool:
    """Close a gate to every agent."""
    return False


def last_message(answer: Answer, _earlier: Trail) -> Verdict | None:
    """Take a message without a call as the answer, unless it is empty, cut by the token limit, or a refusal."""
    if not answer.text.strip() or answer.stop in ("length", "refusal"):
        return None
    return Reply(answer.text)


def whole_answer(answer: Answer, earlier: Trail) -> Verdict | None:
    """Take the last message; but where the agent has spoken beside its work, ask once: it may be a mere sign-off."""
    spoke = any(step.text.strip() and step.calls for step in earlier)
    asked = any(step.text.strip() and not step.calls for step in earlier)
    return None if spoke and not asked else last_message(answer, earlier)


def conforming_text(offered: Reply, schema: JSONObject) -> Verdict:
    """Read the answer's text as the JSON that was asked for, then hold it against the schema."""
    try:
        value = loads(str(offered.value))
    except ValueError as error:
        return InvalidInput(f"the answer is not the JSON that was asked for: {error}")
    return schemas.conform(Reply(value), schema)


def ask_for_answer(seen: Seen) -> str:
    """Insist: say what kept the message from being an answer."""
    if seen.event is Event.REJECTED:
        return "Your message is not in the requested format. Answer with nothing but JSON that conforms to the schema."
    if seen.prose:
        return "Only your last message is handed on, and nothing of your earlier ones: write your whole answer in one."
    return "Your message holds no answer. Write your answer as text, without calling a tool."


REFERENCE: Final = Rules()
TOOL_LESS: Final = replace(
    REFERENCE,
    advertise=nobody,
    accept=nobody,
    prose=whole_answer,
    conform=conforming_text,
    nudge=ask_for_answer,
)
BASES: Final = {"reference": REFERENCE, "reference-tool-less": TOOL_LESS}
