"""Judge agent runtimes against two contracts: how an agent returns, and how agents hand off."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
