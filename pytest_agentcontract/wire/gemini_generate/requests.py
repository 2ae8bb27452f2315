"""Gemini generateContent: read a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_agentcontract.jsonvalue import JSON, JSONObject
from pytest_agentcontract.wire.gemini_generate.contents import messages, texts_of
from pytest_agentcontract.wire.gemini_generate.endpoints import asked_for
from pytest_agentcontract.wire.gemini_generate.words import NAME, either, many
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.recall import recalled
from pytest_agentcontract.wire.request import Request, ResponseFormat, Tool, ToolChoice

_MODES: Final[dict[str, ToolChoice]] = {
    "MODE_UNSPECIFIED": ToolChoice("auto"),
    "AUTO": ToolChoice("auto"),
    "VALIDATED": ToolChoice("auto"),
    "ANY": ToolChoice("any"),
    "NONE": ToolChoice("none"),
}


def decode_request(body: JSON, target: str = "") -> Request:
    """Read a request; raise WireError with a JSON pointer where the body can't be one, without for the target."""
    root = Node(body)
    model, stream = asked_for(target)
    system = either(root, "systemInstruction")
    return Request(
        wire=NAME,
        model=model,
        system="" if system.absent else "\n".join(texts_of(system)),
        messages=messages(many(root["contents"], optional=False)),
        tools=tuple(_tools(root["tools"])),
        tool_choice=_tool_choice(either(root, "toolConfig")),
        stream=stream,
        body=body,
        response_format=_response_format(either(root, "generationConfig")),
    )


def _tools(node: Node) -> Iterator[Tool]:
    for group in many(node):
        for tool in many(either(group, "functionDeclarations")):
            yield _tool(tool)


@recalled
def _tool(node: Node) -> Tool:
    plain = either(node, "parametersJsonSchema")
    schema = either(node, "parameters") if plain.absent else plain
    return Tool(node["name"].text(), _schema(schema), node["description"].optional_text())


def _schema(node: Node) -> JSONObject:
    return {key: _lowered(key, value) for key, value in node.optional_members().items()}


def _lowered(key: str, value: JSON) -> JSON:
    """Spell the types of a schema as JSON Schema does: this API has them in capitals."""
    if isinstance(value, list):
        return [_lowered(key, item) for item in value]
    if isinstance(value, dict):
        return {inner: _lowered(inner, below) for inner, below in value.items()}
    return value.lower() if key == "type" and isinstance(value, str) else value


def _tool_choice(node: Node) -> ToolChoice:
    config = node if node.absent else either(node, "functionCallingConfig")
    if config.absent or config["mode"].absent:
        return ToolChoice()
    choice = config["mode"].one_of(_MODES)
    allowed = either(config, "allowedFunctionNames").optional_items()
    return ToolChoice("tool", allowed[0].text()) if choice.kind == "any" and len(allowed) == 1 else choice


def _response_format(node: Node) -> ResponseFormat:
    if node.absent:
        return ResponseFormat()
    for name in ("responseJsonSchema", "responseSchema"):
        if not either(node, name).absent:
            return ResponseFormat("schema", _schema(either(node, name)))
    return ResponseFormat("json" if either(node, "responseMimeType").value == "application/json" else "text")
