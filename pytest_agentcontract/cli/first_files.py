"""The files that `agent-contract init` writes, as texts: a first profile, an empty baseline, a workflow."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_agentcontract.conformance.requirements import CURRENT
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import dumps

BASELINE: Final = "agent-contract-baseline.json"
WORKFLOW: Final = ".github/workflows/agent-contract.yml"
UNKNOWN: Final = "your-agent"
"""What stands for the program in a profile that nobody has told of one."""

_TEMPLATES: Final = Path(__file__).parent / "first"
_BARE: Final = re.compile("[A-Za-z0-9_-]+")
_INSTALL: Final = "      - name: Install the runtime\n        run: agent-contract install {name}\n"


def profile(name: str, command: Sequence[str]) -> str:
    """Return a first agent-contract.toml."""
    words = [*(command or (UNKNOWN, "-p")), *([] if any("{prompt}" in word for word in command) else ["{prompt}"])]
    key = name if _BARE.fullmatch(name) else dumps(name)
    return _filled("agent-contract.toml", {"name": key, "set": CURRENT, "command": _array(words)})


def baseline(name: str) -> str:
    """Return a baseline without an entry."""
    return dumps({"runtime": name, "known": []}, indent=2) + "\n"


def workflow(name: str, *, install: bool) -> str:
    """Return a workflow that judges a runtime, shows what was found, and keeps the report."""
    options = f"{options_of(name)} --agent-contract-baseline={BASELINE}"
    step = _INSTALL.format(name=shlex.quote(name)) if install else ""
    return _filled("workflow.yml", {"name": name, "options": options, "install": step})


def options_of(name: str) -> str:
    """Return the option that names a runtime, as a shell reads it."""
    return shlex.quote(f"--agent-contract-runtime={name}")


def words(line: str, folder: Path) -> tuple[str, ...]:
    """Split a command line as a shell does; a file of the project is named from where the profile stands."""
    try:
        found = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"--command can't be read: {error}", remedy="Write it as for a shell.") from error
    if not found:
        raise UsageError("--command is empty", remedy='Write it as for a shell: --command "python agent.py -p".')
    return tuple(f"./{word}" if _is_file(word, folder) else word for word in found)


def _is_file(word: str, folder: Path) -> bool:
    return not word.startswith(("/", "./", "../", "-")) and (folder / word).is_file()


def _array(words: Sequence[str]) -> str:
    """Return texts as an array of TOML: its basic strings are those of JSON, but for one character."""
    return f"[{', '.join(map(dumps, words))}]".replace("\x7f", "\\u007f")


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = (_TEMPLATES / template).read_text("utf-8")
    return re.sub("@([a-z]+)@", lambda found: values[found[1]], text)
