"""The pages that the browser is shown: an ordinary one, a hostile one, and one of 30 runtimes by 200 cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.synthetic import made
from pytest_agentcontract import resources
from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.jsonvalue import JSON, loads
from pytest_agentcontract.report.page.making import page
from pytest_agentcontract.report.values import Checked, Judged, Report
from pytest_agentcontract.scenario import load_case

EVIL = (
    "</script><script>window.owned=1</script><img src=x onerror=window.owned=2><svg onload=window.owned=3>"
    "<a href='javascript:window.owned=4'>x</a><style>*{display:none}</style>\"'`&\x00\ud800\u202e\u2028]]>-->"
)
NUDGED, CHAIN = "return/no-reply/nudged-then-replies", "handoff/callback/chain"


def write(folder: Path) -> Mapping[str, Path]:
    """Write the pages into a folder; return where they are by name."""
    texts = {"ordinary": page(_ordinary()), "hostile": page(_hostile()), "big": page(made(30, 200))}
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in texts}


def _ordinary() -> Report:
    """Return a report on two runtimes: `good` meets whatever it was asked, `poor` does not nudge."""
    report = made(2, 0)
    named = [replace(one, name=name) for one, name in zip(report.header.runtimes, ("good", "poor"), strict=True)]
    cases = (*_judged("good"), *_judged("poor"))
    return replace(report, header=replace(report.header, runtimes=tuple(named)), cases=cases)


def _judged(runtime: str) -> Iterator[Judged]:
    for name, failing in ((NUDGED, {"RET-301": ""}), (CHAIN, {"HND-409": "issue 12"})):
        bad = failing if runtime == "poor" else {}
        known = bool(bad) and all(bad.values())
        status = "known" if known else "fail" if bad else "pass"
        checks = tuple(_checks(name, bad))
        again = f"pytest '{name}[{runtime}]' --agent-contract-runtime={runtime}"
        seen = _seen() if status == "fail" else None
        yield Judged(name, runtime, "openai-chat", status, "", 0.1, _outcome(name), checks, (), again, seen)


def _checks(name: str, bad: Mapping[str, str]) -> Iterator[Checked]:
    [case] = [case for case in load_case.shipped() if case.id == name]
    for cover in case.covers:
        level = requirements.load()[cover.requirement].level
        if cover.requirement in bad:
            reason = bad[cover.requirement]
            yield Checked(cover.requirement, level, "fail", "two nudges", "no request followed", "", reason)
        else:
            yield Checked(cover.requirement, level, "pass", "", "", "", "")
    yield Checked("RET-104", "MUST", "not-applicable", "", "", "no human converses with it", "")
    if bad:
        yield Checked("RET-302", "MUST", "not-verified", "", "", "nudged: the root was never nudged", "")


def _outcome(name: str) -> JSON:
    return loads((resources.outcomes() / f"{name}.json").read_bytes())


def _seen() -> JSON:
    root, child = {"agent": "root", "turn": 2, "asks": "tool: created m"}, {"agent": "child", "turn": 1}
    calls: JSON = [["touch", '{"path": "m"}']]
    exchanges: list[JSON] = [
        {**root, "kind": "turn", "turn": 1, "asks": "user: Audit the parser.", "calls": calls},
        {**root, "kind": "fault", "at": 0.1, "fault": "status 529", "undelivered": True},
        {**root, "kind": "turn", "at": 0.2, "says": "Found three.", "again": True},
        {**child, "kind": "turn", "at": 0.3, "asks": "user: And now?", "nudge": True, "says": "Nothing."},
    ]
    run: JSON = {"ended": "exited", "account": "failed", "exit": 1, "seconds": 0.4, "stderr": "no reply"}
    return {"exchanges": exchanges, "run": run}


def _hostile() -> Report:
    """Return a report in which a stranger's every text is hostile, and one of them long."""
    report = made(1, 0)
    runtime = replace(report.header.runtimes[0], name=EVIL, version=EVIL, driver=EVIL, wires=(EVIL,))
    long = EVIL + "x" * 1_000_000
    checks = (
        Checked("RET-301", "MUST", "fail", EVIL, long, EVIL, ""),
        Checked(EVIL, "MUST", "fail", EVIL, EVIL, "", EVIL),
    )
    step: JSON = {
        "kind": "turn",
        "agent": EVIL,
        "turn": 1,
        "asks": EVIL,
        "says": EVIL,
        "calls": [[EVIL, EVIL]],
        "note": EVIL,
    }
    run: JSON = {"ended": "exited", "account": "success", "exit": None, "stdout": EVIL, "problem": EVIL}
    seen: JSON = {"exchanges": [step], "missed": [EVIL], "run": run}
    outcome: JSON = {EVIL: EVIL, "value": EVIL, "route": [{"agent": EVIL, "next": EVIL, "dispatch": EVIL}]}
    case = Judged(f"own/{EVIL}", EVIL, EVIL, "fail", EVIL, 0.1, outcome, checks, (EVIL,), EVIL, seen)
    return replace(report, header=replace(report.header, runtimes=(runtime,)), cases=(case,))
