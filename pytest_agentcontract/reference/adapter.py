"""The reference behind the stdio protocol: `agent-contract-reference-adapter`, one JSON object on each line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, cast

import pytest_agentcontract
from pytest_agentcontract.errors import AgentContractError
from pytest_agentcontract.jsonvalue import MISSING, JSONObject, Missing, as_list, as_object, as_text, loads
from pytest_agentcontract.reference.cli import rules_of, run
from pytest_agentcontract.reference.operations import OPERATIONS, answer
from pytest_agentcontract.scenario.start import HandoffPaths, Mode, Start

__all__ = ["Adapter", "answer", "main"]

PROTOCOL: Final = 1
_UNSUPPORTED: Final[JSONObject] = {"ok": False, "unsupported": True}


def main() -> int:
    """Serve standard input until its end or `stop`; return the exit status."""
    output = sys.stdout.buffer
    # Whatever prints in this process must not get between two messages.
    sys.stdout = sys.stderr
    Adapter(sys.stdin.buffer, output).serve()
    return 0


class Adapter:
    """Answers requests one after the other."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._requests = _lines(source)
        self._sink = sink
        self._settings: Mapping[str, str] = {}
        self._running = 0

    def serve(self) -> None:
        """Answer every request until `stop`; a `say` that comes when its run is over is late, and passed over."""
        for line in self._requests:
            try:
                request = as_object(loads(line))
            except ValueError as error:
                self._send({"seq": None, **_failed(f"not readable as JSON: {error}")})
                continue
            if request.get("cmd") == "stop":
                return
            if request.get("cmd") != "say":
                self._send({"seq": request.get("seq"), **self._answer(request)})

    def _answer(self, request: JSONObject) -> JSONObject:
        cmd = as_text(request.get("cmd"))
        try:
            if cmd == "start":
                return self._start(request)
            if cmd == "run":
                self._running = cast("int", request["seq"])
                return {"ok": True, "result": self._run(as_object(request.get("run")))}
            output = answer(cmd, request.get("input"), self._settings)
        except (AgentContractError, LookupError, ValueError) as error:
            return _failed(str(error))
        return _UNSUPPORTED if isinstance(output, Missing) else {"ok": True, "output": output}

    def _start(self, request: JSONObject) -> JSONObject:
        if PROTOCOL not in as_list(request.get("protocols")):
            return _failed(f"this adapter speaks version {PROTOCOL} of the protocol only")
        self._settings = {name: as_text(value) for name, value in as_object(request.get("settings")).items()}
        rules_of(self._settings)  # refuses a name that it does not know before anything else is asked
        return {
            "ok": True,
            "protocol": PROTOCOL,
            "name": "reference",
            "version": pytest_agentcontract.__version__,
            "language": "python",
            "capabilities": [*OPERATIONS, "run"],
        }

    def _run(self, asked: JSONObject) -> JSONObject:
        schema, max_turns = asked.get("schema"), asked.get("max_turns")
        start = Start(
            mode=cast("Mode", as_text(asked.get("mode"))),
            prompt=as_text(asked.get("prompt")),
            schema=schema if isinstance(schema, dict) else None,
            max_turns=max_turns if isinstance(max_turns, int) else None,
            env={name: as_text(value) for name, value in as_object(asked.get("env")).items()},
            settings=self._settings,
            workdir=Path(as_text(asked.get("workdir"))),
            read_line=self._hear,
            write=self._tell,
            handoff=_paths(as_object(asked.get("handoff"))),
        )
        result = run(start)
        document: JSONObject = {} if result.document is MISSING else {"document": cast("JSONObject", result.document)}
        return {**document, "exit_code": result.exit_code}

    def _hear(self) -> str | None:
        """Return the caller's next line: during a run nothing but `say` comes in."""
        said = as_object(loads(next(self._requests, b"{}"))).get("line")
        return said if isinstance(said, str) else None

    def _tell(self, text: str) -> None:
        self._send({"seq": self._running, "event": "printed", "text": text})

    def _send(self, message: JSONObject) -> None:
        self._sink.write(json.dumps(message, allow_nan=False).encode("ascii") + b"\n")
        self._sink.flush()


def _paths(given: JSONObject) -> HandoffPaths | None:
    if not given:
        return None
    event = as_text(given.get("event"))
    workflow, thread = (Path(as_text(given.get(key))) for key in ("workflow", "thread"))
    return HandoffPaths(workflow, thread, Path(event) if event else None)


def _failed(message: str) -> JSONObject:
    return {"ok": False, "error": {"message": message}}


def _lines(source: BinaryIO) -> Iterator[bytes]:
    yield from iter(source.readline, b"")


if __name__ == "__main__":
    sys.exit(main())
