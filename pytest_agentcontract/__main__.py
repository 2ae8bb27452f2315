"""`python -m pytest_agentcontract`: the command line, where its script is not on the path."""

from __future__ import annotations

from pytest_agentcontract.cli import main

main(prog_name="agent-contract")
