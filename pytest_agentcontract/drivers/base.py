"""How a runtime is driven: one Protocol, one module for each way, one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pytest_agentcontract.drivers import command, framework, inprocess, stdio
from pytest_agentcontract.drivers.launch import Launch, SeatLike
from pytest_agentcontract.drivers.preparation import missing_program
from pytest_agentcontract.scenario.observation import Delivery
from pytest_agentcontract.scenario.profile import Profile

__all__ = ["DRIVERS", "Driver", "Launch", "SeatLike", "missing_program", "version"]


class Driver(Protocol):
    """Starts a runtime, feeds it, waits for its end and tells what it delivered. Modules satisfy it."""

    def drive(self, launch: Launch) -> Delivery:
        """Carry out one run; raise DriverError where the runtime could not even be started."""


DRIVERS: Mapping[str, Driver] = {"command": command, "python": inprocess, "stdio": stdio, "framework": framework}
"""A profile's `driver` -> the module that drives its runtime."""


def version(profile: Profile) -> str:
    """Return a runtime's exact version: what its version command prints, else what its adapter says, else nothing."""
    asks_adapter = profile.driver == "stdio" and not profile.version
    return stdio.about(profile).version if asks_adapter else command.version(profile)
