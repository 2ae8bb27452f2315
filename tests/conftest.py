"""What tests of several rooms share."""

from __future__ import annotations

import pytest

from pytest_agentcontract.provider.server import Provider


@pytest.fixture(scope="session")
def provider():
    """Play the provider for a whole test process."""
    with Provider() as playing:
        yield playing
