"""A model of canned answers behind a raw asyncio server: what the reference's own tests run against."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pytest_agentcontract.reference import cli, nulls
from pytest_agentcontract.scenario.start import Result, Start

Call = tuple[str, Any]


def messages_events(text: str, thinking: str, calls: list[Call], stop: str | None) -> list[dict]:
    """Write one answer as events of the Messages API."""
    blocks = [({"type": "thinking"}, {"type": "thinking_delta", "thinking": thinking})] if thinking else []
    blocks += [({"type": "text", "text": ""}, {"type": "text_delta", "text": part}) for part in [text] if part]
    for number, (name, raw) in enumerate(calls):
        start = {"type": "tool_use", "id": f"call_{number}", "name": name, "input": {}}
        blocks.append((start, {"type": "input_json_delta", "partial_json": raw}))
    events = [{"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 0}}}]
    for index, (start, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    label = stop or ("tool_use" if calls else "end_turn")
    return [
        *events,
        {"type": "message_delta", "delta": {"stop_reason": label}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def chat_events(text: str, thinking: str, calls: list[Call], stop: str | None) -> list[dict]:
    """Write one answer as chunks of Chat Completions."""
    deltas = [{"reasoning_content": thinking}] if thinking else []
    deltas += [{"content": text}] if text else []
    deltas += [
        {"tool_calls": [{"index": number, "id": f"call_{number}", "function": {"name": name, "arguments": raw}}]}
        for number, (name, raw) in enumerate(calls)
    ]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    label = stop or ("tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return [*chunks, {"choices": [{"delta": {}, "finish_reason": label}]}, {"choices": [], "usage": usage}]


@dataclass(frozen=True)
class Wire:
    """One provider: its variables, its events, its terminal event, and where its requests hold what."""

    name: str
    variable: str
    suffix: str
    events: Any
    done: str

    def texts(self, body: dict) -> list[str]:
        """Return every text that the model was given, tool results included, system prompt excluded."""
        found = []
        for message in body["messages"]:
            content = message["content"]
            if message["role"] == "system":
                continue
            blocks = content if isinstance(content, list) else [{"text": content or ""}]
            found += [block.get("text", block.get("content", "")) for block in blocks]
        return [text for text in found if isinstance(text, str)]

    def tools(self, body: dict) -> dict[str, dict]:
        """Return the offered tools with their schemas."""
        functions = [tool.get("function", tool) for tool in body.get("tools", [])]
        return {tool["name"]: tool.get("input_schema", tool.get("parameters")) for tool in functions}


MESSAGES = Wire("messages", "ANTHROPIC", "", messages_events, "")
CHAT = Wire("chat", "OPENAI", "/v1", chat_events, "data: [DONE]\n\n")


@dataclass
class Model:
    """Canned answers for each agent, told apart by a word of its prompt or by its model, and the requests that came."""

    wire: Wire
    port: int = 0
    answers: dict[str, deque[tuple[bytes, str]]] = field(default_factory=lambda: defaultdict(deque))
    written: set[str] = field(default_factory=set)
    awaited: int = 0
    by_model: bool = False
    requests: list[dict] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)

    def say(self, text="", *, thinking="", calls=(), stop=None, to="root", cut=None) -> None:
        """Add an answer; `cut` breaks it off before its terminal event (`fin`, `rst`) or never ends it (`hold`).

        With `after-child` it is whole, and waits until the child has been answered.
        """
        raw = [(name, given if isinstance(given, str) else json.dumps(given)) for name, given in calls]
        events = self.wire.events(text, thinking, raw, stop)
        frames = [f"data: {json.dumps(event)}\n\n" for event in events]
        frames += [self.wire.done] if self.wire.done else []
        kept = frames[:-3] if cut in ("fin", "rst", "hold") else frames
        self.answers[to].append((b"HTTP/1.1 200 OK\r\n\r\n" + "".join(kept).encode(), cut or "fin"))

    def hear(self, deliveries: int) -> None:
        """Keep the root at harmless work until it has been told of so many children."""
        self.say(calls=[("touch", {"path": "waiting"})])
        self.answers["root"][-1] = (self.answers["root"][-1][0], "wait")
        self.awaited = deliveries

    def reply(self, value, **options) -> None:
        """Add an answer that is a reply."""
        self.say(calls=[("reply", {"value": value})], **options)

    def raw(self, response: bytes, *, to="root", end="fin") -> None:
        """Add a response byte for byte."""
        self.answers[to].append((response, end))

    def status(self, status: int, *, to="root", head="") -> None:
        """Add an error."""
        body = b'{"error": {"message": "canned"}}'
        self.raw(f"HTTP/1.1 {status} No\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body, to=to)

    @property
    def env(self) -> dict[str, str]:
        """The variables that point a runtime here."""
        base = f"http://127.0.0.1:{self.port}/case{self.wire.suffix}"
        return {f"{self.wire.variable}_BASE_URL": base, f"{self.wire.variable}_API_KEY": "k"}

    def of(self, agent: str) -> list[dict]:
        """Return one agent's requests."""
        return [body for body in self.requests if agent in self.wire.texts(body)[0]]

    def speaker(self, body: dict) -> str:
        """Return the agent whose word stands in the prompt."""
        return next(agent for agent in ("child", "second", "root") if agent in self.wire.texts(body)[0])

    async def next_answer(self, agent: str, body: dict) -> tuple[bytes, str]:
        """Return what is said next; a waiting turn is said again until its deliveries are in."""
        if not self.answers[agent]:
            return b"HTTP/1.1 400 No\r\n\r\n", "fin"
        response, end = self.answers[agent].popleft()
        if end == "wait":
            told = sum(text.startswith(("↘", "✗")) for text in self.wire.texts(body))
            if told >= self.awaited:
                return await self.next_answer(agent, body)
            self.answers[agent].appendleft((response, end))
            await asyncio.sleep(0.05)
        while end == "after-child" and "child" not in self.written:  # noqa: ASYNC110 (a test's few milliseconds)
            await asyncio.sleep(0.01)
        return response, end

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request on one connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.lower().split("\r\n") if line.startswith("content-length"))
        body = json.loads(await reader.readexactly(int(length.partition(":")[2])))
        self.requests.append(body)
        self.headers.append(head)
        agent = body["model"] if self.by_model else self.speaker(body)
        response, end = await self.next_answer(agent, body)
        writer.write(response)
        await writer.drain()
        self.written.add(agent)
        if end == "hold":
            await reader.read()
        writer.transport.abort() if end == "rst" else writer.close()


@pytest.fixture(scope="session")
def desk() -> Iterator[dict]:
    """One listener for all tests; its `model` answers."""
    held: dict[str, Any] = {}
    ready = threading.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held["model"].serve(reader, writer)

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        held["port"] = server.sockets[0].getsockname()[1]
        held["loop"], held["stop"] = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await held["stop"].wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    ready.wait()
    yield held
    held["loop"].call_soon_threadsafe(held["stop"].set)
    thread.join()


@pytest.fixture(params=[MESSAGES, CHAT], ids=lambda wire: wire.name)
def model(request, desk) -> Model:
    """Return a fresh model, on each wire format."""
    desk["model"] = Model(request.param, desk["port"])
    return desk["model"]


@dataclass
class Bench:
    """Runs the reference against the model and keeps what it printed."""

    model: Model
    workdir: Path
    printed: list[str] = field(default_factory=list)

    def start(self, *, mode="json", prompt="root", schema=None, max_turns=None, lines=(), **settings) -> Start:
        """Make a start; the lines are what a user says."""
        rest = iter(lines)
        return Start(
            mode,
            prompt,
            schema,
            max_turns,
            self.model.env,
            settings,
            self.workdir,
            lambda: next(rest, None),
            self.printed.append,
        )

    def run(self, **options) -> Result:
        """Run it."""
        return cli.run(self.start(**options))

    def run_null(self, name: str, mode="json") -> Result:
        """Run a null runtime."""
        return nulls.run(self.start(mode=mode, null=name))


@pytest.fixture
def bench(model, tmp_path) -> Bench:
    """Return the reference, pointed at the model."""
    return Bench(model, tmp_path)
