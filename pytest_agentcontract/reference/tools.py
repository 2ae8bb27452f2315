"""The harmless tools: what the model is offered beside `reply`, and what each does in the working folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_agentcontract.jsonvalue import JSONObject
from pytest_agentcontract.reference.conversation import Tool

_READ_LIMIT = 1 << 16


class ToolError(Exception):
    """A call that can't be carried out; `kind` is a word that a program can look for."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(f"error ({kind}): {why}")


@dataclass(frozen=True, slots=True)
class Blocking:
    """A tool that has landed when its function returns."""

    tool: Tool
    act: Callable[[Path, JSONObject], str]

    def use(self, workdir: Path, arguments: JSONObject) -> str:
        """Carry out one call; whatever the system refuses is a ToolError."""
        try:
            return self.act(workdir, arguments)
        except OSError as error:
            raise ToolError("failed", error.strerror or type(error).__name__) from error
        except ValueError as error:
            raise ToolError("invalid_input", str(error)) from error


def argument(arguments: JSONObject, name: str, default: str | None = None) -> str:
    """Return a text argument; without a default it must be there."""
    value = arguments.get(name, default)
    if not isinstance(value, str) or (not value and default is None):
        raise ToolError("invalid_input", f"{name!r} must be a text that is not empty")
    return value


def _touch(workdir: Path, arguments: JSONObject) -> str:
    path = _inside(workdir, argument(arguments, "path"))
    path.touch()
    return f"created {path.name}"


def _read(workdir: Path, arguments: JSONObject) -> str:
    path = _inside(workdir, argument(arguments, "path"))
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_READ_LIMIT)


def _inside(workdir: Path, name: str) -> Path:
    root = workdir.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise ToolError("not_allowed", f"{name!r} lies outside of the working folder")
    return path


def _schema(required: tuple[str, ...], *optional: str) -> JSONObject:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in (*required, *optional)},
        "required": list(required),
    }


BLOCKING = {
    "touch": Blocking(Tool("touch", "Create an empty file in the working folder.", _schema(("path",))), _touch),
    "read": Blocking(Tool("read", "Read a text file of the working folder.", _schema(("path",))), _read),
}
AGENT = Tool(
    "agent",
    "Start another agent on a part of the task. It works beside you; what it returns comes as a message.",
    _schema(("prompt",), "name"),
)
