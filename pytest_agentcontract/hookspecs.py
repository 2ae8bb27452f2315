"""The hooks that a conftest.py can have; registered in every pytest run, else it would crash without the suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


@pytest.hookspec(firstresult=True)
def pytest_agentcontract_runtimes(config: pytest.Config) -> Mapping[str, Any] | None:
    """Return the runtimes to judge: name -> a table like those below `[runtimes]` in agent-contract.toml.

    Called once, for `pytest --agent-contract` and only where no agent-contract.toml stands at the rootdir. The hook has
    to stand in the conftest.py at the rootdir, or in a plugin.
    """
