"""Clients for the scripted provider: the official SDKs, and bare HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import anthropic
import openai
import pytest

from pytest_agentcontract.scripted.provider import ScriptedProvider

anthropic.Anthropic(api_key="k").close()  # loads what it loads late: a run inside a test would take that away again


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever proxy the machine declares, the SDKs come to us directly."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")


@pytest.fixture
def guests() -> Iterator[ExitStack]:
    """Close what a test has opened."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def claude(scripted_provider: ScriptedProvider, guests: ExitStack) -> anthropic.Anthropic:
    """Return Anthropic's client; it does not ask again by itself."""
    return guests.enter_context(anthropic.Anthropic(base_url=scripted_provider.url, api_key="k", max_retries=0))


@pytest.fixture
def gpt(scripted_provider: ScriptedProvider, guests: ExitStack) -> openai.OpenAI:
    """Return OpenAI's client; it does not ask again by itself."""
    return guests.enter_context(openai.OpenAI(base_url=scripted_provider.openai_url, api_key="k", max_retries=0))


@pytest.fixture
def ask(scripted_provider: ScriptedProvider) -> Callable[..., tuple[int, Any]]:
    """Return a function that asks for a chat completion over bare HTTP, and returns status and document."""

    def post(
        text: str = "Hi",
        *tools: str,
        model: str = "m",
        raw: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        path: str = "/v1/chat/completions",
    ) -> tuple[int, Any]:
        offered = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in tools]
        whole = {"model": model, "messages": [{"role": "user", "content": text}], "tools": offered}
        url = urlsplit(scripted_provider.url)
        line = http.client.HTTPConnection(url.hostname or "", url.port, timeout=10)
        try:
            line.request("POST", url.path + path, json.dumps(whole if raw is None else raw), headers or {})
            answer = line.getresponse()
            content = answer.read()
            return answer.status, json.loads(content) if content else None
        finally:
            line.close()

    return post
