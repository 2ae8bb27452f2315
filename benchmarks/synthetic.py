"""A made-up report on shipped cases, as large as one likes: to measure the page by, and to show it to a browser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_agentcontract import resources
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.jsonvalue import JSON, loads
from pytest_agentcontract.report.header import measured_by
from pytest_agentcontract.report.values import (
    Checked,
    Header,
    Judged,
    Measured,
    Platform,
    Release,
    Report,
    Runtime,
    Suite,
)
from pytest_agentcontract.scenario import load_case
from pytest_agentcontract.scenario.case import Case

WIRES: Final = ("anthropic-messages", "openai-chat")
_REQUESTS: Final = 5
_DIGEST: Final = "sha256:" + "0" * 64


def made(runtimes: int, cases: int) -> Report:
    """Return a made-up report on shipped cases: each runtime fails every fifth case, and not the same ones."""
    names = [f"runtime-{number:02}" for number in range(1, runtimes + 1)]
    header = Header(
        Suite("0.1.0", _DIGEST),
        Measured(requirements.CURRENT, measured_by(), ""),
        Release(108, 108, 168, 0),
        strict=False,
        runtimes=tuple(map(_runtime, names)),
    )
    return Report(header, tuple(_judged(names, load_case.shipped()[:cases])), 1)


def _runtime(name: str) -> Runtime:
    where = Platform("Linux", "x86_64", "3.11.7")
    return Runtime(name, "1.2.3", _DIGEST, "command", WIRES, ("headless",), embedded=False, platform=where)


def _judged(names: Sequence[str], cases: Sequence[Case]) -> Iterator[Judged]:
    outcomes = {case.id: _outcome(case) for case in cases}
    for shift, name in enumerate(names):
        for at, case in enumerate(cases):
            fails = (at + shift) % 5 == 0
            for wire in WIRES:
                node = f"agent-contract::{case.contract}::{case.id.partition('/')[2]}[{name}-{wire}]"
                yield Judged(
                    case.id,
                    name,
                    wire,
                    "fail" if fails else "pass",
                    f"{case.covers[0].requirement} fails: request {at} was not made" if fails else "",
                    0.25,
                    outcomes[case.id],
                    tuple(_checks(case, f"request {at} was not made", fails=fails)),
                    (),
                    f"pytest '{node}' --agent-contract-runtime={name}",
                    _seen(case, f"{shift:04x}{at:04x}{wire[:4]}") if fails else None,
                )


def _outcome(case: Case) -> JSON:
    path = resources.outcomes() / f"{case.id}.json"
    return loads(path.read_bytes()) if path.is_file() else None


def _checks(case: Case, observed: str, *, fails: bool) -> Iterator[Checked]:
    ledger = requirements.load()
    for at, cover in enumerate(case.covers):
        level = cover.level or ledger[cover.requirement].level
        if fails and at == 0:
            yield Checked(cover.requirement, level, "fail", "a request for each of them", observed, "", "")
        else:
            yield Checked(cover.requirement, level, "pass", "a request for each of them", "it was made", "", "")


def _seen(case: Case, nonce: str) -> JSON:
    """Return as much of a run as a real one comes to, and like it the same in no other run."""
    agents = [*case.script] or ["root"]
    exchanges: list[JSON] = [
        {
            "at": round(number / 10, 2),
            "agent": agents[number * len(agents) // _REQUESTS],
            "kind": "turn",
            "turn": number + 1,
            "asks": f"user: created mark-w{number}-{nonce}; go on with the audit of the parser, and report",
            "nudge": number == _REQUESTS - 1,
            "says": f"I found {number} defects ({nonce}) and will go on to look for more of them in the next step.",
            "calls": [["touch", f'{{"path": "work/mark-w{number}-{nonce}"}}']],
        }
        for number in range(_REQUESTS)
    ]
    output = f'{{"is_error": true, "result": null, "session_id": "{nonce}", "detail": "{"no reply; " * 20}"}}'
    run: JSON = {"ended": "exited", "seconds": 0.5, "exit": 1, "account": "failed", "stdout": output}
    return {"exchanges": exchanges, "run": run}
