"""The servers that `provider.py` measures: where each comes from, how it is started, and what it is told to say.

Every peer runs at its best: no reloading, no access log, one rule that fits every request. Python servers run alike,
each from a folder of its own and without site-packages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from question import PIECE, PIECES, PROMPT, TEXT
from validation import UnfitError

HERE = Path(__file__).parent
BASELINE = "bare aiohttp"
OURS = "ours"
PATIENCE = 600
_NEW_TURNS = 20_000


@dataclass(frozen=True, slots=True)
class Package:
    """What a registry has to give before a server can run."""

    registry: Literal["PyPI", "npm"]
    name: str
    version: str

    @property
    def folder(self) -> str:
        """The folder below the cache that it goes into."""
        return f"{self.name.rpartition('/')[2]}-{self.version}"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One server. `command` gets its folder and port; without a `package` it chooses its port and prints its URL.

    `text` is what it says, `prepare` is called with its port when it runs.
    """

    name: str
    command: Callable[[Path, int], list[str]]
    package: Package | None = None
    text: str = TEXT
    prepare: Callable[[int], None] = lambda _: None
    note: str = ""

    @property
    def title(self) -> str:
        """The name, and the version that was measured."""
        return f"{self.name} {self.package.version}" if self.package else self.name


def install(contestant: Contestant, cache: Path) -> Path:
    """Put a server's package into a folder below the cache, once; raise UnfitError if that can't be done."""
    package = contestant.package
    if package is None:
        return HERE.parent
    folder, done = cache / package.folder, cache / f"{package.folder}.installed"
    if done.exists():
        return folder
    if package.registry == "npm":
        command = [_program("npm"), "install", "--no-audit", "--no-fund", "--fetch-retries=1", "--prefix", str(folder)]
        command.append(f"{package.name}@{package.version}")
    else:
        command = [sys.executable, "-m", "pip", "install", "-q", "--retries", "1", "--target", str(folder)]
        command.append(f"{package.name}=={package.version}")
    print(f"installing {contestant.title} from {package.registry}", file=sys.stderr, flush=True)
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.CalledProcessError as error:
        raise UnfitError(f"{package.registry} could not install it: {_last_line(error.stderr)}") from error
    except (subprocess.TimeoutExpired, OSError) as error:
        raise UnfitError(f"{package.registry} could not install it: {error}") from error
    done.touch()
    return folder


def environment(contestant: Contestant, folder: Path) -> dict[str, str]:
    """Return the environment of a server: its own folder and ours, and no home that it could leave anything in."""
    packages = [str(folder)] if contestant.package else [str(folder), sysconfig.get_path("purelib")]
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": os.pathsep.join([*packages, str(HERE)])}


def _python(*arguments: str) -> list[str]:
    return [sys.executable, "-S", *arguments]


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise UnfitError(f"{name} is not installed")
    return path


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]


def _ours(_folder: Path, _port: int) -> list[str]:
    return _python(str(HERE / "servers" / "ours.py"), "0")


def _ours_new(_folder: Path, _port: int) -> list[str]:
    return _python(str(HERE / "servers" / "ours.py"), str(_NEW_TURNS))


def _bare_aiohttp(_folder: Path, port: int) -> list[str]:
    return _python(str(HERE / "servers" / "bare_aiohttp.py"), str(port))


def _httpserver(_folder: Path, port: int) -> list[str]:
    return _python(str(HERE / "servers" / "httpserver.py"), str(port))


def _aimock(folder: Path, port: int) -> list[str]:
    rules = folder / "rules.json"
    rules.write_text(json.dumps({"fixtures": [{"match": {"userMessage": PROMPT}, "response": {"content": TEXT}}]}))
    command = folder / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    options = {"port": port, "fixtures": rules, "chunk-size": PIECE, "log-level": "silent"}
    return [_program("node"), str(command), *(f"--{name}={value}" for name, value in options.items())]


def _llmock(_folder: Path, port: int) -> list[str]:
    return _python("-m", "uvicorn", "llmock.main:app", "--port", str(port), "--log-level", "error")


def _mockllm(folder: Path, port: int) -> list[str]:
    said = TEXT[:PIECES]
    answers = folder / "responses.yml"
    answers.write_text(json.dumps({"responses": {PROMPT: said}, "defaults": {"unknown_response": said}}))
    os.utime(answers, (1, 1))  # it reads the file at every request if its time is no whole number of seconds
    start = "import os, sys, uvicorn; os.environ['MOCKLLM_RESPONSES_FILE'] = sys.argv[1]; "
    start += "uvicorn.run('mockllm.server:app', port=int(sys.argv[2]), log_level='error')"
    return _python("-c", start, str(answers), str(port))


def _tell_llmock(port: int) -> None:
    """Queue one reply that is never used up."""
    behaviours = json.dumps({"behaviors": [{"type": "reply", "text": TEXT, "times": None}]}).encode()
    url = f"http://127.0.0.1:{port}/_llmock/scenario"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(url, behaviours, timeout=30).close()


CONTESTANTS = (
    Contestant(OURS, _ours, note="one turn, said again and again"),
    Contestant("ours, new turns", _ours_new, note=f"no turn is said twice; its memory holds {_NEW_TURNS} of them"),
    Contestant(BASELINE, _bare_aiohttp, Package("PyPI", "aiohttp", "3.14.5")),
    Contestant("aimock", _aimock, Package("npm", "@copilotkit/aimock", "1.43.0")),
    Contestant("llmock", _llmock, Package("PyPI", "llmock", "0.2.2"), prepare=_tell_llmock),
    Contestant(
        "mockllm",
        _mockllm,
        Package("PyPI", "mockllm", "0.0.8"),
        text=TEXT[:PIECES],
        note="cuts by character: its text is a sixth as long, for as many events",
    ),
    Contestant(
        "pytest-httpserver",
        _httpserver,
        Package("PyPI", "pytest-httpserver", "1.2.0"),
        note="HTTP/1.0: a connection for every request",
    ),
)
