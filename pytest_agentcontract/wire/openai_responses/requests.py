"""The Responses API: read a request.

A conversation is a list of items here: the thinking, the texts and the calls of one answer stand side by side, and so
do the outputs of its calls. Neighbours of one side become one message. What else stands in an input (references to
what a server has stored, items of the provider's own tools) is nobody's message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pytest_agentcontract.jsonvalue import JSON
from pytest_agentcontract.wire.node import Node
from pytest_agentcontract.wire.openai_responses.words import NAME
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
}
_CHOICES: Final[dict[str, ToolChoice]] = {
    "auto": ToolChoice("auto"),
    "none": ToolChoice("none"),
    "required": ToolChoice("any"),
}
_TEXTS: Final = {"input_text": "text", "output_text": "text", "refusal": "refusal"}
_OURS: Final = ("function", "custom")


_ADDING_TOOLS: Final = ("additional_tools", "tool_search_output")


@dataclass(frozen=True, slots=True)
class _Item:
    """One item of the input: what it says, if it is anybody's message, and the tools that it adds."""

    message: Message | None
    tools: tuple[Tool, ...] = ()


def decode_request(body: JSON, target: str = "") -> Request:  # noqa: ARG001 - the path says nothing on this wire
    """Read a request body; raise WireError with a JSON pointer where it can't be one."""
    root = Node(body)
    items = _items(root["input"])
    system, messages = split_system(_joined(item.message for item in items if item.message is not None))
    instructions = root["instructions"].optional_text()
    return Request(
        wire=NAME,
        model=root["model"].text(),
        system="\n".join((*([instructions] if instructions else []), *system)),
        messages=messages,
        tools=tuple(_advertised(root, items)),
        tool_choice=_tool_choice(root["tool_choice"]),
        stream=root["stream"].flag(),
        body=body,
        response_format=_response_format(root.find("text", "format")),
    )


def qualified_name(node: Node) -> str:
    """Return the neutral name of a call or tool that may stand in a namespace."""
    namespace, name = node["namespace"].optional_text(), node["name"].text()
    return f"{namespace}.{name}" if namespace else name


def _items(node: Node) -> tuple[_Item, ...]:
    if isinstance(node.value, str):
        return (_Item(Message("user", (node.value,))),)
    return tuple([_item(item) for item in node.items()])


@recalled
def _item(node: Node) -> _Item:
    kind = _kind(node)
    read = _MESSAGES.get(kind)
    added = node["tools"].items() if kind in _ADDING_TOOLS else ()
    return _Item(None if read is None else read(node), tuple(tool for entry in added for tool in _entry(entry)))


def _kind(item: Node) -> str:
    """Tell what an item is; only messages and references may leave it out."""
    if not item["type"].absent:
        return item["type"].text()
    return "item_reference" if item["role"].absent and not item["id"].absent else "message"


def _joined(messages: Iterable[Message]) -> Iterator[Message]:
    """Make one message of each run of items of an answer, and of each run of outputs."""
    for role, group in groupby(messages, key=lambda message: message.role):
        if role in ("system", "user"):
            yield from group
            continue
        run = tuple(group)
        yield Message(
            role,
            texts=tuple(text for message in run for text in message.texts),
            calls=tuple(call for message in run for call in message.calls),
            results=tuple(result for message in run for result in message.results),
            thinking=tuple(thinking for message in run for thinking in message.thinking),
        )


def _message(item: Node) -> Message:
    return Message(item["role"].one_of(_ROLES), _texts(item["content"]))


def _texts(node: Node) -> tuple[str, ...]:
    """Return the texts of a content or an output: a string is one, of an array every text part."""
    if isinstance(node.value, str):
        return (node.value,)
    parts = ((part, _TEXTS.get(part["type"].text())) for part in node.items())
    return tuple(part[key].text() for part, key in parts if key is not None)


def _function_call(item: Node) -> Message:
    call = read_call(qualified_name(item), item["arguments"].text(), item["call_id"].text())
    return Message("assistant", calls=(call,))


def _custom_call(item: Node) -> Message:
    call = Call(qualified_name(item), raw_arguments=item["input"].text(), id=item["call_id"].text())
    return Message("assistant", calls=(call,))


def _output(item: Node) -> Message:
    return Message("tool", results=(ToolResult(item["call_id"].text(), "\n".join(_texts(item["output"]))),))


def _reasoning(item: Node) -> Message:
    parts = (*item["summary"].optional_items(), *item["content"].optional_items())
    text = "\n".join(part["text"].text() for part in parts)
    return Message("assistant", thinking=(Thinking(text, item["encrypted_content"].optional_text()),))


_MESSAGES: Final[dict[str, Callable[[Node], Message]]] = {
    "message": _message,
    "function_call": _function_call,
    "function_call_output": _output,
    "custom_tool_call": _custom_call,
    "custom_tool_call_output": _output,
    "reasoning": _reasoning,
}


def _advertised(root: Node, items: Iterable[_Item]) -> Iterator[Tool]:
    """Yield every tool: those of the request, and those that an item of its input adds."""
    for node in root["tools"].optional_items():
        yield from _entry(node)
    for item in items:
        yield from item.tools


@recalled
def _entry(node: Node) -> tuple[Tool, ...]:
    return tuple(_tools(node))


def _tools(node: Node, namespace: str = "") -> Iterator[Tool]:
    """Read one entry: a tool, a namespace of several, or one of the provider's own, which nobody here carries out."""
    kind = node["type"].text()
    if kind == "namespace":
        for inner in node["tools"].items():
            yield from _tools(inner, node["name"].text())
    elif kind in _OURS:
        name = node["name"].text()
        schema, description = node["parameters"].optional_members(), node["description"].optional_text()
        qualified = f"{namespace}.{name}" if namespace else name
        yield Tool(qualified, schema, description, namespace, free_text=kind == "custom")


def _tool_choice(node: Node) -> ToolChoice:
    if node.absent:
        return ToolChoice()
    if not isinstance(node.value, dict):
        return node.one_of(_CHOICES)
    kind = node["type"].text()
    if kind == "allowed_tools":
        return node["mode"].one_of(_CHOICES)
    # A tool of the provider's own has no name but its type.
    return ToolChoice("tool", qualified_name(node) if kind in _OURS else kind)


def _response_format(node: Node) -> ResponseFormat:
    if node.find("type").value == "json_schema":
        return ResponseFormat("schema", node["schema"].optional_members())
    return ResponseFormat("json" if node.find("type").value == "json_object" else "text")
