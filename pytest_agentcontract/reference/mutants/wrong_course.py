"""Wrong decisions on who returns and how long an agent goes on: each a real bug of some runtime, put in by a mutant."""

from __future__ import annotations

from dataclasses import replace

from pytest_agentcontract.contract import reply, returning
from pytest_agentcontract.contract.returning import Event, Progress, Role, Seen, State
from pytest_agentcontract.jsonvalue import JSON


def everybody(_role: Role) -> bool:
    """Open a gate to every agent."""
    return True


def only_children(role: Role) -> bool:
    """Take "sub-agent or root" for the axis."""
    return not role.is_root


def only_headless_roots(role: Role) -> bool:
    """Forget the children."""
    return role.is_root and not role.interactive


def _returned(progress: Progress, value: JSON) -> Progress:
    return replace(progress, state=State.RETURNED, value=value, steps=progress.steps + 1)


def prose_is_the_answer(progress: Progress, seen: Seen) -> Progress:
    """Return the prose of the last message."""
    if seen.event is Event.NO_REPLY and seen.prose and progress.state is State.WORKING:
        return _returned(progress, seen.prose)
    return returning.advance(progress, seen)


def text_beside_calls_is_the_answer(progress: Progress, seen: Seen) -> Progress:
    """Return the text of a message that has one, whatever it calls beside it."""
    if seen.event is Event.TOOLS and seen.prose and progress.state is State.WORKING:
        return _returned(progress, seen.prose)
    return returning.advance(progress, seen)


def last_words_are_the_answer(progress: Progress, seen: Seen) -> Progress:
    """Let a capped agent say one more thing, and return that."""
    after = returning.advance(replace(progress, step_cap=progress.step_cap + 1), seen)
    if after.reason == returning.STEP_CAP and seen.prose:
        return _returned(progress, seen.prose)
    return replace(after, step_cap=progress.step_cap)


def nudge_once_then_empty(progress: Progress, seen: Seen) -> Progress:
    """Insist once, then return nothing and call it a success."""
    if seen.event is Event.NO_REPLY and progress.nudges:
        return _returned(progress, "")
    return returning.advance(progress, seen)


def refill_by_tool_work(progress: Progress, seen: Seen) -> Progress:
    """Take tool work for a fresh start."""
    after = returning.advance(progress, seen)
    return replace(after, nudges=0) if seen.event is Event.TOOLS else after


def no_work_after_a_nudge(progress: Progress, seen: Seen) -> Progress:
    """Give up on a nudged agent that works on before it replies."""
    if seen.event is Event.TOOLS and progress.nudges:
        return replace(progress, state=State.FAILED, reason=returning.NO_REPLY)
    return returning.advance(progress, seen)


def no_step_cap(progress: Progress, seen: Seen) -> Progress:
    """Count no steps at all."""
    return returning.advance(replace(progress, steps=0), seen)


def nudges_are_no_steps(progress: Progress, seen: Seen) -> Progress:
    """Count only the steps that did something."""
    is_nudge = seen.event is Event.NO_REPLY
    return returning.advance(replace(progress, steps=progress.steps - is_nudge), seen)


def cap_is_success(progress: Progress, seen: Seen) -> Progress:
    """Take running out of steps for being done."""
    after = returning.advance(progress, seen)
    return replace(after, state=State.RETURNED, value=seen.prose) if after.reason == returning.STEP_CAP else after


def empty_finish_ends(progress: Progress, seen: Seen) -> Progress:
    """Give up on an agent that says nothing, without a nudge."""
    if seen.event is Event.NO_REPLY and not seen.prose:
        return replace(progress, state=State.FAILED, reason=returning.NO_REPLY)
    return returning.advance(progress, seen)


def cut_text_is_the_answer(progress: Progress, seen: Seen) -> Progress:
    """Return what was written up to the token limit, or before a refusal."""
    if seen.event is Event.NO_REPLY and seen.stop in ("length", "refusal"):
        return _returned(progress, seen.prose)
    return returning.advance(progress, seen)


def thinking_is_a_reply(progress: Progress, seen: Seen) -> Progress:
    """Return the thinking of a message that says nothing."""
    if seen.event is Event.NO_REPLY and seen.thinking and not seen.prose:
        return _returned(progress, seen.thinking)
    return returning.advance(progress, seen)


def rejections_are_free(progress: Progress, seen: Seen) -> Progress:
    """Charge nothing for a rejected reply."""
    return returning.advance(progress, replace(seen, event=Event.TOOLS) if seen.event is Event.REJECTED else seen)


def rejection_ends(progress: Progress, seen: Seen) -> Progress:
    """Fail at the first rejected reply."""
    if seen.event is Event.REJECTED:
        return replace(progress, state=State.FAILED, reason=returning.REPLY_REJECTED)
    return returning.advance(progress, seen)


def fault_is_an_answer(progress: Progress, seen: Seen) -> Progress:
    """Make up a sentence where the provider gives none."""
    if seen.event is Event.FAULT and progress.state is State.WORKING:
        return _returned(progress, "I could not reach the model, but everything looks fine.")
    return returning.advance(progress, seen)


def failure_is_an_answer(progress: Progress, seen: Seen) -> Progress:
    """Report every failure as a success that says so."""
    after = returning.advance(progress, seen)
    if after.state is not State.FAILED:
        return after
    return replace(after, state=State.RETURNED, value=f"The agent stopped: {after.reason}.")


def nudge_without_words(_seen: Seen) -> str:
    """Ask again without saying anything new."""
    return ""


def nudge_without_the_name(_seen: Seen) -> str:
    """Insist, but not say on what."""
    return "Please go on."


def force_after_a_nudge(progress: Progress) -> str | None:
    """Force the reply where insisting did not help."""
    return reply.NAME if progress.nudges else None
