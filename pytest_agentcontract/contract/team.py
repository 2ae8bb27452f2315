"""The "Your Team" section of a system prompt: a reminder of the contract, with no mechanism of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HEADING: Final = "## Your Team"
DELEGATE: Final = (
    "Work outside the scope of your own tools is not yours to do: delegate it with `call_agent`. "
    "Mentions with an at-sign are for humans only and reach no agent."
)
ANSWER: Final = (
    "When a teammate calls you, the engine returns your answer to them by its callback. "
    "Treat it as a turn of a conversation, not as fire-and-forget."
)


def section(roles: Mapping[str, str], agent: str, called_by: str | None = None, callback: str | None = None) -> str:
    """Render the section for one agent: its role, its teammates' roles word for word, the two rules, its caller."""
    mates = [f"- {name}: {role}" for name, role in roles.items() if name != agent]
    return "\n\n".join(
        [
            HEADING,
            f"You are {agent}: {roles.get(agent, '')}",
            *(["\n".join(["Your teammates:", *mates])] if mates else []),
            f"- {DELEGATE}\n- {ANSWER}",
            *([_caller(agent, called_by, callback)] if called_by else []),
        ]
    )


def with_section(prompt: str, team: str) -> str:
    """Return a system prompt that holds the section exactly once."""
    if team in prompt:
        return prompt
    return f"{prompt.rstrip()}\n\n{team}" if prompt.strip() else team


def _caller(agent: str, called_by: str, callback: str | None) -> str:
    back = f" — your result returns to {callback}" if callback and callback != agent else ""
    return f"You were called by {called_by}{back}."
