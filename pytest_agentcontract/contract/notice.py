"""Who is told that a workflow stopped, in which words, and how the text of an agent is kept from telling anybody."""

from __future__ import annotations

import re

from pytest_agentcontract.contract.handoff import HumanActionNotice, Phase, Stop, WorkflowState
from pytest_agentcontract.contract.quoting import sure_code
from pytest_agentcontract.contract.sentinel import ZERO_WIDTH_SPACE, neutralised

MENTION = re.compile(r"(?:(?<![A-Za-z0-9/+])(?<![A-Za-z0-9]_)@|&(?:#0*+64|#[xX]0*+40|commat);)(?=[A-Za-z0-9&])")
"""A mention, or what some reader might take for one. An at-sign in an e-mail address or a path is none."""

WORDS = {
    Stop.HOLD: "the workflow holds at step {step} and waits for your answer.",
    Stop.HUMAN_GATE: "step {step} waits for your approval.",
    Stop.TERMINAL: "the workflow has ended with step {step}; it is yours now.",
    Stop.TERMINATE: "the workflow was terminated at step {step}.",
}


def inert(text: str) -> str:
    """Return `text` with every mention outside code broken by a zero-width space; it reads as before."""
    if not MENTION.search(text):
        return text
    code = sure_code(text)
    return MENTION.sub(lambda found: found[0] + ZERO_WIDTH_SPACE * (not code.hold(found.start())), text)


def harmless(text: str) -> str:
    """Return an agent's text as the engine may post it: it mentions nobody and holds no line of the engine's."""
    return inert(neutralised(text))


def recipient(started_by: str | None, issue_author: str | None, trigger_author: str | None) -> str | None:
    """Return who is told: the workflow's starter, else the issue's author, else whoever triggered the run."""
    return started_by or issue_author or trigger_author


def notice_for(
    state: WorkflowState, *, issue_author: str | None = None, trigger_author: str | None = None
) -> HumanActionNotice | None:
    """Return the notice that a posted state calls for: one for each stop, none while the workflow runs."""
    mention = recipient(state.started_by, issue_author, trigger_author)
    if state.status is Phase.RUNNING or state.stop is None or mention is None:
        return None
    return HumanActionNotice(mention, state.stop, state.step, state.dispatch.reason if state.dispatch else None)


def body(notice: HumanActionNotice) -> str:
    """Render a notice: one line, in which the one live mention is that of its recipient."""
    words = WORDS[notice.stop].format(step=_plain(notice.step))
    reason = f" Reason: {_plain(notice.reason)}" if notice.reason else ""
    return f"@{notice.mention} {words}{reason}"


def _plain(text: str) -> str:
    """Return foreign text as part of a line: nothing in it is code, so every mention in it is broken."""
    flat = " ".join(neutralised(text).split())
    return MENTION.sub(rf"\g<0>{ZERO_WIDTH_SPACE}", flat)
