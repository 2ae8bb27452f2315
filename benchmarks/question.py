"""What every server in `provider.py` is asked, and what it has to answer before anybody looks at a clock."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["json", "stream"]

AGENTS = 64
PIECES = 200
PIECE = 6
TEXT = "".join(f"{word:05d} " for word in range(PIECES - 1)) + "done.."
"""Two hundred pieces of six characters: a server may cut a stream by words, by length or by number."""

PROMPT = "Compare the two reports and tell me what changed since March."
"""What the user says last: servers that match by it find it there."""

NUMBER = "0000000000"
"""What stands after the prompt, for the load to count its questions with: no server is asked the same thing twice."""


class UnfitError(Exception):
    """A server can't be measured, and why."""


def model(agent: int) -> str:
    """Return the model's name by which an agent is known."""
    return f"agent-{agent:02d}"


def body(agent: int, shape: Shape) -> bytes:
    """Build a Chat Completions request as an agent sends it in mid-work: instructions, tools, six messages."""
    return json.dumps(
        {"model": model(agent), "messages": _MESSAGES, "tools": _TOOLS, "temperature": 0, "stream": shape == "stream"}
    ).encode()


def request(path: str, agent: int, shape: Shape) -> bytes:
    """Build the whole HTTP request, with the header lines that an SDK sends."""
    content = body(agent, shape)
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in _HEADERS.items())]
    return "\r\n".join([*lines, f"content-length: {len(content)}", "", ""]).encode() + content


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the text, and in how many pieces."""

    text: str
    pieces: int


def ask(port: int, path: str, shape: Shape) -> Reply:
    """Ask once, with a client that reads everything; raise UnfitError for what is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", path, body(0, shape), _HEADERS)
        response = connection.getresponse()
        content = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise UnfitError(f"no answer: {error!r}") from error
    finally:
        connection.close()
    if response.status != http.client.OK:
        raise UnfitError(f"status {response.status}: {content[:200].decode(errors='replace')}")
    return _streamed(content) if shape == "stream" else Reply(_parsed(content)["message"]["content"], 1)


def validate(port: int, path: str, text: str) -> None:
    """Raise UnfitError unless a server says the text, whole, and in about two hundred events."""
    expected: dict[Shape, int] = {"json": 1, "stream": PIECES}
    for shape, pieces in expected.items():
        reply = ask(port, path, shape)
        if reply.text != text:
            raise UnfitError(f"the wrong text ({shape}): {reply.text[:60]!r}")
        if reply.pieces != pieces:
            raise UnfitError(f"{reply.pieces} pieces and not {pieces}")


def _parsed(document: bytes | str) -> dict[str, dict[str, str]]:
    choice: dict[str, dict[str, str]] = json.loads(document)["choices"][0]
    return choice


def _streamed(content: bytes) -> Reply:
    events = [line.removeprefix("data: ") for line in content.decode().split("\n\n") if line.startswith("data: ")]
    if not events or events[-1] != "[DONE]":
        raise UnfitError("a stream without an end")
    texts = [text for event in events[:-1] if (text := _parsed(event)["delta"].get("content"))]
    return Reply("".join(texts), len(texts))


_HEADERS = {
    "host": "127.0.0.1",
    "accept": "application/json",
    "content-type": "application/json",
    "user-agent": "OpenAI/Python 3.57.0",
    "authorization": "Bearer sk-none",
    "x-stainless-lang": "python",
    "x-stainless-package-version": "3.57.0",
    "x-stainless-os": "Linux",
    "x-stainless-retry-count": "0",
    "accept-encoding": "identity",
}

_RULES = "You are a careful analyst. Read what the tools give you, quote it exactly, and never guess a figure. "


def _tool(name: str, about: str, **fields: str) -> dict[str, object]:
    properties = {field: {"type": "string", "description": words} for field, words in fields.items()}
    schema = {"type": "object", "properties": properties, "required": [*fields], "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


_TOOLS = [
    _tool("read_file", "Read a file of the workspace.", path="Where the file is.", encoding="How it is encoded."),
    _tool("search", "Search the workspace.", query="What to look for.", folder="Where to look.", limit="How much."),
    _tool("write_file", "Write a file of the workspace.", path="Where the file goes.", content="What it holds."),
    _tool("reply", "Hand the result to whoever asked.", status="How it went.", value="The result itself."),
]
_ARGUMENTS = json.dumps({"path": "reports/march.md", "encoding": "utf-8"})
_CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": _ARGUMENTS}}
_MESSAGES = [
    {"role": "system", "content": _RULES * 15},
    {"role": "user", "content": "Here are two reports. Start with the older one."},
    {"role": "assistant", "content": "I read it now.", "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Revenue rose by 4.1 % while costs fell by 0.7 %. " * 20},
    {"role": "assistant", "content": "The older report is read; it covers the first quarter."},
    {"role": "user", "content": f"{PROMPT} ({NUMBER})"},
]
