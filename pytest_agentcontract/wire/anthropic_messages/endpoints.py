"""Anthropic Messages: where requests go, and what clients ask beside them."""

from __future__ import annotations

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.tokens import estimate

_MODEL = "scripted"


def owns(method: str, path: str) -> bool:
    """Tell whether a request of this method and path (below the seat's prefix) asks for a message."""
    return method == "POST" and path.removeprefix("/v1") == "/messages"


def side_answer(method: str, path: str, body: bytes) -> JSON | None:
    """Answer a token count or a look at the models; None for anything else."""
    place = path.removeprefix("/v1")
    if (method, place) == ("POST", "/messages/count_tokens"):
        return {"input_tokens": estimate(body)}
    if method != "GET":
        return None
    if place == "/models":
        return {"data": [_model(_MODEL)], "has_more": False, "first_id": _MODEL, "last_id": _MODEL}
    name = place.removeprefix("/models/")
    return _model(name) if name != place else None


def _model(name: str) -> JSON:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2025-06-15T00:00:00Z"}
