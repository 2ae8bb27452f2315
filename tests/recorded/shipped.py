"""The shipped recordings: where they lie, and what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_agentcontract import resources
from pytest_agentcontract.cassette.exchange import Cassette
from pytest_agentcontract.cassette.file import store
from pytest_agentcontract.recorded.reading import Reading, read_all
from tests.clients.launch import CLIENTS

each = pytest.mark.parametrize("name", CLIENTS)
"""Runs a test once for the recording of each client."""


def path_of(name: str) -> Path:
    """Return where the recording of a client lies."""
    return resources.cassettes() / CLIENTS[name].wire / f"{name}.yaml"


def cassette_of(name: str) -> Cassette:
    """Return the recording of a client."""
    return store.load(path_of(name))


def readings(name: str) -> tuple[Reading, ...]:
    """Return what was recorded of a client, read."""
    return read_all(cassette_of(name))
