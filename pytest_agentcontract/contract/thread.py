"""A thread: comments in order and the events that they cause, and how an engine's own comment is written and read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pytest_agentcontract.contract.checker import Diagnostic, Fields, Maybe, Text, document, shaped, text_of
from pytest_agentcontract.contract.handoff import AgentRunConfig, HumanActionNotice, WorkflowState
from pytest_agentcontract.contract.notice import body as notice_text
from pytest_agentcontract.contract.notice import harmless
from pytest_agentcontract.contract.sentinel import MARKER, Model, comment_line, config_of, parse, payload_of, render
from pytest_agentcontract.jsonvalue import JSON, JSONObject, as_object

STATE_MARKER: Final = "WORKFLOW_STATE"
BLANK: Final = " \t\r\n"


class Kind(StrEnum):
    """Who wrote a comment."""

    HUMAN = "human"
    ENGINE = "engine"


class Action(StrEnum):
    """What happened to a comment."""

    CREATED = "created"
    EDITED = "edited"


NAME = Text()
_COMMENT = Fields(
    {
        "id": NAME,
        "author": Fields({"name": NAME, "kind": Text(choices=tuple(Kind))}),
        "agent": Maybe(NAME),
        "body": Text(empty=True),
        "created": NAME,
    }
)
_EVENT = Fields({"id": NAME, "comment": NAME, "action": Text(choices=tuple(Action))})


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of a thread; `agent` is whose run it reports, null for a human's and for a notice."""

    id: str
    author: str
    kind: Kind
    agent: str | None
    body: str
    created: str

    @staticmethod
    def from_json(value: JSON) -> Comment | Diagnostic:
        """Check a comment document; the first fault comes back as a Diagnostic."""
        found = shaped(value, _COMMENT)
        if isinstance(found, Diagnostic):
            return found
        author = as_object(found["author"])
        return Comment(
            id=text_of(found, "id") or "",
            author=text_of(author, "name") or "",
            kind=Kind(text_of(author, "kind") or ""),
            agent=text_of(found, "agent"),
            body=text_of(found, "body") or "",
            created=text_of(found, "created") or "",
        )

    def to_json(self) -> JSONObject:
        """Return it as its file holds it."""
        return {
            "id": self.id,
            "author": {"name": self.author, "kind": self.kind.value},
            "agent": self.agent,
            "body": self.body,
            "created": self.created,
        }


@dataclass(frozen=True, slots=True)
class Event:
    """That a comment was posted or edited. Two events of one id are one event, delivered twice."""

    id: str
    comment: str
    action: Action

    @staticmethod
    def from_json(value: JSON) -> Event | Diagnostic:
        """Check an event document; the first fault comes back as a Diagnostic."""
        found = shaped(value, _EVENT)
        if isinstance(found, Diagnostic):
            return found
        return Event(
            id=text_of(found, "id") or "",
            comment=text_of(found, "comment") or "",
            action=Action(text_of(found, "action") or ""),
        )

    def to_json(self) -> JSONObject:
        """Return it as its file holds it."""
        return {"id": self.id, "comment": self.comment, "action": self.action.value}


@dataclass(frozen=True, slots=True)
class Record:
    """What an engine comment says: the decision, and where the workflow stands; None where it says nothing of it."""

    config: AgentRunConfig | Diagnostic | None
    state: WorkflowState | Diagnostic | None


def agent_body(text: str, config: AgentRunConfig, state: WorkflowState) -> str:
    """Render the comment of a run: the agent's text made harmless, then its one sentinel, then the state."""
    return "\n".join([*([harmless(text), ""] if text else []), render(config), state_line(state)])


def notice_body(notice: HumanActionNotice, state: WorkflowState) -> str:
    """Render the comment of a notice: its one line, and the state; there is no sentinel in it."""
    return f"{notice_text(notice)}\n\n{state_line(state)}"


def state_line(state: WorkflowState) -> str:
    """Render a state as the last line of an engine comment."""
    return comment_line(STATE_MARKER, state.to_json())


def read(body: str, model: Model = AgentRunConfig.from_json) -> Record:
    """Read an engine comment by its last two lines, whatever precedes them.

    A comment that ends in neither line is of an older kind, and its decision is what its agent wrote.
    """
    above, last = _last_line(body)
    state = payload_of(STATE_MARKER, last)
    sentinel = payload_of(MARKER, _last_line(above)[1] if state is not None else last)
    if state is None and sentinel is None:
        return Record(parse(body, model), None)
    return Record(
        config_of(sentinel, model) if sentinel is not None else None,
        _state_of(state) if state is not None else None,
    )


def decision_in(body: str, kind: Kind) -> AgentRunConfig | Diagnostic | None:
    """Read the decision out of a posted comment; what a human writes is never one."""
    return read(body).config if kind is Kind.ENGINE else None


def _state_of(payload: str) -> WorkflowState | Diagnostic:
    value = document(payload.strip(" \t"))
    return value if isinstance(value, Diagnostic) else WorkflowState.from_json(value)


def _last_line(text: str) -> tuple[str, str]:
    """Split off the last line that is not blank."""
    kept = text.rstrip(BLANK)
    start = max(kept.rfind("\n"), kept.rfind("\r")) + 1
    return kept[:start], kept[start:]
