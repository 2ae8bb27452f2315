"""What every server in `provider.py` is asked, and what it says. Servers import it: it costs them next to nothing."""

from __future__ import annotations

import json
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
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in HEADERS.items())]
    return "\r\n".join([*lines, f"content-length: {len(content)}", "", ""]).encode() + content


HEADERS = {
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
