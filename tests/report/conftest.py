"""Records to count and to write: one case with its checks, as a run makes them."""

from __future__ import annotations

import pytest


@pytest.fixture
def check():
    """Return a maker of verdicts."""

    def make(requirement, status="pass", level="MUST", known=""):
        texts = {"expected": "a reply", "observed": "none", "why": ""}
        return {"requirement": requirement, "level": level, "status": status, "known": known, **texts}

    return make


@pytest.fixture
def record():
    """Return a maker of records."""

    def make(*checks, case="return/x", runtime="mine", status="pass"):
        return {
            "case": case,
            "runtime": runtime,
            "wire": "openai-chat",
            "status": status,
            "why": "",
            "seconds": 0.1,
            "outcome": {"status": "success", "value": "\ud800"},
            "checks": [*checks],
            "warnings": [],
            "reproduce": "pytest ...",
        }

    return make
