"""Wrong decisions on what is read back, on who is told of a stop, and on what an agent is told, put in by mutants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_agentcontract.contract import team, thread
from pytest_agentcontract.contract.handoff import HumanActionNotice, Phase, Stop, WorkflowState
from pytest_agentcontract.contract.notice import notice_for
from pytest_agentcontract.contract.sentinel import Model, parse
from pytest_agentcontract.contract.thread import Action, Comment, Event, Record
from pytest_agentcontract.reference.handoff_rules import once

_NOBODY: Final = "nobody-in-particular"

# ---- what is read back


def quotes_hide(body: str, model: Model) -> Record:
    """Take the engine's own lines for a quotation where the text above them leaves one open."""
    record = thread.read(body, model)
    return Record(None, None) if record.config is not None and parse(body, model) is None else record


def everybody(_comment: Comment) -> bool:
    """Believe what a human writes in the engine's name."""
    return True


def never_consumed(_state: WorkflowState, _event: Event) -> bool:
    """Take every delivery for a new event."""
    return False


def by_event_only(state: WorkflowState, event: Event) -> bool:
    """Take the edit of a comment for a new event."""
    return event.id in state.consumed_events


def edits_say_nothing(state: WorkflowState, event: Event) -> bool:
    """Pass over whatever is an edit."""
    return event.action is Action.EDITED or once(state, event)


# ---- notices


def no_notice(_state: WorkflowState) -> None:
    """Tell nobody."""


def notice_of_terminal_steps_only(state: WorkflowState) -> HumanActionNotice | None:
    """Tell nobody of a hold."""
    return notice_for(state) if state.status is Phase.ENDED else None


def notice_of_everything(state: WorkflowState) -> HumanActionNotice | None:
    """Tell somebody of every run."""
    return notice_for(state) or HumanActionNotice(state.started_by or _NOBODY, Stop.HOLD, state.step)


def last_author(started_by: str | None, issue_author: str | None, trigger_author: str | None) -> str | None:
    """Tell whoever triggered the run."""
    return trigger_author or issue_author or started_by


def issue_author_first(started_by: str | None, issue_author: str | None, trigger_author: str | None) -> str | None:
    """Tell the author of the issue, whoever started the workflow."""
    return issue_author or started_by or trigger_author


def announced_at_once(_comment: Comment) -> bool:
    """Take every stop for announced."""
    return True


def never_announced(_comment: Comment) -> bool:
    """Take no stop for announced."""
    return False


# ---- the team section


def no_section(prompt: str, _team: str) -> str:
    """Tell an agent nothing of its team."""
    return prompt


def section_twice(prompt: str, section: str) -> str:
    """Tell an agent of its team twice."""
    return f"{team.with_section(prompt, section)}\n\n{section}"


def roles_only(roles: Mapping[str, str], agent: str, called_by: str | None = None, callback: str | None = None) -> str:
    """Leave the two rules out."""
    return team.section(roles, agent, called_by, callback).replace(f"- {team.DELEGATE}\n- {team.ANSWER}", "")


def no_caller(roles: Mapping[str, str], agent: str, _called_by: str | None = None, _callback: str | None = None) -> str:
    """Leave the caller out."""
    return team.section(roles, agent)


def caller_is_the_callback(
    roles: Mapping[str, str], agent: str, called_by: str | None = None, callback: str | None = None
) -> str:
    """Promise the caller a result that goes to somebody else, or to nobody."""
    return team.section(roles, agent, called_by, callback and called_by)
