"""What a request brings that its agent's last one did not, and what it lacks: where to look when it is refused."""

from __future__ import annotations

from collections.abc import Sequence

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


def uncallable(tools: Sequence[str], request: Request) -> str:
    """Return the first of some tools that a model could not call in answer to a request, and why; "" for none."""
    if tools and request.tool_choice.kind == "none":
        return f"{tools[0]!r}, and this request forbids every call (its tool choice is none)"
    missing = next((name for name in tools if name not in request.tool_names), None)
    if missing is None:
        return ""
    return f"{missing!r}, which this request does not advertise: {', '.join(sorted(request.tool_names)) or 'none'}"


def _texts(message: Message) -> tuple[str, ...]:
    return (*message.texts, *(result.text for result in message.results))
