"""OpenAI Chat Completions: read a request."""

from __future__ import annotations

from typing import Final

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.openai_chat.words import NAME
from pytest_agentcontract.wire.recall import recalled
from pytest_agentcontract.wire.request import (
    Message,
    Request,
    ResponseFormat,
    Role,
    Thinking,
    Tool,
    ToolChoice,
    ToolResult,
    split_system,
)
from pytest_agentcontract.wire.turn import Call, read_call

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


def decode_request(body: JSON, target: str = "") -> Request:  # noqa: ARG001 - the path says nothing on this wire
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
        response_format=_response_format(root["response_format"]),
    )


@recalled
def _message(node: Node) -> Message:
    role = node["role"].one_of(_ROLES)
    texts = node["content"].texts()
    if role == "tool":
        return Message(role, results=(ToolResult(node["tool_call_id"].text(), "\n".join(texts)),))
    calls = tuple(_call(call) for call in node["tool_calls"].optional_items())
    said = node["reasoning_content"].optional_text()
    return Message(role, texts, calls, thinking=(Thinking(said),) if said else ())


def _call(node: Node) -> Call:
    call_id = node["id"].text()
    if node["type"].value == "custom":
        return Call(node["custom"]["name"].text(), raw_arguments=node["custom"]["input"].text(), id=call_id)
    function = node["function"]
    return read_call(function["name"].text(), function["arguments"].text(), call_id)


@recalled
def _tool(node: Node) -> Tool:
    kind = node["type"].one_of(_NAMED)
    named = node[kind]
    schema, description = named["parameters"].optional_members(), named["description"].optional_text()
    return Tool(named["name"].text(), schema, description, free_text=kind == "custom")


def _tool_choice(node: Node) -> ToolChoice:
    if node.absent:
        return ToolChoice()
    if not isinstance(node.value, dict):
        return node.one_of(_CHOICES)
    if node["type"].value == "allowed_tools":
        return node["allowed_tools"]["mode"].one_of(_CHOICES)
    return ToolChoice("tool", node[node["type"].one_of(_NAMED)]["name"].text())


def _response_format(node: Node) -> ResponseFormat:
    if node.find("type").value == "json_schema":
        return ResponseFormat("schema", node["json_schema"]["schema"].optional_members())
    return ResponseFormat("json" if node.find("type").value == "json_object" else "text")
