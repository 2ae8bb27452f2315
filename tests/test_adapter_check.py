"""`agent-contract adapter check` prints what it finds in columns, and its exit status says whether all is well."""

from __future__ import annotations

import sys

from click.testing import CliRunner

from pytest_agentcontract.cli import main
from pytest_agentcontract.drivers.messages import OPERATIONS


def _check(*command: str) -> tuple[list[str], int]:
    done = CliRunner().invoke(main, ["adapter", "check", "--", *command])
    return done.output.splitlines(), done.exit_code


def test_a_good_adapter_passes() -> None:
    """The reference answers one of everything, ends when it is told to, and every line stands in its columns."""
    lines, status = _check(sys.executable, "-m", "pytest_agentcontract.reference.adapter")
    assert status == 0
    steps = [line[:10].strip() for line in lines]
    assert steps == ["start", "declares", *OPERATIONS, "unknown", "run", "seq", "stop"]
    assert {line[10:16].strip() for line in lines} == {"ok"}


def test_a_bad_adapter_is_told_what_to_mend() -> None:
    """A program that is no adapter fails at its first line, with the remedy below; the exit status is 1."""
    lines, status = _check(sys.executable, "-c", "print('hello')")
    assert status == 1
    assert lines[0].startswith("start     FAIL  the adapter breaks the protocol: not JSON")
    assert lines[1].startswith(" " * 16 + "Write nothing but messages")


def test_a_command_is_needed() -> None:
    """Without one it is a usage error."""
    assert _check()[1] == 2
