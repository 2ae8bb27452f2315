"""The pytest surface: options, collection, judging, summary."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = "agent-contract"
"""What every node id of the suite begins with."""

CASSETTE: Final = "agent_contract_cassette"
"""The fixture and the marker of tests that play a cassette."""

ORPHANS: Final = "agent_contract_orphans"
"""What a worker of pytest-xdist calls the cassettes that no test plays."""


def is_own(argument: str) -> bool:
    """Tell whether a command-line argument is a node id of the suite and no path of the user's."""
    head, separator, _ = argument.partition("::")
    return head == ROOT and (bool(separator) or not Path(ROOT).exists())
