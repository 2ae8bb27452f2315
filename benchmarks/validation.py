"""Whether a server is fit to be measured: a client that reads everything asks it, before anybody looks at a clock."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass

from question import HEADERS, PIECES, Shape, body


class UnfitError(Exception):
    """A server can't be measured, and why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the text, and in how many pieces."""

    text: str
    pieces: int


def ask(port: int, path: str, shape: Shape) -> Reply:
    """Ask once, with a client that reads everything; raise UnfitError for what is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", path, body(0, shape), HEADERS)
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
