"""What a request brings along that the agent's last one did not: where to look when it is not the one awaited."""

from __future__ import annotations

from pytest_agentcontract.wire.request import Message, Request

_MOST_SHOWN = 80


def news(request: Request) -> tuple[tuple[str, str], ...]:
    """Return the texts and tool results since the model's last answer, each after the pointer to its message.

    Pointers lead into the neutral list of messages: system prompts before the first message are no part of it.
    """
    messages = request.messages
    answered = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=-1)
    return tuple(
        (f"/messages/{at}", text) for at, message in enumerate(messages) if at > answered for text in _texts(message)
    )


def explained(request: Request) -> str:
    """Say what a request asks with, and where that stands."""
    asked = news(request)
    if not asked:
        return f"{len(request.messages)} messages bring nothing new"
    place, text = asked[-1]
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return f"{place} says {shown!r}"


def _texts(message: Message) -> tuple[str, ...]:
    return (*message.texts, *(result.text for result in message.results))
