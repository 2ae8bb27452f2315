"""Record the shipped cassettes: each client is played the script of its name, by way of `agent-contract record`.

    .ci/record [NAME...]        all of them if none is named

The served script stands behind an HTTP proxy that is itself: so the recording tells of a host that is nobody's, and of
no port of this machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

from tests.clients.launch import CLIENTS, FINAL, FOLDER, HERE, NOTES, SAY, Client

ROOT = HERE.parents[1]
UPSTREAMS = {
    "anthropic": "http://scripted.example",
    "openai": "http://scripted.example/v1",
    "gemini": "http://scripted.example",
}
NOTE = "{name} {version}, recorded on its way to a scripted provider: no model said any of this."
ELIDED = " Its prompts and the descriptions of its tools are elided."
COMMAND = (sys.executable, "-m", "pytest_agentcontract")
KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"), "opens-nothing")


def main(*names: str) -> None:
    """Record the clients of these names, or all; the first that fails ends it."""
    for name in names or CLIENTS:
        with tempfile.TemporaryDirectory() as folder, served(HERE / "scripts" / f"{name}.yaml") as url:
            record(name, CLIENTS[name], url, Path(folder))


@contextmanager
def served(script: Path) -> Iterator[str]:
    """Serve a script; yield the URL, and raise an error if it was not played to its end."""
    argv = [*COMMAND, "serve", str(script), "--once"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, encoding="utf-8") as serving:
        try:
            lines = list(takewhile(lambda line: not line.startswith("waiting"), serving.stdout or ()))
            yield lines[0].split()[-1]
            told = serving.communicate(timeout=30)[0]
        finally:
            serving.kill()
    if serving.returncode:
        raise RuntimeError(f"{script}: {told}")


def record(name: str, client: Client, url: str, folder: Path) -> None:
    """Record one client: it works in a folder of its own, with a home of its own."""
    home, work = folder / "home", folder / "work"
    for made in (home, work):
        made.mkdir()
    (work / NOTES).write_text(SAY, "utf-8")
    version = said(folder, Path(os.environ[FOLDER]) / client.program, *client.version).split()[-1]
    path = ROOT / "cassettes" / client.wire / f"{name}.yaml"
    elided = [option for place in client.elided for option in ("--elide", place)]
    last = said(
        folder,
        *(*COMMAND, "record", "--mode", "rewrite", "--output", path, *elided),
        *("--upstream", f"{client.provider}={UPSTREAMS[client.provider]}"),
        *("--note", NOTE.format(name=name, version=version) + (ELIDED if client.elided else "")),
        *("--", sys.executable, HERE / "launch.py", name),
        HTTP_PROXY=url,
        **KEYS,
    )
    if FINAL not in last:
        raise RuntimeError(f"{name} said: {last}")


def said(folder: Path, *argv: object, **env: str) -> str:
    """Run a program with no settings of this machine's; return its standard output."""
    kept = {name: os.environ[name] for name in ("PATH", FOLDER)}
    ours = {"HOME": str(folder / "home"), "TMPDIR": str(folder), "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1"}
    ran = subprocess.run(
        list(map(str, argv)),
        cwd=folder / "work",
        env={**kept, **ours, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    return ran.stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
