"""The clients of which recordings are shipped: `python launch.py NAME` runs one as its recording was made.

It works in the current folder, where `notes.txt` lies, and keeps its settings in `$HOME`; whom it asks is said by the
variables of the environment that the providers' own clients read. What it says last is on its standard output.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = "AGENT_CONTRACT_CLIENTS"
"""The variable that names the folder into which `.ci/clients` has installed the programs."""

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "clients.md"
NOTES, COPY, SAY = "notes.txt", "copy.txt", "buy milk\n"
FINAL = "The notes are copied."
SHOWN_MODEL, _SHOWN_URL = "scripted-model", "http://127.0.0.1:8089/v1"


def shown(language: str) -> str:
    """Return the one block of a language on the page about clients."""
    [block] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return block


def codex_settings(home: Path, url: str, model: str = SHOWN_MODEL) -> None:
    """Write the settings of Codex CLI into its home, as the page shows them but for the base URL and the model."""
    settings = shown("toml")
    for old, new in {SHOWN_MODEL: model, _SHOWN_URL: url}.items():
        if settings.count(old) != 1:
            raise ValueError(f"{old} stands {settings.count(old)} times in the settings of {PAGE}")
        settings = settings.replace(old, new)
    _write(home / "config.toml", settings)


def gemini_settings(home: Path, **more: object) -> None:
    """Write the settings of Gemini CLI into the home of its user: those that the page shows, and more of them."""
    _write(home / ".gemini" / "settings.json", json.dumps(json.loads(shown("json")) | more))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")


@dataclass(frozen=True, slots=True)
class Client:
    """A program: where it lies in the folder of `.ci/clients`, how it is asked, and what is elided from its recording.

    `provider` is whose API it speaks, by the name in a base URL; `wire` is the wire format. `version` are the arguments
    by which it tells its own, and `made` what the copy says in the end.
    """

    provider: str
    wire: str
    program: str
    arguments: tuple[str, ...]
    version: tuple[str, ...] = ("--version",)
    elided: tuple[str, ...] = ()
    made: str = SAY
    settings: Callable[[Path], None] = lambda _home: None
    environment: Mapping[str, str] = field(default_factory=dict)


CLIENTS = {
    "codex": Client(
        "openai",
        "openai-responses",
        "codex/node_modules/.bin/codex",
        (
            *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
            "Have it copied.",
        ),
        elided=(
            *(f"/input/{at}/content" for at in range(1, 6)),
            *("/input/*/tools/**/description", "/input/*/tools/**/format/definition", "/client_metadata"),
        ),
        settings=lambda home: codex_settings(home / ".codex", os.environ["OPENAI_BASE_URL"], "gpt-6.2-sol"),
    ),
    "gemini-cli": Client(
        "gemini",
        "gemini-generate",
        "gemini-cli/node_modules/.bin/gemini",
        ("-p", "[[root]] Copy it.", "--approval-mode", "yolo"),
        elided=("/systemInstruction/parts/*/text", "/contents/0/parts/0/text", "/tools/**/description"),
        settings=lambda home: gemini_settings(home, tools={"useRipgrep": False}),  # not every machine has it
        environment={"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    "openai-agents": Client(
        "openai",
        "openai-chat",
        "openai-agents/bin/openai-agents-agent",
        ("-p", "Have it copied."),
        made="",  # its one tool creates empty files
    ),
    "pydantic-ai": Client(
        "anthropic",
        "anthropic-messages",
        "pydantic-ai/bin/python",
        (str(HERE / "pydantic_team.py"), "Have it copied."),
        version=("-c", "from importlib.metadata import version; print(version('pydantic-ai-slim'))"),
    ),
}


def main(name: str) -> None:
    """Become the client of this name."""
    client = CLIENTS[name]
    client.settings(Path(os.environ["HOME"]))
    program = Path(os.environ[FOLDER]) / client.program
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **client.environment, "PATH": path}
    os.execve(program, [program, *client.arguments], environment)  # noqa: S606 - becoming it is the point


if __name__ == "__main__":
    main(*sys.argv[1:])
