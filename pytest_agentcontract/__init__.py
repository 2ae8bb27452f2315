"""Judge agent runtimes against two contracts: how an agent returns, and how agents hand off.

PYTEST_DONT_REWRITE: nothing in here asserts, and `agent-contract run` has it imported before pytest starts.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
