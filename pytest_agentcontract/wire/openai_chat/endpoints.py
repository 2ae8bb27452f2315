"""OpenAI's formats: where chat requests go, and what clients ask beside them."""

from __future__ import annotations

from pytest_agentcontract.jsonvalue import JSON

_MODEL = "scripted"
_EPOCH = 1_750_000_000


def owns(method: str, path: str) -> bool:
    """Tell whether a request of this method and path (below the seat's prefix) asks for a completion."""
    return method == "POST" and path.removeprefix("/v1") == "/chat/completions"


def side_answer(method: str, path: str, body: bytes) -> JSON | None:  # noqa: ARG001 - no side question has a body
    """Answer a look at the models; None for anything else."""
    if method != "GET":
        return None
    place = path.removeprefix("/v1")
    if place == "/models":
        return {"object": "list", "data": [_model(_MODEL)]}
    name = place.removeprefix("/models/")
    return _model(name) if name != place else None


def _model(name: str) -> JSON:
    return {"id": name, "object": "model", "created": _EPOCH, "owned_by": "scripted"}
