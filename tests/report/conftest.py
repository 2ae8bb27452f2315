"""Records to count and to write: one case with its checks, as a run makes them, and whole reports as values."""

from __future__ import annotations

import pytest

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

WIRES = ("anthropic-messages", "openai-chat")


@pytest.fixture
def check():
    """Return a maker of verdicts."""

    def make(requirement, status="pass", level="MUST", known="", **said):
        texts = {"expected": "a reply", "observed": "none", "why": "", **said}
        return {"requirement": requirement, "level": level, "status": status, **texts, "known": known}

    return make


@pytest.fixture
def record():
    """Return a maker of records."""

    def make(*checks, case="return/x", runtime="mine", status="pass", wire="openai-chat", why=""):
        return {
            "case": case,
            "runtime": runtime,
            "wire": wire,
            "status": status,
            "why": why,
            "seconds": 0.1,
            "outcome": {"status": "success", "value": "\ud800"},
            "checks": [*checks],
            "warnings": [],
            "reproduce": "pytest ...",
        }

    return make


@pytest.fixture
def runtime():
    """Return a maker of runtimes."""

    def make(name="mine", version="1.2.3", **other):
        said = {"digest": "sha256:" + "0" * 64, "driver": "python", "wires": WIRES, "capabilities": ("headless",)}
        where = Platform("Linux", "x86_64", "3.11.7")
        return Runtime(**{"name": name, "version": version, "embedded": False, "platform": where, **said, **other})

    return make


@pytest.fixture
def report(runtime):
    """Return a maker of reports: of records, by default on the runtimes that they name."""

    def make(*records, runtimes=None, strict=False, exit=0, where="r.jsonl", **changes):  # noqa: A002 - as in a footer
        names = dict.fromkeys(record["runtime"] for record in records)
        header = {
            "suite": Suite("0.1.0", "sha256:" + "1" * 64),
            "requirements": Measured("2026.1", "sha256:" + "2" * 64, ""),
            "release": Release(108, 108, 168, 0),
            "strict": strict,
            "runtimes": tuple(map(runtime, names)) if runtimes is None else runtimes,
            **changes,
        }
        return Report(Header(**header), tuple(map(_judged, records)), exit, where)

    return make


def _judged(record):
    checks = tuple(Checked(**check) for check in record["checks"])
    return Judged(**{**record, "checks": checks, "warnings": tuple(record["warnings"])})
