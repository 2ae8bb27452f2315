"""What is kept of a case that was not met: output, the wire log with whole bodies, the working folder, the thread."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from pathlib import Path

from pytest_agentcontract.conformance.evidence import Run
from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.jsonvalue import JSONObject, dumps
from pytest_agentcontract.scenario.observation import Exchange
from pytest_agentcontract.wire.turn import Turn, Usage

THREAD = "thread"
"""The folder beside the working folder that holds what a hand-off engine works on."""


def keep(run: Run, workdir: Path, folder: Path) -> Path:
    """Write the evidence of a run below a folder, and return where it is."""
    place = folder / run.case.id / re.sub(r"[^\w.-]+", "_", f"{run.profile.name}-{run.wire}")
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _write(place / "stdout.txt", run.delivery.stdout)
        _write(place / "stderr.txt", run.delivery.stderr)
        _write(place / "wire.jsonl", "".join(f"{dumps(_logged(one))}\n" for one in run.observation.exchanges))
    except OSError as error:
        raise UsageError(f"can't be written: {error.strerror}", where=str(place), remedy="Name a folder.") from error
    # Whatever can't be copied (a socket, a file without permission) is no reason to lose the rest.
    for name in (workdir.name, THREAD):
        with suppress(shutil.Error, OSError):
            shutil.copytree(workdir.parent / name, place / name, symlinks=True)
    return place


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")


def _logged(exchange: Exchange) -> JSONObject:
    return {
        "serial": exchange.serial,
        "agent": exchange.agent,
        "kind": exchange.kind,
        "turn": exchange.turn,
        "retry": exchange.retry,
        "delivered": exchange.delivered,
        "released": exchange.released,
        "received_at": round(exchange.received_at, 4),
        "note": exchange.note,
        "sent": _usage(exchange.sent),
        "answer": _answer(exchange.answer),
        "request": exchange.request.body,
    }


def _usage(usage: Usage | None) -> JSONObject | None:
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} if usage else None


def _answer(turn: Turn | None) -> JSONObject | None:
    if turn is None:
        return None
    return {
        "text": turn.text,
        "thinking": turn.thinking,
        "calls": [{"id": call.id, "name": call.name, "arguments": call.arguments_text} for call in turn.calls],
        "stop": turn.natural_stop,
    }
