"""The registry: one check for each requirement that can be observed."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_agentcontract.conformance.checks import (
    children,
    faults,
    handoff_routing,
    handoff_sentinel,
    handoff_told,
    integrity,
    no_reply,
    payload,
    rejection,
    requests,
    sub_agent,
    termination,
    text_mode,
    who_returns,
)
from pytest_agentcontract.conformance.checks.check import Check

_MODULES = (
    who_returns, termination, no_reply, payload, rejection, sub_agent, children, text_mode, faults, requests, integrity,
    handoff_sentinel, handoff_routing, handoff_told,
)  # fmt: skip

CHECKS: Mapping[str, Check] = {
    found.requirement: found for module in _MODULES for found in vars(module).values() if isinstance(found, Check)
}
"""Requirement id -> its check, in the ledger's order."""
