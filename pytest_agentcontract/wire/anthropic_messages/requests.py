"""Anthropic Messages: read a request."""

from __future__ import annotations

from typing import Final

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.anthropic_messages.words import NAME
from pytest_agentcontract.wire.node import Node
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
from pytest_agentcontract.wire.turn import Call

_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_CHOICES: Final[dict[str, ToolChoice]] = {kind: ToolChoice(kind) for kind in ("auto", "none", "any", "tool")}


def decode_request(body: JSON, target: str = "") -> Request:  # noqa: ARG001 - the path says nothing on this wire
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
        response_format=_response_format(root),
    )


@recalled
def _message(node: Node) -> Message:
    content = node["content"]
    return Message(
        role=node["role"].one_of(_ROLES),
        texts=content.texts(),
        calls=tuple(_call(block) for block in content.blocks("tool_use")),
        results=tuple(_result(block) for block in content.blocks("tool_result")),
        thinking=tuple(_thinking(block) for block in content.blocks("thinking")),
    )


def _thinking(block: Node) -> Thinking:
    return Thinking(block["thinking"].text(), block["signature"].optional_text())


def _call(block: Node) -> Call:
    """Read one tool call; a client may hand broken arguments back as the string that it was sent."""
    return Call(block["name"].text(), block["input"].anything({}), id=block["id"].text())


def _result(block: Node) -> ToolResult:
    text = "\n".join(block["content"].texts())
    return ToolResult(block["tool_use_id"].text(), text, block["is_error"].flag())


@recalled
def _tool(node: Node) -> Tool:
    schema = node["input_schema"].optional_members()
    return Tool(node["name"].text(), schema, node["description"].optional_text())


def _tool_choice(node: Node) -> ToolChoice:
    if node.absent:
        return ToolChoice()
    choice = node["type"].one_of(_CHOICES)
    return ToolChoice("tool", node["name"].text()) if choice.kind == "tool" else choice


def _response_format(root: Node) -> ResponseFormat:
    """Read the schema that the answer's text must have; it has stood in two places."""
    for asked in (root.find("output_config", "format"), root["output_format"]):
        if asked.find("type").value == "json_schema":
            return ResponseFormat("schema", asked["schema"].members())
    return ResponseFormat()
