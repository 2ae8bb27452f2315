"""Every wire format in turn, an empty folder to work in, and runs of the reference that are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_agentcontract.cassette.exchange import Recorded
from pytest_agentcontract.conformance.run import run_case
from pytest_agentcontract.jsonvalue import dumps
from pytest_agentcontract.provider import seat
from pytest_agentcontract.provider.rendering import Renderings
from pytest_agentcontract.provider.response import steps
from pytest_agentcontract.provider.server import Provider
from pytest_agentcontract.scenario import load_profile
from pytest_agentcontract.wire.formats import FORMATS
from tests.recorded.taking import cassette, exchange, url


@pytest.fixture(params=list(FORMATS))
def wire(request: pytest.FixtureRequest) -> str:
    """Give each wire format in turn."""
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def provider():
    """Play the model for all cases of this module."""
    with Provider() as opened:
        yield opened


@pytest.fixture
def run_recorded(provider, monkeypatch):
    """Return a function that runs a case and returns what went over the wire."""
    kept: list[Recorded] = []

    def kept_steps(answer, wire, renderings, *, chunked=True):
        asked = answer.exchange.request
        where = url(wire.NAME, asked.model, stream=asked.stream)
        request = Recorded("POST", where, (), dumps(asked.body).encode(), 0, "", (), ())
        kept.append(exchange(request, steps(answer, wire, Renderings(), chunked=False)))
        return steps(answer, wire, renderings, chunked=chunked)

    def run(case, wire):
        monkeypatch.setattr(seat, "steps", kept_steps)
        run_case(case, load_profile.shipped()["reference"], wire, provider)
        monkeypatch.undo()
        return cassette(*kept)

    return run
