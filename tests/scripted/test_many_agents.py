"""Sixty-four agents at once, each with a script of its own: nothing is lost, mixed up or repeated."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

from pytest_agentcontract.scripted import cut, turn
from pytest_agentcontract.scripted.provider import ScriptedProvider
from pytest_agentcontract.wire import openai_chat
from pytest_agentcontract.wire.sse import frames

AGENTS, TURNS = 64, 20


def test_sixty_four_agents_of_twenty_turns(scripted_provider: ScriptedProvider) -> None:
    """Whole and streamed answers in turns; every seventh delivery is cut off and asked for again."""
    said = {f"a{n}": [f"turn {at} of agent {n}" for at in range(TURNS)] for n in range(AGENTS)}
    scripted_provider.play(
        by="header",
        **{
            agent: [turn(text, fault=cut(at % 2) if at % 7 == 3 else None) for at, text in enumerate(texts)]
            for agent, texts in said.items()
        },
    )

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(_agent(scripted_provider.url, agent) for agent in said))

    assert dict(zip(said, asyncio.run(all_of_them()), strict=True)) == said
    scripted_provider.verify()
    cuts = sum(at % 7 == 3 for at in range(TURNS))
    assert len(scripted_provider.requests) == AGENTS * (TURNS + cuts)


async def _agent(url: str, name: str) -> list[str]:
    messages: list[Any] = [{"role": "user", "content": "Go on."}]
    answers: list[str] = []
    while len(answers) < TURNS:
        stream = len(answers) % 2 == 1
        text = await _asked(url, name, {"model": "m", "messages": messages, "stream": stream})
        if text is not None:
            answers.append(text)
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "Go on."}]
    return answers


async def _asked(url: str, name: str, document: dict[str, Any]) -> str | None:
    """Ask once, over a line of its own; None where the answer broke off."""
    place, content = urlsplit(url), json.dumps(document).encode()
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    head = (
        f"POST {place.path}/v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-agent: {name}\r\nconnection: close\r\n"
        f"content-length: {len(content)}\r\n\r\n"
    )
    writer.write(head.encode() + content)
    raw = await reader.read()
    writer.close()
    await writer.wait_closed()
    _, _, payload = raw.partition(b"\r\n\r\n")
    if not document["stream"]:
        return openai_chat.decode_whole(json.loads(payload)).text if payload else None
    if not payload.endswith(b"0\r\n\r\n"):
        return None
    return openai_chat.decode_stream(frames([_unchunked(payload)])).text


def _unchunked(payload: bytes) -> bytes:
    whole = b""
    while payload:
        size, _, rest = payload.partition(b"\r\n")
        whole, payload = whole + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return whole
