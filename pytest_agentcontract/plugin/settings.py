"""What the user asked for, read out of pytest's options once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_agentcontract.errors import UsageError
from pytest_agentcontract.plugin import is_own

_SELECTED = "agent_contract_selected"


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one run; `selected` are the node ids (or beginnings of them) given on the command line."""

    runtimes: tuple[str, ...]
    wires: tuple[str, ...]
    selected: tuple[str, ...]
    strict: bool
    timeout: float | None
    report: Path | None
    artifacts: Path | None
    baseline: Path | None
    write_baseline: Path | None

    @classmethod
    def of(cls, config: pytest.Config) -> Settings:
        """Read the options; take the suite's node ids out of pytest's arguments."""
        return cls(
            runtimes=_names(config.getoption("--agent-contract-runtime")),
            wires=_names(config.getoption("--agent-contract-wire")),
            selected=_take_selection(config),
            strict=config.getoption("--agent-contract-strict"),
            timeout=_seconds(config.getoption("--agent-contract-timeout")),
            report=_path(config, "report"),
            artifacts=_path(config, "artifacts"),
            baseline=_path(config, "baseline"),
            write_baseline=_path(config, "write-baseline"),
        )


def _take_selection(config: pytest.Config) -> tuple[str, ...]:
    """Leave in `config.args` what is the user's: nothing, unless paths stand on the command line.

    An xdist worker is started with the arguments that are left, so the selection travels as an option.
    """
    own = [argument for argument in config.args if is_own(argument)]
    given = config.args_source is pytest.Config.ArgsSource.ARGS
    config.args[:] = [argument for argument in config.args if given and argument not in own]
    selected: list[str] = getattr(config.option, _SELECTED, own)
    setattr(config.option, _SELECTED, selected)
    config.option.agent_contract = True
    return tuple(selected)


def _names(values: list[str] | None) -> tuple[str, ...]:
    names = [name.strip() for value in values or () for name in value.split(",")]
    return tuple(dict.fromkeys(filter(None, names)))


def _seconds(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"--agent-contract-timeout {value}: no positive number of seconds", remedy="Give, say, 20.")
    return seconds


def _path(config: pytest.Config, name: str) -> Path | None:
    """Return a path as an absolute one: a runtime's driver, or a test of the user's, may change the folder."""
    value = config.getoption(f"--agent-contract-{name}")
    return config.invocation_params.dir / value if value else None
