"""The command line: one group, and a module for each family of its commands."""

from __future__ import annotations

from pytest_agentcontract.cli import (
    certifying,
    installing,
    judging,
    playing,
    profiling,
    recording,
    reporting,
    running,
    starting,
)
from pytest_agentcontract.cli.group import main

__all__ = [
    "certifying",
    "installing",
    "judging",
    "main",
    "playing",
    "profiling",
    "recording",
    "reporting",
    "running",
    "starting",
]
