"""Gemini: where requests go, what a target says of them, and what clients ask beside them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs, unquote

from pytest_agentcontract.errors import WireError
from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.tokens import estimate

_MODEL = "scripted"
_ASKED = re.compile(r"(?:/v1(?:alpha|beta)?)?/(models|tunedModels)/([^/:?]+)(?::(\w+))?")
_LISTS: Final = frozenset({"/models", "/v1/models", "/v1alpha/models", "/v1beta/models"})
_STREAMED: Final = {"generateContent": False, "streamGenerateContent": True}


def owns(method: str, path: str) -> bool:
    """Tell whether a request of this method and path (below the seat's prefix) asks for content."""
    asked = _ASKED.fullmatch(path)
    return method == "POST" and asked is not None and asked[3] in _STREAMED


def asked_for(target: str) -> tuple[str, bool]:
    """Return the model that a target names and whether it asks for a stream; raise WireError for one that can't be.

    A stream that isn't asked for as events is one JSON array on the real API, which no client of today reads.
    """
    path, _, query = target.partition("?")
    asked = _ASKED.fullmatch(path)
    if asked is None or asked[3] not in _STREAMED:
        raise WireError(f"{target!r} names no model and method, like /v1beta/models/NAME:generateContent")
    stream = _STREAMED[asked[3]]
    given = parse_qs(query)
    if stream and "sse" not in given.get("alt", []) + given.get("$alt", []):
        raise WireError("a stream is served as events alone: ask for it with ?alt=sse")
    name = unquote(asked[2])
    return name if asked[1] == "models" else f"{asked[1]}/{name}", stream


def side_answer(method: str, path: str, body: bytes) -> JSON | None:
    """Answer a token count or a look at the models; None for anything else."""
    if method == "GET" and path in _LISTS:
        return {"models": [_model(f"models/{_MODEL}")]}
    asked = _ASKED.fullmatch(path)
    if asked is None:
        return None
    if (method, asked[3]) == ("POST", "countTokens"):
        return {"totalTokens": estimate(body)}
    return _model(f"{asked[1]}/{unquote(asked[2])}") if (method, asked[3]) == ("GET", None) else None


def _model(name: str) -> JSON:
    return {
        "name": name,
        "version": "001",
        "displayName": name.partition("/")[2],
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }
