"""Anthropic Messages: decode a request, encode a turn as one document or as an event stream.

Raw arguments are text, which only a stream has a place for: there they go out as they are, piece by piece. A whole
answer holds the value that they spell, and the text itself as a string if they spell none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, JSONObject, loads
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.request import Message, Request, Role, Tool, ToolChoice, ToolResult, split_system
from pytest_agentcontract.wire.sse import Event, event, pieces
from pytest_agentcontract.wire.turn import Call, Stop, Turn

NAME = "anthropic-messages"

STOP_REASONS: Final[dict[Stop, str | None]] = {
    "end": "end_turn",
    "tool-use": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "absent": None,
}

ERROR_TYPES: Final[dict[int, str]] = {
    4: "invalid_request_error",
    5: "api_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The error type by status; 4 and 5 stand for the other statuses of their hundred."""

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_CHOICES: Final[dict[str, ToolChoice]] = {kind: ToolChoice(kind) for kind in ("auto", "none", "any", "tool")}
_SIGNATURE = "c2NyaXB0ZWQ="


def owns(method: str, path: str) -> bool:
    """Tell whether a request of this method and path (below the seat's prefix) asks for a message."""
    return method == "POST" and path.removeprefix("/v1") == "/messages"


def decode_request(body: JSON) -> Request:
    """Read a request body; raise WireError with a JSON pointer where it can't be one."""
    root = Node(body)
    system, messages = split_system(_message(node) for node in root["messages"].items())
    return Request(
        wire=NAME,
        model=root["model"].text(),
        system="\n".join((*root["system"].texts(), *system)),
        messages=messages,
        tools=tuple(_tool(node) for node in root["tools"].optional_items() if "name" in node.members()),
        tool_choice=_tool_choice(root["tool_choice"]),
        stream=root["stream"].flag(),
        body=body,
    )


def encode_whole(turn: Turn, request: Request, serial: int) -> JSON:
    """Render a turn as one response document."""
    usage = _usage(turn.usage.input_tokens, turn.usage.output_tokens)
    content: list[JSON] = [block.whole for block in _blocks(turn, serial)]
    return _envelope(request, serial, content, STOP_REASONS[turn.natural_stop], usage)


def encode_stream(turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
    """Render a turn as the events of a streamed response."""
    opened = _envelope(request, serial, [], None, _usage(turn.usage.input_tokens, 0))
    closed: JSONObject = {"stop_reason": STOP_REASONS[turn.natural_stop], "stop_sequence": None}
    return (
        _event("message_start", {"message": opened}),
        _event("ping", {}),
        *(framed for index, block in enumerate(_blocks(turn, serial)) for framed in _block_events(index, block)),
        _event("message_delta", {"delta": closed, "usage": {"output_tokens": turn.usage.output_tokens}}),
        _event("message_stop", {}),
    )


def encode_error(status: int, message: str) -> JSON:
    """Render the error body of a response that is not a success."""
    kind = ERROR_TYPES.get(status) or ERROR_TYPES[status // 100]
    return {"type": "error", "error": {"type": kind, "message": message}}


# ---- requests


def _message(node: Node) -> Message:
    content = node["content"]
    return Message(
        role=node["role"].one_of(_ROLES),
        texts=content.texts(),
        calls=tuple(_call(block) for block in content.blocks("tool_use")),
        results=tuple(_result(block) for block in content.blocks("tool_result")),
    )


def _call(block: Node) -> Call:
    """Read one tool call; a client may hand broken arguments back as the string that it was sent."""
    return Call(block["name"].text(), block["input"].anything({}), id=block["id"].text())


def _result(block: Node) -> ToolResult:
    text = "\n".join(block["content"].texts())
    return ToolResult(block["tool_use_id"].text(), text, block["is_error"].flag())


def _tool(node: Node) -> Tool:
    schema = node["input_schema"].optional_members()
    return Tool(node["name"].text(), schema, node["description"].optional_text())


def _tool_choice(node: Node) -> ToolChoice:
    if node.absent:
        return ToolChoice()
    choice = node["type"].one_of(_CHOICES)
    return ToolChoice("tool", node["name"].text()) if choice.kind == "tool" else choice


# ---- answers


@dataclass(frozen=True, slots=True)
class _Block:
    """One content block: as it stands in a whole answer, as a stream opens it, and the deltas that fill it."""

    whole: JSONObject
    opened: JSONObject
    deltas: tuple[JSONObject, ...]


def _blocks(turn: Turn, serial: int) -> Iterator[_Block]:
    if turn.thinking is not None:
        yield _thinking_block(turn.thinking)
    if turn.text is not None:
        yield _text_block(turn.text)
    for k, call in enumerate(turn.calls):
        yield _call_block(call, call.id or f"toolu_{serial}_{k}")


def _thinking_block(thinking: str) -> _Block:
    block: JSONObject = {"type": "thinking", "thinking": thinking, "signature": _SIGNATURE}
    signed: JSONObject = {"type": "signature_delta", "signature": _SIGNATURE}
    deltas = _deltas("thinking_delta", "thinking", thinking)
    return _Block(block, block | {"thinking": "", "signature": ""}, (*deltas, signed))


def _text_block(text: str) -> _Block:
    block: JSONObject = {"type": "text", "text": text}
    return _Block(block, block | {"text": ""}, _deltas("text_delta", "text", text))


def _call_block(call: Call, call_id: str) -> _Block:
    raw = call.arguments_text
    block: JSONObject = {"type": "tool_use", "id": call_id, "name": call.name, "input": _input(raw)}
    return _Block(block, block | {"input": {}}, _deltas("input_json_delta", "partial_json", raw))


def _input(raw: str) -> JSON:
    """Return what a whole answer holds as `input`: arguments that are no JSON have no place but a string."""
    try:
        return loads(raw)
    except ValueError:
        return raw


def _deltas(kind: str, key: str, text: str) -> tuple[JSONObject, ...]:
    return tuple({"type": kind, key: piece} for piece in pieces(text))


def _block_events(index: int, block: _Block) -> Iterator[Event]:
    yield _event("content_block_start", {"index": index, "content_block": block.opened})
    for delta in block.deltas:
        fields: JSONObject = {"index": index, "delta": delta}
        yield _event("content_block_delta", fields, delta=delta["type"] != "signature_delta")
    yield _event("content_block_stop", {"index": index})


def _event(name: str, fields: JSONObject, *, delta: bool = False) -> Event:
    value: JSONObject = {"type": name}
    return event(name, value | fields, delta=delta)


def _usage(input_tokens: int, output_tokens: int) -> JSONObject:
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }


def _envelope(
    request: Request, serial: int, content: list[JSON], stop_reason: str | None, usage: JSONObject
) -> JSONObject:
    return {
        "id": f"msg_{serial:08d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }
