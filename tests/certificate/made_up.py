"""Reports that no run made: of every case that the suite has for a profile, with the verdicts that a test wants."""

from __future__ import annotations

import io
import json

from pytest_agentcontract.conformance import requirements
from pytest_agentcontract.conformance.judge import applicable
from pytest_agentcontract.plugin.selection import plan
from pytest_agentcontract.report.header import header
from pytest_agentcontract.report.stream import Writer
from pytest_agentcontract.scenario import load_case, load_profile, load_vectors

PROFILE = """
[runtimes.mine]
driver = "python"
entry = "mine:run"
wires.anthropic-messages = {env = {ANTHROPIC_BASE_URL = "{base_url}"}}
tools.return = {name = "reply", payload = "/value"}
tools.work = {name = "bash", arguments = {command = "touch '{mark}'"}}
result = {value = "/result"}
capabilities = ["headless", "root-return", "payload-string", "payload-object"]
"""
WORST = ("error", "fail", "not-verified")


def profile(folder):
    """Return the profile of a runtime of the user's, as its agent-contract.toml in a folder says it."""
    path = folder / "agent-contract.toml"
    path.write_text(PROFILE, "utf-8")
    return load_profile.load_profiles(path)["mine"]


def records(of, verdicts):
    """Yield a record for each case of a whole run; `verdicts` says (status, known) by requirement, else all pass."""
    ledger = requirements.load()
    for item in plan((*load_case.shipped(), *load_vectors.shipped()), (of,), (), ()):
        why = applicable(item.case, of, item.wire)
        checks = [check(cover, ledger, of, item.wire, why, verdicts) for cover in item.case.covers]
        yield {
            "case": item.case.id,
            "runtime": of.name,
            "wire": item.wire,
            "status": status(checks),
            "why": why or "",
            "seconds": 0.1,
            "outcome": None,
            "checks": checks,
            "warnings": [],
            "reproduce": "pytest ...",
        }


def check(cover, ledger, of, wire, why, verdicts):
    """Return the verdict of one requirement."""
    row = ledger[cover.requirement]
    level = cover.level or row.level
    said, known = verdicts.get(row.id, ("pass", ""))
    if reason := why or row.inapplicable(of, wire):
        said, known = "not-applicable", ""
    texts = {"expected": "a reply", "observed": "none", "why": reason, "known": known if level == "MUST" else ""}
    return {"requirement": row.id, "level": level, "status": said, **texts}


def status(checks):
    """Return what the case comes to."""
    red = [check for check in checks if check["status"] in WORST and check["level"] == "MUST"]
    if red:
        return (
            "known" if all(check["known"] for check in red) else max((check["status"] for check in red), key=_badness)
        )
    return "pass" if any(check["status"] == "pass" for check in checks) else "not-applicable"


def report(of, verdicts=None, keep=lambda _record: True, exit=0):  # noqa: A002 - as in a footer
    """Return the bytes of a report."""
    file = io.StringIO()
    writer = Writer(file, header([(of, "1.2.3", False)], ""))
    for record in records(of, verdicts or {}):
        if keep(record):
            writer.add(record)
    writer.finish(exit)
    return file.getvalue().encode()


def changed(content, change):
    """Return a report whose lines, as a list of objects, were changed, and whose footer counts what is there then."""
    found = lines(content)
    change(found)
    cases = [line for line in found if line["record"] == "case"]
    checks = [line for line in found if line["record"] == "check"]
    found[-1]["cases"], found[-1]["checks"] = counts(cases), counts(checks)
    return written(found)


def lines(content):
    """Return the lines of a report as objects."""
    return [json.loads(line) for line in content.decode().splitlines()]


def written(objects):
    """Return lines as the bytes of a file."""
    return "".join(json.dumps(line) + "\n" for line in objects).encode()


def counts(objects):
    """Count lines by status."""
    found = [line["status"] for line in objects]
    return {one: found.count(one) for one in sorted(set(found))}


def _badness(one):
    return -WORST.index(one)
