"""Every wire format in turn, and an empty folder to work in."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_agentcontract.wire.formats import FORMATS


@pytest.fixture(params=list(FORMATS))
def wire(request: pytest.FixtureRequest) -> str:
    """Give each wire format in turn."""
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
