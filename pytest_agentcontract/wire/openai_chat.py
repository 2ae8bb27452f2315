"""OpenAI Chat Completions: decode a request, encode a turn as one document or as a stream of chunks.

Thinking has no place in this format; it goes out as `reasoning_content`, as most servers that imitate it do. Arguments
are text on this wire, whole and streamed, so that raw ones go out as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, JSONObject, loads, point
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.request import Message, Request, Role, Tool, ToolChoice, ToolResult, split_system
from pytest_agentcontract.wire.sse import DONE, Event, event, pieces
from pytest_agentcontract.wire.turn import Call, Stop, Turn, Usage

NAME = "openai-chat"

FINISH_REASONS: Final[dict[Stop, str | None]] = {
    "end": "stop",
    "tool-use": "tool_calls",
    "length": "length",
    "refusal": "content_filter",
    "absent": None,
}

ERRORS: Final[dict[int, tuple[str, str | None]]] = {
    4: ("invalid_request_error", None),
    5: ("server_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("insufficient_permissions", None),
    429: ("requests", "rate_limit_exceeded"),
}
"""Error type and code by status; 4 and 5 stand for the other statuses of their hundred."""

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_CHOICES: Final[dict[str, ToolChoice]] = {
    "auto": ToolChoice("auto"),
    "none": ToolChoice("none"),
    "required": ToolChoice("any"),
}
_NAMED: Final = {"function": "function", "custom": "custom"}
_EPOCH = 1_750_000_000


def owns(method: str, path: str) -> bool:
    """Tell whether a request of this method and path (below the seat's prefix) asks for a completion."""
    return method == "POST" and path.removeprefix("/v1") == "/chat/completions"


def decode_request(body: JSON) -> Request:
    """Read a request body; raise WireError with a JSON pointer where it can't be one."""
    root = Node(body)
    system, messages = split_system(_message(node) for node in root["messages"].items())
    return Request(
        wire=NAME,
        model=root["model"].text(),
        system="\n".join(system),
        messages=messages,
        tools=tuple(_tool(node) for node in root["tools"].optional_items()),
        tool_choice=_tool_choice(root["tool_choice"]),
        stream=root["stream"].flag(),
        body=body,
    )


def encode_whole(turn: Turn, request: Request, serial: int) -> JSON:
    """Render a turn as one response document."""
    message: JSONObject = {"role": "assistant", "content": turn.text, "refusal": None}
    if turn.thinking is not None:
        message["reasoning_content"] = turn.thinking
    if turn.calls:
        message["tool_calls"] = [_call_value(call, serial, k, call.arguments_text) for k, call in enumerate(turn.calls)]
    choice = _choice("message", message, FINISH_REASONS[turn.natural_stop])
    return _envelope("chat.completion", request, serial) | {"choices": [choice], "usage": _usage(turn.usage)}


def encode_stream(turn: Turn, request: Request, serial: int) -> tuple[Event, ...]:
    """Render a turn as the chunks of a streamed response; usage is sent only if the request asks for it."""
    asked = point(request.body, "/stream_options/include_usage") is True
    frame = _envelope("chat.completion.chunk", request, serial) | ({"usage": None} if asked else {})
    final: JSONObject = {"choices": [], "usage": _usage(turn.usage)}
    return (
        *(
            event(None, frame | {"choices": [_choice("delta", delta, None)]}, delta=carries)
            for delta, carries in _deltas(turn, serial)
        ),
        event(None, frame | {"choices": [_choice("delta", {}, FINISH_REASONS[turn.natural_stop])]}),
        *([event(None, frame | final)] if asked else []),
        DONE,
    )


def encode_error(status: int, message: str) -> JSON:
    """Render the error body of a response that is not a success."""
    kind, code = ERRORS.get(status) or ERRORS[status // 100]
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


# ---- requests


def _message(node: Node) -> Message:
    role = node["role"].one_of(_ROLES)
    texts = node["content"].texts()
    if role == "tool":
        return Message(role, results=(ToolResult(node["tool_call_id"].text(), "\n".join(texts)),))
    return Message(role, texts, tuple(_call(call) for call in node["tool_calls"].optional_items()))


def _call(node: Node) -> Call:
    if node["type"].value == "custom":
        return Call(node["custom"]["name"].text(), raw_arguments=node["custom"]["input"].text(), id=node["id"].text())
    function = node["function"]
    name, raw = function["name"].text(), function["arguments"].text()
    try:
        return Call(name, loads(raw), id=node["id"].text())
    except ValueError:
        return Call(name, raw_arguments=raw, id=node["id"].text())


def _tool(node: Node) -> Tool:
    named = node[node["type"].one_of(_NAMED)]
    return Tool(named["name"].text(), named["parameters"].optional_members(), named["description"].optional_text())


def _tool_choice(node: Node) -> ToolChoice:
    if node.absent:
        return ToolChoice()
    if not isinstance(node.value, dict):
        return node.one_of(_CHOICES)
    if node["type"].value == "allowed_tools":
        return node["allowed_tools"]["mode"].one_of(_CHOICES)
    return ToolChoice("tool", node[node["type"].one_of(_NAMED)]["name"].text())


# ---- answers


def _deltas(turn: Turn, serial: int) -> Iterator[tuple[JSONObject, bool]]:
    """Yield the deltas of a stream, and whether each carries a piece of the answer."""
    yield {"role": "assistant", "content": None if turn.text is None else "", "refusal": None}, False
    for piece in pieces(turn.thinking or ""):
        yield {"reasoning_content": piece}, True
    for piece in pieces(turn.text or ""):
        yield {"content": piece}, True
    for k, call in enumerate(turn.calls):
        yield {"tool_calls": [{"index": k} | _call_value(call, serial, k, "")]}, False
        for piece in pieces(call.arguments_text):
            yield {"tool_calls": [{"index": k, "function": {"arguments": piece}}]}, True


def _call_value(call: Call, serial: int, k: int, arguments: str) -> JSONObject:
    call_id = call.id or f"call_{serial}_{k}"
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _choice(key: str, value: JSONObject, finish_reason: str | None) -> JSONObject:
    return {"index": 0, key: value, "logprobs": None, "finish_reason": finish_reason}


def _usage(usage: Usage) -> JSONObject:
    total = usage.input_tokens + usage.output_tokens
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}


def _envelope(kind: str, request: Request, serial: int) -> JSONObject:
    return {"id": f"chatcmpl-{serial:08d}", "object": kind, "created": _EPOCH + serial, "model": request.model}
