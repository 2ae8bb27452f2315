"""The pytest surface: options, collection, judging, summary."""

from __future__ import annotations

from typing import Final

ROOT: Final = "agent-contract"
"""What every node id of the suite begins with."""
