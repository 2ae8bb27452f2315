"""The Responses API: where requests go, and what clients ask beside them."""

from __future__ import annotations

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.openai_chat import endpoints as openai
from pytest_agentcontract.wire.tokens import estimate


def owns(method: str, path: str) -> bool:
    """Tell whether a request of this method and path (below the seat's prefix) asks for a response."""
    return method == "POST" and path.removeprefix("/v1") == "/responses"


def side_answer(method: str, path: str, body: bytes) -> JSON | None:
    """Answer a token count, or what clients ask of all of OpenAI's formats; None for anything else."""
    if (method, path.removeprefix("/v1")) == ("POST", "/responses/input_tokens"):
        return {"object": "response.input_tokens", "input_tokens": estimate(body)}
    return openai.side_answer(method, path, body)
